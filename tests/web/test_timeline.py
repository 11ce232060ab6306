"""The picture of who worked when: true to its rows, readable without it, and the same whenever it is drawn."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.web.member_words import Person
from app.web.timeline import LEFT, RIGHT, ROWS, Span, timeline

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
CODER = Person("Coder", "a2")


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


COMMANDER = Span(Person("Commander", "cmd"), "the turn itself", at(0), at(200))
WAITED = Span(CODER, "Patch it", at(0), at(100), ((at(20), at(80)),), (at(5), at(90)))


def test_bars_stand_where_the_time_was_and_are_cut_where_the_user_was_waited_for() -> None:
    drawn = timeline([COMMANDER, WAITED])
    assert drawn is not None
    assert drawn.lines[0].bars[0].x == LEFT
    assert drawn.lines[0].bars[0].width == RIGHT - LEFT
    bars = drawn.lines[1].bars
    assert [bar.kind for bar in bars] == ["run", "wait", "run"]
    assert [round(bar.width / (RIGHT - LEFT) * 200) for bar in bars] == [20, 60, 20]
    assert [bar.title for bar in bars] == [
        "Coder at work, 0:00 to 0:20",
        "Coder waited for you, 0:20 to 1:20",
        "Coder at work, 1:20 to 1:40",
    ]
    assert drawn.lines[1].ticks.count("M") == 2


def test_the_picture_is_said_in_a_sentence_and_in_a_table() -> None:
    drawn = timeline([COMMANDER, WAITED])
    assert drawn is not None
    assert drawn.label == "Timeline of 3:20: Commander 3:20, Coder 1:40, 1:00 of it waiting for you."
    entry = drawn.entries[1]
    assert (entry.who, entry.start, entry.took, entry.waited, entry.calls) == (
        CODER,
        "0:00",
        "1:40",
        "1:00",
        2,
    )


def test_what_goes_on_reaches_the_edge_and_what_was_cut_off_looks_so() -> None:
    running = Span(CODER, "Patch it", at(100), None)
    waits = Span(CODER, "Ask", at(0), None, ((at(150), None),))
    cut = replace(WAITED, waits=(), is_cut=True)
    drawn = timeline([COMMANDER, running, waits, cut])
    assert drawn is not None
    assert drawn.lines[1].bars[0].x + drawn.lines[1].bars[0].width == RIGHT
    assert drawn.lines[2].bars[1].width > 10
    assert drawn.lines[1].bars[0].title == "Coder at work, since 1:40"
    assert [bar.kind for bar in drawn.lines[2].bars] == ["run", "wait"]
    assert drawn.lines[3].bars[0].kind == "cut"
    assert "Coder goes on" in drawn.label


def test_one_turn_alone_is_no_picture_and_a_crowd_is_drawn_in_part() -> None:
    assert timeline([]) is None
    assert timeline([COMMANDER]) is None
    drawn = timeline([COMMANDER] * (ROWS + 5))
    assert drawn is not None
    assert (len(drawn.lines), len(drawn.entries)) == (ROWS, ROWS + 5)


def test_what_took_no_time_at_all_can_be_seen() -> None:
    drawn = timeline([replace(COMMANDER, ended=at(0)), replace(WAITED, ended=at(0), waits=())])
    assert drawn is not None
    assert all(bar.width > 1 for line in drawn.lines for bar in line.bars)
