"""The queue: what waits keeps its order, and leaves only as a message or by the user's hand."""

from __future__ import annotations

import pytest
from peewee import IntegrityError

from app.workspace.conversations import load_conversation
from app.workspace.errors import NotFound
from app.workspace.messages import add_message, list_messages
from app.workspace.queue import (
    delete_queued,
    edit_queued,
    enqueue,
    find_queued,
    hold_all,
    list_queued,
    move_queued,
    send_queued,
)
from app.workspace.rows import QueuedRow, QueueKind
from app.workspace.store import Store


def wait(store: Store, chat: str, text: str, kind: QueueKind = "queue") -> QueuedRow:
    row = enqueue(store, chat, text=text, client_id=f"tab-{text}", kind=kind)
    assert isinstance(row, QueuedRow)
    return row


def texts(store: Store, chat: str) -> list[str]:
    return [row.text for row in list_queued(store, chat)]


def test_first_in_first(store: Store, chat: str) -> None:
    rows = [wait(store, chat, text) for text in "abc"]
    assert list_queued(store, chat) == rows
    assert find_queued(store, chat, "tab-b") == rows[1]


def test_the_same_client_id_waits_once(store: Store, chat: str) -> None:
    first = wait(store, chat, "a")
    assert enqueue(store, chat, text="other", client_id="tab-a") == first
    assert texts(store, chat) == ["a"]


def test_what_was_sent_already_does_not_wait_again(store: Store, chat: str) -> None:
    sent = add_message(store, chat, kind="user", member="user", text="a", client_id="tab-a")
    assert enqueue(store, chat, text="a", client_id="tab-a") == sent
    assert texts(store, chat) == []


def test_into_a_conversation_that_is_not_there(store: Store) -> None:
    with pytest.raises(NotFound):
        enqueue(store, "conv_none", text="a", client_id="1")


def test_what_is_sent_becomes_messages_in_the_order_of_the_queue(store: Store, chat: str) -> None:
    a, b, c = wait(store, chat, "a"), wait(store, chat, "b", "steer"), wait(store, chat, "c")
    wait(store, chat, "d")
    sent = send_queued(store, [c.id, a.id, b.id], turn="turn_1")
    assert texts(store, chat) == ["d"]
    assert list(sent) == list_messages(store, chat)
    assert [(row.text, row.kind, row.member, row.client_id, row.turn) for row in sent] == [
        (text, "user", "user", f"tab-{text}", "turn_1") for text in "abc"
    ]
    assert [row.id for row in sent] == [a.id, b.id, c.id]
    assert [dict(row.data) for row in sent] == [{}, {"sent": "steer"}, {}]
    assert enqueue(store, chat, text="late copy", client_id="tab-a") == sent[0]


def test_what_has_left_is_passed_over(store: Store, chat: str) -> None:
    a, b = wait(store, chat, "a"), wait(store, chat, "b")
    send_queued(store, [a.id])
    assert [row.text for row in send_queued(store, [a.id, b.id, "msg_none"])] == ["b"]
    assert [row.text for row in list_messages(store, chat)] == ["a", "b"]


def test_nothing_to_send_is_no_change(store: Store, chat: str) -> None:
    wait(store, chat, "a")
    before = load_conversation(store, chat).revision
    assert send_queued(store, []) == ()
    assert load_conversation(store, chat).revision == before


def test_what_is_held_stays_word_by_word(store: Store, chat: str) -> None:
    wait(store, chat, "a")
    wait(store, chat, "b", "steer")
    hold_all(store, chat)
    assert [(row.text, row.kind) for row in list_queued(store, chat)] == [("a", "held"), ("b", "held")]
    assert list_queued(store, chat, "steer") == []
    assert list_queued(store, chat, "held") == list_queued(store, chat)


def test_holding_an_empty_queue_is_no_change(store: Store, chat: str) -> None:
    hold_all(store, chat)
    assert load_conversation(store, chat).revision == 0


def test_a_failure_half_way_leaves_all_of_it_waiting(store: Store, chat: str) -> None:
    rows = [wait(store, chat, "a"), wait(store, chat, "b")]
    add_message(store, chat, kind="notice", member="commander", id=rows[1].id)
    with pytest.raises(IntegrityError):
        send_queued(store, [row.id for row in rows])
    assert texts(store, chat) == ["a", "b"]
    assert [row.kind for row in list_messages(store, chat)] == ["notice"]


def test_it_can_be_edited_and_sent_at_another_time(store: Store, chat: str) -> None:
    row = wait(store, chat, "a")
    edited = edit_queued(store, row.id, text="a, better\0")
    assert (edited.text, edited.kind, edited.client_id) == ("a, better", "queue", row.client_id)
    assert edit_queued(store, row.id, kind="steer").kind == "steer"
    assert texts(store, chat) == ["a, better"]


def test_it_can_be_taken_out(store: Store, chat: str) -> None:
    rows = [wait(store, chat, text) for text in "abc"]
    assert delete_queued(store, rows[1].id) == rows[1]
    assert texts(store, chat) == ["a", "c"]
    wait(store, chat, "d")
    assert texts(store, chat) == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("who", "place", "order"),
    [(0, 2, "bcad"), (3, 0, "dabc"), (1, 1, "abcd"), (0, 99, "bcda"), (2, -5, "cabd")],
)
def test_it_can_be_moved(store: Store, chat: str, who: int, place: int, order: str) -> None:
    rows = [wait(store, chat, text) for text in "abcd"]
    moved = move_queued(store, rows[who].id, place)
    assert "".join(row.text for row in moved) == order
    assert "".join(texts(store, chat)) == order


def test_what_has_left_cannot_be_changed(store: Store, chat: str) -> None:
    row = wait(store, chat, "a")
    send_queued(store, [row.id])
    for act in (
        lambda: edit_queued(store, row.id, text="x"),
        lambda: delete_queued(store, row.id),
        lambda: move_queued(store, row.id, 0),
    ):
        with pytest.raises(NotFound, match="sent or removed"):
            act()


def test_every_change_raises_the_revision(store: Store, chat: str) -> None:
    seen = [load_conversation(store, chat).revision]

    def note() -> None:
        seen.append(load_conversation(store, chat).revision)

    row, other = wait(store, chat, "a"), wait(store, chat, "b")
    note()
    edit_queued(store, row.id, text="c")
    note()
    move_queued(store, row.id, 1)
    note()
    delete_queued(store, other.id)
    note()
    hold_all(store, chat)
    note()
    assert seen == sorted(set(seen))
