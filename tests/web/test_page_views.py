"""What stands around the messages: the rail, the queue."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from app.web.page_views import UNTITLED, Callee, conversation_view, queue_view, rail_groups
from app.web.times import local
from app.workspace.rows import QueuedRow
from tests.web.samples import TIME, conversation

TODAY = local(TIME).date()


def test_the_rail_has_today_and_earlier_the_newest_first() -> None:
    rows = [
        replace(conversation("New"), id="conv_3"),
        replace(conversation(""), id="conv_2"),
        replace(conversation("Old"), id="conv_1", updated="2026-11-20T12:00:00.000Z"),
    ]
    groups = rail_groups(
        rows, today=TODAY, current="conv_2", states={"conv_3": "running", "conv_1": "failed"}
    )
    assert [(group.heading, [item.title for item in group.items]) for group in groups] == [
        ("Today", ["New", UNTITLED]),
        ("Earlier", ["Old"]),
    ]
    items = {item.id: item for group in groups for item in group.items}
    assert [items[f"conv_{n}"].state for n in (1, 2, 3)] == ["failed", "rest", "running"]
    assert [item.id for item in items.values() if item.current] == ["conv_2"]


def test_an_empty_group_is_not_shown() -> None:
    assert rail_groups([], today=TODAY) == ()
    assert [group.heading for group in rail_groups([conversation()], today=date(2027, 1, 1))] == ["Earlier"]


def test_a_title_is_one_line_and_a_new_conversation_has_none() -> None:
    assert conversation_view(conversation(" two\nlines ")).title == "two lines"
    assert conversation_view(conversation("")).named is False
    assert conversation_view(conversation("")).title == UNTITLED


def test_the_queue_is_numbered_and_knows_its_ends() -> None:
    rows = [QueuedRow(f"wait_{n}", "conv_1", str(n), f"text {n}", "queue", n * 10, TIME) for n in (1, 2, 3)]
    assert [(item.number, item.first, item.last) for item in queue_view(rows)] == [
        (1, True, False),
        (2, False, False),
        (3, False, True),
    ]
    assert [(item.first, item.last) for item in queue_view(rows[:1])] == [(True, True)]


def test_a_waiting_message_says_whom_it_calls() -> None:
    roster = (Callee("commander", "Commander", "cmd", ""), Callee("coder", "Coder", "a2", ""))
    texts = ("@Coder faster", "no name", "@Bob and `@Coder` in code")
    rows = [QueuedRow(f"w{n}", "conv_1", f"c{n}", text, "queue", n, TIME) for n, text in enumerate(texts)]
    assert [[one.name for one in item.to] for item in queue_view(rows, roster)] == [["Coder"], [], []]
