"""From events to articles: what stands in the chat after each of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.engine import events as engine
from app.engine.events import (
    Done,
    DoneStatus,
    Event,
    Failure,
    ReasoningDelta,
    Retry,
    TextDelta,
    ToolDelta,
    ToolEnd,
    ToolProgress,
    ToolStart,
    Usage,
)
from app.engine.messages import Image
from app.group_chat.events import RoomEvent
from app.group_chat.keeping import KeepingBoard
from app.group_chat.segments import SAVE_EVERY, Segments
from app.infra.feed import Feed
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.workspace import conversations, messages, usage
from app.workspace.rows import MessageRow
from app.workspace.store import Store
from tests.fakes.clock import FakeClock


class Chat:
    """The articles of one turn."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        conversation = conversations.create_conversation(store, workspace="").id
        self.board = KeepingBoard(store, conversation, Feed[RoomEvent]("room", 256))
        self.segments = Segments(self.board, "turn_1", "commander")

    def take(self, *events: Event) -> None:
        for event in events:
            self.segments.take(event)

    def rows(self) -> list[MessageRow]:
        return messages.list_messages(self.store, self.board.conversation)

    def shape(self) -> list[tuple[str, str, str]]:
        return [(row.kind, row.state, row.text or str(row.data.get("notice", ""))) for row in self.rows()]

    def freeze(self, frozen: bool) -> None:
        self.store.database._sqlite.sql(f"PRAGMA query_only = {int(frozen)}")


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    clock = FakeClock()
    database = open_database(DataFolder(tmp_path).create(), clock)
    yield Chat(Store(database, clock, new_id), clock)
    database.close()


def call_of(id: str = "c1") -> tuple[ToolDelta, ToolStart, ToolEnd]:
    return (
        ToolDelta(id, "read_file", '{"path"'),
        ToolStart(id, "read_file", {"path": "a"}),
        ToolEnd(id, "read_file", "ahoy", False, None, 12),
    )


def test_pieces_of_one_message_are_one_article(chat: Chat) -> None:
    chat.take(TextDelta("Good ", "m1"), TextDelta("day.", "m1"), Done("completed"))
    assert chat.shape() == [("assistant", "done", "Good day.")]
    assert chat.rows()[0].id == "m1"


def test_a_growing_text_is_saved_at_most_once_a_second(chat: Chat) -> None:
    chat.take(TextDelta("One", "m1"), TextDelta(" two", "m1"))
    assert chat.shape() == [("assistant", "streaming", "")]
    chat.clock._passed += SAVE_EVERY
    chat.take(TextDelta(" three", "m1"), TextDelta(" four", "m1"))
    assert chat.shape() == [("assistant", "streaming", "One two three")]


def test_thinking_is_kept_with_the_time_it_took(chat: Chat) -> None:
    chat.take(ReasoningDelta("Hm. ", "m1"))
    chat.clock._passed += 2
    chat.take(ReasoningDelta("Yes.", "m1"))
    chat.clock._passed += 5
    chat.take(TextDelta("Sure.", "m1"), Done("completed"))
    assert chat.rows()[0].data == {"reasoning": "Hm. Yes.", "thought_ms": 2000}


def test_a_call_is_an_article_from_its_first_piece_to_its_result(chat: Chat) -> None:
    delta, start, end = call_of()
    chat.take(TextDelta("I look.", "m1"), delta)
    assert chat.shape() == [("assistant", "done", "I look."), ("tool_call", "streaming", "")]
    chat.take(start, ToolProgress("c1", "half"), end)
    row = chat.rows()[1]
    assert (row.state, row.data["arguments"], row.data["result"]) == ("done", {"path": "a"}, "ahoy")


def test_a_call_that_failed_says_so(chat: Chat) -> None:
    chat.take(ToolStart("c1", "read_file", {}), ToolEnd("c1", "read_file", "E_X: no.", True, "E_X", 1))
    assert (chat.rows()[0].state, chat.rows()[0].data["error_code"]) == ("failed", "E_X")


def test_a_call_keeps_which_pictures_the_model_was_shown(chat: Chat) -> None:
    shown = (Image("results/conv_1/img_1.png", "image/png"), Image(data="aGk=", media_type="image/png"))
    chat.take(
        ToolStart("c1", "read_file", {}), ToolEnd("c1", "read_file", "a picture", False, None, 1, shown)
    )
    assert chat.rows()[0].data["pictures"] == ["results/conv_1/img_1.png"]


def test_retries_are_one_line_which_the_next_words_close(chat: Chat) -> None:
    chat.take(Retry(1, 1000, "It is down."), Retry(2, 2000, "It is still down."))
    assert chat.shape() == [("notice", "streaming", "It is still down.")]
    end = datetime.fromisoformat(chat.rows()[0].data["until"])
    assert end == chat.clock.now() + timedelta(seconds=2)
    chat.take(TextDelta("Here.", "m2"))
    assert chat.shape()[0] == ("notice", "done", "It is still down.")


def test_a_failure_names_the_model_that_was_asked_last(chat: Chat) -> None:
    failed = Done("failed", error=Failure("auth", "The key was refused."))
    chat.take(Usage("lab", "big", outcome="server"), Usage("house", "small", outcome="auth"), failed)
    assert chat.rows()[-1].data == {"kind": "auth", "model": "house/small"}


@pytest.mark.parametrize(
    ("status", "state", "last"),
    [
        ("completed", "done", None),
        ("failed", "interrupted", ("error", "failed", "The line broke.")),
        ("aborted", "interrupted", ("notice", "done", "stopped")),
        ("interrupted", "interrupted", ("notice", "done", "The line broke.")),
        ("limit", "done", ("notice", "done", "The line broke.")),
    ],
)
def test_the_end_leaves_nothing_open_and_says_what_it_was(
    chat: Chat, status: DoneStatus, state: str, last: tuple[str, str, str] | None
) -> None:
    delta, start, _ = call_of()
    chat.take(Retry(1, 1, "Again."), delta, start, TextDelta("Half", "m1"))
    chat.take(Done(status, error=None if status == "completed" else Failure("x", "The line broke.")))
    ended = [("notice", "done", "Again."), ("tool_call", "interrupted", ""), ("assistant", state, "Half")]
    assert chat.shape() == [*ended, *([last] if last else [])]


def test_a_run_that_went_in_circles_says_with_which_tool(chat: Chat) -> None:
    for call_id, name in (("c1", "read_file"), ("c2", "list_files")):
        chat.take(ToolStart(call_id, name, {}), ToolEnd(call_id, name, "E_LOOP: no.", True, "E_LOOP", 0))
    chat.take(Done("limit", reason="loop", steps=7))
    assert chat.rows()[-1].data == {"notice": "limit", "reason": "loop", "steps": 7, "name": "read_file"}


def test_other_events_are_notices_and_a_model_call_is_a_line_of_the_ledger(chat: Chat) -> None:
    chat.take(
        engine.Compaction(9000, 3000, "msg_1"),
        engine.Fallback("a/b", "c/d", "a/b is down."),
        engine.LoopWarning("read_file", 3),
        Usage("demo", "tour", input_tokens=5),
    )
    assert [text for _, _, text in chat.shape()] == ["compaction", "fallback", "loop_warning"]
    assert usage.total(chat.store, conversation=chat.board.conversation).input_tokens == 5


def test_an_error_keeps_who_else_was_tried_in_this_turn(chat: Chat) -> None:
    chat.take(
        Usage("lab", "big"),
        engine.Fallback("lab/big", "spare/small", "lab is down."),
        Usage("spare", "small"),
        Done("failed", error=Failure("server", "spare failed too.")),
    )
    data = chat.rows()[-1].data
    assert (data["model"], data["others"]) == (
        "spare/small",
        [{"model": "lab/big", "said": "lab is down."}],
    )


def test_what_a_model_did_not_get_is_said_once_a_turn(chat: Chat) -> None:
    blind = engine.Omission("a/b", ("pictures",), "a/b sees none.")
    chat.take(blind, TextDelta("Hi", "m1"), blind, engine.Omission("c/d", ("pictures",), "c/d sees none."))
    notices = [row for row in chat.rows() if row.kind == "notice"]
    assert [(row.text, row.data["notice"], row.data["parts"]) for row in notices] == [
        ("a/b sees none.", "omission", ["pictures"]),
        ("c/d sees none.", "omission", ["pictures"]),
    ]


def test_a_call_with_an_article_of_its_own_has_no_card_however_its_name_comes(chat: Chat) -> None:
    asks = [ToolDelta("c1", name, "{") for name in ("", "ask", "ask_user", "")]
    reads = [ToolDelta("c2", name, "{") for name in ("", "read_file", "")]
    chat.take(*asks, ToolStart("c1", "ask_user", {}), ToolEnd("c1", "ask_user", "7", False, None, 1), *reads)
    assert [(row.kind, row.data["name"]) for row in chat.rows()] == [("tool_call", "read_file")]


def test_every_event_is_told_with_the_article_it_belongs_to(chat: Chat) -> None:
    delta, _, _ = call_of()
    chat.take(TextDelta("Hi", "m1"), delta)
    told = {type(place.event): place.message_id for _, place in chat.board.feed.since(0) or []}
    assert told[TextDelta] == "m1"
    assert told[ToolDelta] == chat.rows()[1].id


@pytest.mark.parametrize("at", ["text", "retry", "call"])
def test_what_could_not_be_stored_at_first_is_kept_for_later(chat: Chat, at: str) -> None:
    """Another program holds the database for a moment."""
    delta, start, _ = call_of()
    before: dict[str, list[Event]] = {
        "text": [TextDelta("One", "m1"), TextDelta(" two.", "m1")],
        "retry": [Retry(1, 1, "It is down.")],
        "call": [delta, start],
    }
    chat.take(*before[at])
    chat.freeze(True)
    chat.take(Done("completed"))
    chat.freeze(False)
    chat.board.store_kept()
    kind, state, text = chat.shape()[0]
    assert (kind, state, text) == {
        "text": ("assistant", "done", "One two."),
        "retry": ("notice", "done", "It is down."),
        "call": ("tool_call", "interrupted", ""),
    }[at]
    assert "read-only" in chat.rows()[-1].text


def test_a_run_whose_words_were_not_stored_ends_as_failed_whatever_it_says_itself(chat: Chat) -> None:
    chat.take(TextDelta("One", "m1"))
    chat.freeze(True)
    done = chat.segments.take(Done("completed", text="One"))
    assert isinstance(done, Done)
    assert (done.status, done.text) == ("failed", "One")
    assert done.error is not None
    assert "read-only" in done.error.message
    assert [place.event for _, place in chat.board.feed.since(0) or []][-1] == done


def test_words_before_a_silence_are_saved_by_time_and_once(chat: Chat) -> None:
    chat.take(TextDelta("Short but important.", "msg_a"))
    assert chat.rows()[0].text == ""
    chat.segments.save_growing()
    row = chat.rows()[0]
    assert (row.text, row.state) == ("Short but important.", "streaming")
    chat.segments.save_growing()
    assert chat.rows()[0].revision == row.revision
