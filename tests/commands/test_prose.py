"""A turn as it reads in a terminal."""

from __future__ import annotations

import io

import pytest

from app.commands.prose import Prose
from app.commands.terminal import Terminal
from app.engine import events as engine
from app.group_chat.events import RoomEvent
from tests.commands.seat import Screen


def read(*events: engine.Event, watched: bool = True, plain: bool = True) -> tuple[str, str]:
    """What stands on stdout and on stderr afterwards."""
    kind = Screen if watched else io.StringIO
    out, err = kind(), kind()
    prose = Prose(Terminal(io.StringIO(), out, err, {"NO_COLOR": "1"} if plain else {}, lambda _: ""))
    for event in events:
        prose.take(RoomEvent("conv_1", "commander", "turn_1", "2026-11-30T14:10:24.871Z", event), event)
    return out.getvalue(), err.getvalue()


def test_pieces_of_one_message_are_one_text_and_messages_are_apart() -> None:
    out, _ = read(
        engine.TextDelta("a", "m1"),
        engine.TextDelta("b\n", "m1"),
        engine.TextDelta("c", "m2"),
        engine.TextDelta("d", "m3"),
        engine.Done("completed"),
    )
    assert out == "ab\n\nc\n\nd\n"


def test_what_is_thought_is_not_said() -> None:
    assert read(engine.ReasoningDelta("hm", "m1"), engine.Done("completed"), watched=False) == ("", "")


def test_nobody_watching_nothing_is_whispered() -> None:
    _, err = read(
        engine.ToolStart("c", "bash", {}),
        engine.Retry(1, 2000, "Busy."),
        engine.Done("completed"),
        watched=False,
    )
    assert err == ""


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (engine.ToolStart("c", "read_file", {"path": "a b"}), '· read_file {"path": "a b"}'),
        (engine.ToolEnd("c", "read_file", "E_X:\n no", True, "E_X", 1), "  E_X: no"),
        (engine.Retry(1, 2400, "Busy."), "Busy. Trying again in 2 s."),
        (engine.Fallback("a/b", "c/d", "busy"), "c/d answers instead of a/b: busy"),
        (engine.Omission("a/b", ("pictures",), "a/b sees none."), "a/b sees none."),
        (
            engine.Compaction(9000, 3000, "m"),
            "Conversation organised: 9,000 → 3,000 tokens. The model goes on with a summary of the older part.",
        ),
        (
            engine.LoopWarning("bash", 3),
            "3 rounds of the same call of bash brought nothing new. The model was told.",
        ),
        (engine.LoopWarning("bash", 6), "The last 6 steps brought nothing new. The model was told."),
    ],
)
def test_what_goes_on_is_one_line_each(event: engine.Event, line: str) -> None:
    assert read(event)[1] == f"{line}\n"


def test_a_line_stays_short_and_begins_on_its_own() -> None:
    out, err = read(engine.TextDelta("a", "m1"), engine.ToolStart("c", "bash", {"command": "x" * 500}))
    assert out == "a\n"
    assert len(err) < 120


def test_whispers_are_dim_unless_colours_are_refused() -> None:
    event = engine.LoopWarning("bash", 3)
    assert read(event, plain=False)[1].startswith("\x1b[2m3 rounds")
    assert "\x1b" not in read(event)[1]


@pytest.mark.parametrize(
    ("done", "sentence"),
    [
        (engine.Done("failed", error=engine.Failure("auth", "The key was refused.")), "The key was refused."),
        (engine.Done("failed"), "The turn failed. What was written so far is kept."),
        (engine.Done("aborted"), "Stopped. What was written so far is kept."),
        (
            engine.Done("interrupted", reason="output_limit"),
            "The answer reached the model's output limit. It was written on once and cut off again. What was written "
            "so far is kept.",
        ),
        (
            engine.Done("interrupted", reason="dropped"),
            "The answer was cut off before its end. What was written so far is kept.",
        ),
        (
            engine.Done("interrupted", error=engine.Failure("dropped", "The line dropped.")),
            "The line dropped. What was written so far is kept.",
        ),
        (
            engine.Done("limit", reason="steps", steps=120),
            "Stopped after 120 steps, as many as a turn may take. What was written so far is kept. Say how to go on, "
            "and it takes as many again.",
        ),
        (
            engine.Done("limit", reason="loop", steps=5),
            "Stopped: the run went in circles. What was written so far is kept. Say what to do differently.",
        ),
    ],
)
def test_an_end_that_is_no_success_is_said_to_everybody(done: engine.Done, sentence: str) -> None:
    assert read(done, watched=False) == ("", f"{sentence}\n")


def test_the_demo_says_what_it_is() -> None:
    _, err = read(engine.Usage("demo", "tour"), engine.Done("completed"), watched=False)
    assert "Demo model: scripted, not an AI." in err
    assert read(engine.Usage("other", "tour"), engine.Done("completed"), watched=False)[1] == ""


def test_whoever_watches_is_told_how_to_go_on() -> None:
    _, err = read(engine.Done("completed", usage=engine.Totals(1000, 20, 300, 4, None), steps=2))
    assert err == (
        '2 steps, 1,304 tokens read, 20 written, cost unknown. Go on with: plancia run --conversation conv_1 "…"\n'
    )
