"""Messages: in order, once each, with times that rise and revisions that tell what is new."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.workspace.attached import Attachment, with_attachments
from app.workspace.conversations import create_conversation, load_conversation
from app.workspace.errors import NotFound
from app.workspace.messages import (
    add_message,
    changed_since,
    find_message,
    find_sent,
    list_messages,
    list_of_turn,
    list_said,
    list_with_files,
    update_message,
)
from app.workspace.queue import enqueue, list_queued
from app.workspace.rows import MessageRow
from app.workspace.store import Store
from tests.models.stands import HandClock


def say(store: Store, chat: str, text: str = "hello", client_id: str | None = None) -> MessageRow:
    return add_message(store, chat, kind="user", member="user", text=text, client_id=client_id)


def test_a_message_comes_back_as_it_went_in(store: Store, chat: str) -> None:
    row = add_message(
        store,
        chat,
        kind="tool_call",
        member="coder",
        text="",
        state="streaming",
        data={"call_id": "c1", "arguments": {"path": "ö.txt", "range": [1, 2.5, None, True]}},
        turn="turn_1",
    )
    assert find_message(store, row.id) == row
    assert list_messages(store, chat) == [row]
    assert (row.position, row.revision, row.conversation) == (1, 1, chat)


def test_into_a_conversation_that_is_not_there(store: Store) -> None:
    with pytest.raises(NotFound):
        say(store, "conv_none")


def test_positions_have_no_gaps_and_revisions_rise(store: Store, chat: str) -> None:
    rows = [say(store, chat) for _ in range(5)]
    assert [row.position for row in rows] == [1, 2, 3, 4, 5]
    assert [row.revision for row in rows] == [1, 2, 3, 4, 5]
    assert load_conversation(store, chat).revision == 5


def test_times_rise_though_the_clock_stands_still_or_goes_back(
    store: Store, chat: str, clock: HandClock
) -> None:
    times = []
    for hours in (0, 0, -30, 5, 0, -1):
        clock.move(hours=hours)
        times.append(say(store, chat).created)
    assert all(before < after for before, after in pairwise(times))
    assert times[1] == "2026-11-30T14:10:24.873Z"
    assert load_conversation(store, chat).updated == times[-1]


def test_the_same_client_id_counts_once(store: Store, chat: str) -> None:
    first = say(store, chat, "hello", client_id="tab-1")
    again = say(store, chat, "hello again", client_id="tab-1")
    assert again == first
    assert list_messages(store, chat) == [first]
    assert find_sent(store, chat, "tab-1") == first
    assert load_conversation(store, chat).revision == 1


def test_the_same_client_id_in_another_conversation_is_another_message(store: Store, chat: str) -> None:
    other = create_conversation(store, workspace="/").id
    assert say(store, chat, client_id="tab-1").id != say(store, other, client_id="tab-1").id


def test_the_same_client_id_from_many_threads_counts_once(store: Store, chat: str) -> None:
    start = threading.Barrier(8)
    got: list[MessageRow] = []

    def send(number: int) -> None:
        start.wait()
        got.extend(say(store, chat, f"from {number}", client_id=f"tab-{client}") for client in range(5))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = list_messages(store, chat)
    assert len(got) == 40
    assert sorted({row.id for row in got}) == sorted(row.id for row in rows)
    assert sorted(row.client_id or "" for row in rows) == [f"tab-{client}" for client in range(5)]
    assert [row.position for row in rows] == [1, 2, 3, 4, 5]


def test_sending_what_waits_takes_it_out_of_the_queue(store: Store, chat: str) -> None:
    enqueue(store, chat, text="hello", client_id="tab-1")
    say(store, chat, "hello", client_id="tab-1")
    assert list_queued(store, chat) == []


def test_an_update_replaces_what_is_given_and_leaves_the_rest(store: Store, chat: str) -> None:
    row = add_message(
        store, chat, kind="assistant", member="writer", text="a", state="streaming", data={"n": 1}
    )
    longer = update_message(store, row.id, text="ab")
    assert (longer.text, longer.state, longer.data) == ("ab", "streaming", {"n": 1})
    ended = update_message(store, row.id, state="done", data={"m": 2})
    assert (ended.text, ended.state, ended.data) == ("ab", "done", {"m": 2})
    assert (row.revision, longer.revision, ended.revision) == (1, 2, 3)
    assert (ended.position, ended.created) == (row.position, row.created)


def test_an_update_that_changes_nothing_is_no_news(store: Store, chat: str) -> None:
    row = say(store, chat, "same")
    assert update_message(store, row.id, text="same", state="done", data={}) == row
    assert changed_since(store, chat, row.revision) == []


def test_text_can_become_empty(store: Store, chat: str) -> None:
    assert update_message(store, say(store, chat, "draft").id, text="").text == ""


def test_an_update_of_what_is_not_there(store: Store) -> None:
    with pytest.raises(NotFound, match='no message "msg_none"'):
        update_message(store, "msg_none", text="x")


def test_pages_go_backwards_from_the_end(store: Store, chat: str) -> None:
    rows = [say(store, chat, str(number)) for number in range(25)]
    last = list_messages(store, chat, limit=10)
    assert last == rows[15:]
    before = list_messages(store, chat, before_position=last[0].position, limit=10)
    assert before == rows[5:15]
    assert list_messages(store, chat, before_position=before[0].position, limit=10) == rows[:5]
    assert list_messages(store, chat, before_position=1) == []


def test_an_id_can_be_given(store: Store, chat: str) -> None:
    assert add_message(store, chat, kind="assistant", member="writer", id="msg_x").id == "msg_x"


def test_what_was_said_by_others_and_what_belongs_to_a_turn(store: Store, chat: str) -> None:
    asked = say(store, chat, "hello")
    answer = add_message(store, chat, kind="assistant", member="writer", turn="turn_1")
    say(store, create_conversation(store, workspace="/").id, "elsewhere")
    more = add_message(store, chat, kind="user", member="user", text="more", turn="turn_1")
    assert list_said(store, chat, to="writer") == [asked, more]
    assert list_said(store, chat, to="commander") == [asked, answer, more]
    assert list_of_turn(store, "turn_1") == [answer, more]


def test_changed_since_tells_new_and_different_rows_in_order(store: Store, chat: str) -> None:
    one, two, three = (say(store, chat, text) for text in ("1", "2", "3"))
    seen = load_conversation(store, chat).revision
    later = update_message(store, one.id, text="1, longer")
    four = say(store, chat, "4")
    assert changed_since(store, chat, seen) == [later, four]
    assert changed_since(store, chat, 0) == [later, two, three, four]
    assert changed_since(store, chat, four.revision) == []


def test_a_megabyte_is_an_ordinary_message(store: Store, chat: str) -> None:
    text = "ü😀" * 200_000
    row = say(store, chat, text)
    assert list_messages(store, chat)[0].text == text == row.text


def test_what_no_page_could_show_is_mended_on_the_way_in(store: Store, chat: str) -> None:
    row = add_message(
        store,
        chat,
        kind="tool_call",
        member="coder",
        text="cut\ud83d here\0",
        data={"k\0ey": ["\ud800", {"deep": "a\0b"}]},
        client_id="c\0",
    )
    assert row.text == "cut\ufffd here"
    assert row.data == {"key": ["\ufffd", {"deep": "ab"}]}
    assert find_message(store, row.id) == row
    assert find_sent(store, chat, "c\0") == row


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(codec=None)),
    data=st.dictionaries(st.text(), st.text(st.characters(codec=None)) | st.integers(-9, 9)),
)
def test_whatever_is_added_is_what_the_next_page_reads(
    store: Store, chat: str, text: str, data: dict[str, object]
) -> None:
    row = add_message(store, chat, kind="assistant", member="writer", text=text, data=data)
    assert find_message(store, row.id) == row
    row.text.encode()


def test_messages_with_files_are_found_the_newest_first(store: Store, chat: str) -> None:
    file = Attachment("attachments/conv/att_1/a.txt", 1)
    for text in ("one", "two", "three"):
        add_message(store, chat, kind="user", member="user", text=text, data=with_attachments({}, (file,)))
    add_message(store, chat, kind="user", member="user", text='{"attachments":"none"}')
    add_message(store, chat, kind="assistant", member="commander", data={"attachments": []})
    assert [row.text for row in list_with_files(store, chat, 2)] == ["three", "two"]


def test_a_conversation_that_begins_with_a_file_is_called_after_it(store: Store, chat: str) -> None:
    file = Attachment("attachments/conv/att_1/berths.csv", 1)
    add_message(store, chat, kind="user", member="user", data=with_attachments({}, (file,)))
    assert load_conversation(store, chat).title == "berths.csv"
