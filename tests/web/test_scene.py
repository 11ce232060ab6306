"""What a page is given to show, read from the store and the room at one moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.events import Usage
from app.engine.provider import Stop, TextChunk
from app.group_chat.events import DeskEvent
from app.infra.feed import Feed
from app.web.page_views import ModelOption, Picker, RailItem
from app.web.scene import ENTRIES_SHOWN, Earlier, RailOrder
from app.web.views import message_view
from app.workspace import conversations, turns, usage
from app.workspace.rows import ConversationRow
from tests.web.pages import OpenByHand, open_by_hand, open_page
from tests.web.samples import conversation

pytestmark = pytest.mark.anyio


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path) as opened:
        yield opened


def row(id: str, updated: str, *, pinned: bool = False) -> ConversationRow:
    return replace(conversation(), id=id, updated=updated, pinned=pinned)


class Desk:
    def __init__(self, keep: int = 10) -> None:
        self.feed: Feed[DeskEvent] = Feed("boot", keep)
        self.order = RailOrder(self.feed)

    def ids(self, *rows: ConversationRow) -> list[str]:
        return [each.id for each in self.order.still(rows)]


def test_the_list_has_the_newest_first_and_pinned_ones_before_all() -> None:
    desk = Desk()
    assert desk.ids(row("a", "1"), row("b", "3"), row("c", "2"), row("p", "0", pinned=True)) == [
        "p",
        "b",
        "c",
        "a",
    ]


def test_messages_move_nothing_until_the_desk_says_so() -> None:
    desk = Desk()
    desk.ids(row("a", "2"), row("b", "1"))
    assert desk.ids(row("a", "2"), row("b", "5")) == ["a", "b"]
    desk.feed.publish(DeskEvent("b"))
    assert desk.ids(row("a", "4"), row("b", "5")) == ["b", "a"]
    assert desk.ids(row("a", "9"), row("b", "5")) == ["b", "a"]


def test_a_new_one_takes_its_place_and_a_gone_one_is_forgotten() -> None:
    desk = Desk()
    desk.ids(row("a", "2"), row("b", "1"))
    assert desk.ids(row("a", "2"), row("b", "7"), row("c", "3")) == ["c", "a", "b"]
    assert desk.ids(row("a", "2"), row("c", "3")) == ["c", "a"]
    assert desk.ids(row("a", "2"), row("b", "7"), row("c", "3")) == ["b", "c", "a"]


def test_more_was_said_than_is_remembered() -> None:
    desk = Desk(keep=1)
    desk.ids(row("a", "2"), row("b", "1"))
    for _ in range(3):
        desk.feed.publish(DeskEvent("other"))
    assert desk.ids(row("a", "2"), row("b", "3")) == ["b", "a"]


async def rail(opened: OpenByHand, current: str | None = None) -> list[RailItem]:
    shell = opened.site.scenes.shell(current)["shell"]
    return [item for group in shell.groups for item in group.items]


async def test_the_list_says_where_we_are_and_how_each_one_stands(opened: OpenByHand) -> None:
    for title, state in (("failed one", "failed"), ("cut one", "interrupted"), ("stopped one", "aborted")):
        room = opened.conversation()
        conversations.rename(opened.bench.store, room.id, title)
        turn = turns.start_turn(
            opened.bench.store, room.id, member="commander", session=f"s-{state}", trigger="x"
        )
        turns.end_turn(opened.bench.store, turn.id, state=state)  # type: ignore[arg-type]
    live = opened.conversation()
    await live.post("running one", client_id="c")
    await opened.hand.settle(live)
    assert {(each.title, each.state, each.current) for each in await rail(opened, live.id)} == {
        ("running one", "running", True),
        ("stopped one", "rest", False),
        ("cut one", "interrupted", False),
        ("failed one", "failed", False),
    }
    assert not any(each.current for each in await rail(opened))


async def test_after_a_restart_the_list_has_the_order_of_the_newest_messages(tmp_path: Path) -> None:
    async with open_by_hand(tmp_path) as opened:
        rooms = [opened.conversation() for _ in range(3)]
        for room in (*rooms, rooms[0]):
            await opened.bench.store.clock.sleep(60)
            await room.post("hello", client_id=opened.bench.store.new_id("said"))
            await opened.hand.settle(room)
            await room.stop()
        conversations.rename(opened.bench.store, rooms[1].id, "renamed")
        before = [each.id for each in await rail(opened)]
    async with open_by_hand(tmp_path) as opened:
        assert before == [rooms[0].id, rooms[2].id, rooms[1].id]
        assert [each.id for each in await rail(opened)] == before


async def test_deleted_conversations_are_not_in_the_list(opened: OpenByHand) -> None:
    room = opened.conversation()
    conversations.delete(opened.bench.store, room.id)
    assert await rail(opened) == []


async def test_the_log_has_the_newest_and_the_way_to_those_before(opened: OpenByHand) -> None:
    room = opened.conversation()
    log = opened.site.scenes.log(room, message_view)
    assert (log["messages"], log["earlier"]) == ([], None)
    for number in range(ENTRIES_SHOWN + 5):
        room.board.add("notice", member="commander", turn=None, text=f"{number}")
    log = opened.site.scenes.log(room, message_view)
    assert [view.words.text for view in log["messages"]] == [str(n) for n in range(5, ENTRIES_SHOWN + 5)]
    assert log["earlier"] == Earlier(f"/conversations/{room.id}/earlier?before=6", 5)
    log = opened.site.scenes.log(room, message_view, before=6)
    assert [view.words.text for view in log["messages"]] == [str(n) for n in range(5)]
    assert log["earlier"] is None


async def test_kinds_that_no_template_draws_are_left_out(opened: OpenByHand) -> None:
    room = opened.conversation()
    for kind in ("unheard_of", "notice"):
        room.board.add(kind, member="commander", turn=None)  # type: ignore[arg-type]
    assert [view.kind for view in opened.site.scenes.log(room, message_view)["messages"]] == ["notice"]


async def test_the_picker_has_the_order_every_model_and_the_one_that_was_chosen(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        room, scenes = opened.conversation(), opened.site.scenes
        demo = "Demo model: scripted, not an AI"
        assert scenes.default_model().ready is False
        assert scenes.conversation(room)["composer"].picker == Picker(
            False, demo, (ModelOption("demo/tour", demo, False),)
        )
        fields = {"kind": "openai", "name": "lab", "base_url": "http://127.0.0.1:9/v1", "models": "a,b,c"}
        await opened.browser.post("/settings/models", fields)
        conversations.choose_model(opened.bench.store, room.id, "gone/model")
        assert scenes.default_model().ready is True
        labels = ("lab/a", "lab/b", "lab/c", "gone/model")
        assert scenes.conversation(room)["composer"].picker == Picker(
            True,
            "lab/a, then lab/b, …",
            tuple(ModelOption(label, label, label == "gone/model") for label in labels),
        )


async def test_a_choice_in_the_middle_of_a_turn_counts_from_the_next_one(opened: OpenByHand) -> None:
    room, scenes = opened.conversation(), opened.site.scenes

    def later() -> bool:
        return bool(scenes.conversation(room)["composer"].picker.later)

    await room.post("Go", client_id="1")
    assert not later()
    conversations.choose_model(opened.bench.store, room.id, "house/large")
    assert later()
    await room.stop()
    assert not later()


async def test_usage_is_summed_and_says_what_it_does_not_know(opened: OpenByHand) -> None:
    room, store = opened.conversation(), opened.bench.store
    nothing = opened.site.scenes.details(room)["usage"]
    assert (nothing.lines, nothing.tokens, nothing.cost, nothing.partly_unknown) == ((), 0, None, False)
    turn = turns.start_turn(store, room.id, member="commander", session="s", trigger="x").id
    for call in (
        Usage("lab", "big", 100, 10, 5, 1, cost=0.5),
        Usage("lab", "big", 50, 5, cost=0.25),
        Usage("other", "free", 7, 3),
    ):
        usage.record(store, call, conversation=room.id, member="commander", turn=turn)
    seen = opened.site.scenes.details(room)["usage"]
    lines = {
        (line.model, line.calls, line.input_tokens, line.output_tokens, line.cost) for line in seen.lines
    }
    assert lines == {("lab/big", 2, 156, 15, 0.75), ("other/free", 1, 7, 3, None)}
    assert (seen.tokens, seen.cost, seen.partly_unknown) == (181, 0.75, True)


async def test_each_turn_is_a_task_named_by_what_was_asked(opened: OpenByHand) -> None:
    room = opened.conversation()
    await room.post("  Do this\nand that", client_id="c1")
    await opened.hand.settle(room)
    await room.stop()
    await room.resume()
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("Done."), Stop("end"))
    await opened.hand.settle(room)
    turns = opened.site.scenes.details(room)["turns"]
    assert [(turn.name, turn.standing.word) for turn in turns] == [
        ("Do this", "stopped"),
        ("Continued", "done"),
    ]
