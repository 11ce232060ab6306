"""What is known of a history without asking a model."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.engine.frontier import SLOTS, frontier_of
from app.engine.messages import Block, Image, Marker, Message, Summary, Text, ToolCall, ToolResult
from app.engine.record import MOST_FILES, paths_of, take_record
from app.engine.tokens import estimate_tokens
from tests.engine.histories import NOON, hurt_histories, wild_histories


def message(role: Any, *blocks: Block, id: str = "m", **more: Any) -> Message:
    return Message(role, blocks, id, NOON, **more)


def step(name: str, status: Any = "ok", call_id: str = "call_0", **arguments: Any) -> tuple[Message, Message]:
    call = message("assistant", ToolCall(call_id, name, arguments))
    return call, message("tool", ToolResult(call_id, "…", status))


def test_files_are_those_that_calls_named_and_reached() -> None:
    history = [
        *step("read_file", path="a.py"),
        *step("read_file", path="b.py"),
        *step("edit_file", path="b.py"),
        *step("write_file", path="new.md", content="path: not-a-file.txt"),
        *step("read_file", "error", path="missing.txt"),
        *step("write_file", "interrupted", path="never.md"),
        *step("write_file", "outcome_unknown", path="perhaps.md"),
    ]
    record = take_record(history, 600)
    assert record.read == ("a.py",)
    assert record.changed == ("b.py", "new.md", "perhaps.md")
    assert [failure.rsplit(": ", 1)[1] for failure in record.failures] == [
        "error",
        "interrupted",
        "outcome_unknown",
    ]


def test_a_call_without_a_result_was_interrupted() -> None:
    record = take_record([message("assistant", ToolCall("c", "bash", {"command": "make"}))], 600)
    assert record.failures == ('bash {"command": "make"}: interrupted',)


def test_the_words_of_the_user_are_the_first_and_the_newest_that_fit() -> None:
    said = [message("user", Text(f"Rule {number}: {'never mind the wind ' * 5}")) for number in range(50)]
    record = take_record(said, 600)
    assert record.said[0].startswith("Rule 0:")
    assert record.said[-1].startswith("Rule 49:")
    assert 3 <= len(record.said) < 50
    assert sum(map(estimate_tokens, record.said)) <= 150


def test_pictures_summaries_and_what_is_sent_again_are_no_words() -> None:
    history = [
        message("user", Image("img1")),
        message("user", Text("sent again"), id="u1"),
        message("user", Text("## Goal\nold"), Text("beside"), summary=Summary("u1")),
        message("user", Text("amounts in CHF, never EUR")),
        message("assistant", Text("Understood."), Marker("interrupted")),
    ]
    record = take_record(history, 600, leave_out={"u1"})
    assert record.said == ("amounts in CHF, never EUR",)
    assert (record.earlier, record.answer) == ("## Goal\nold", "Understood.")


def test_only_what_can_be_a_path_is_taken_for_one() -> None:
    assert list(
        paths_of({"path": "a b.txt", "file": " ", "source": 3, "target": "x" * 400, "query": "c.txt"})
    ) == ["a b.txt"]


@given(st.one_of(hurt_histories(), wild_histories()), st.integers(0, 2_000))
def test_every_history_has_a_record_and_a_summary_without_a_model(
    history: tuple[Message, ...], budget: int
) -> None:
    record = take_record(history, budget)
    assert len(record.changed) <= MOST_FILES
    frontier = frontier_of(record, budget)
    assert frontier.keys() == SLOTS.keys()
    assert all(text.strip() for text in frontier.values())
