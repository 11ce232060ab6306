"""Conversations: made, found, renamed, deleted with a way back, purged."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from app.workspace import conversations as room
from app.workspace.errors import NotFound
from app.workspace.messages import add_message, list_messages
from app.workspace.queue import enqueue, list_queued
from app.workspace.sessions import session_of
from app.workspace.store import Store
from app.workspace.turns import end_turn, start_turn
from tests.models.stands import HandClock


def say(store: Store, chat: str, text: str) -> None:
    add_message(store, chat, kind="user", member="user", text=text)


def purge(store: Store, older_than: timedelta) -> list[str]:
    gone = [each.conversation for each in room.list_expired(store, older_than)]
    room.purge(store, gone)
    return gone


def test_a_new_one_is_found_as_it_was_made(store: Store) -> None:
    made = room.create_conversation(store, workspace="/home/ada", model="openai/gpt-6")
    assert room.load_conversation(store, made.id) == made
    assert (made.title, made.title_source, made.revision) == ("", "auto", 0)
    assert made.created == "2026-11-30T14:10:24.871Z"


def test_one_that_is_not_there(store: Store) -> None:
    assert room.find_conversation(store, "conv_none") is None
    with pytest.raises(NotFound, match='no conversation "conv_none"'):
        room.load_conversation(store, "conv_none")
    with pytest.raises(NotFound):
        room.rename(store, "conv_none", "x")


def test_the_first_message_of_the_user_gives_the_title(store: Store, chat: str) -> None:
    add_message(store, chat, kind="notice", member="commander", text="not this")
    say(store, chat, "  \n")
    say(store, chat, "Plan a trip\nwith details")
    say(store, chat, "Something else")
    assert room.load_conversation(store, chat).title == "Plan a trip"


def test_the_title_of_the_user_stays(store: Store, chat: str) -> None:
    renamed = room.rename(store, chat, "  Ligurian \n coast ")
    say(store, chat, "Plan a trip")
    assert room.load_conversation(store, chat).title == renamed.title == "Ligurian coast"
    assert renamed.title_source == "user"


def test_an_empty_name_gives_the_first_message_its_title_back(store: Store, chat: str) -> None:
    say(store, chat, "Plan a trip")
    room.rename(store, chat, "Coast")
    assert room.rename(store, chat, " ").title == "Plan a trip"
    assert room.load_conversation(store, chat).title_source == "auto"


def test_every_change_raises_the_revision(store: Store, chat: str) -> None:
    revisions = [
        room.rename(store, chat, "a").revision,
        room.pin(store, chat, True).revision,
        room.archive(store, chat, True).revision,
        room.choose_model(store, chat, "demo/tour").revision,
        room.choose_workspace(store, chat, "/tmp").revision,
    ]
    assert revisions == [1, 2, 3, 4, 5]


def test_the_list_is_pinned_first_then_by_the_newest_message(store: Store, clock: HandClock) -> None:
    ids = []
    for _ in range(4):
        clock.move(seconds=1)
        ids.append(room.create_conversation(store, workspace="/").id)
    one, two, three, four = ids
    clock.move(seconds=1)
    say(store, two, "newest")
    room.pin(store, one, True)
    room.archive(store, four, True)
    room.rename(store, three, "a rename is no news")
    assert [row.id for row in room.list_recent(store)] == [one, two, three]
    assert [row.id for row in room.list_recent(store, limit=1)] == [one]
    assert [row.id for row in room.list_recent(store, archived=True)] == [four]


def test_a_delete_can_be_undone_with_everything_in_it(store: Store, chat: str) -> None:
    say(store, chat, "keep me")
    assert room.delete(store, chat) == ()
    assert room.list_recent(store) == []
    deleted = room.find_conversation(store, chat)
    assert deleted is not None
    assert deleted.deleted_at is not None
    assert room.undelete(store, chat).deleted_at is None
    assert [row.id for row in room.list_recent(store)] == [chat]
    assert [row.text for row in list_messages(store, chat)] == ["keep me"]


def test_a_delete_says_which_turns_are_live(store: Store, chat: str) -> None:
    over = start_turn(store, chat, member="writer", session="ses_1", trigger="t")
    end_turn(store, over.id, state="completed")
    live = start_turn(store, chat, member="coder", session="ses_2", trigger="t")
    assert room.delete(store, chat) == (live,)


def test_the_purge_takes_only_what_was_deleted_long_ago(store: Store, clock: HandClock) -> None:
    old, young, kept = (room.create_conversation(store, workspace="/").id for _ in range(3))
    session = session_of(store, old, "commander")
    say(store, old, "gone")
    enqueue(store, old, text="gone too", client_id="c1")
    room.delete(store, old)
    clock.move(days=2)
    room.delete(store, young)
    clock.move(hours=1)
    assert room.list_expired(store, timedelta(days=1)) == (room.Expired(old, (session.path,)),)
    purge(store, timedelta(days=1))
    assert room.find_conversation(store, old) is None
    assert list_messages(store, old) == []
    assert list_queued(store, old) == []
    assert room.find_conversation(store, young) is not None
    assert room.find_conversation(store, kept) is not None
    with pytest.raises(NotFound):
        room.undelete(store, old)


def test_the_purge_waits_for_a_live_turn(store: Store, chat: str, clock: HandClock) -> None:
    turn = start_turn(store, chat, member="commander", session="ses_1", trigger="t")
    room.delete(store, chat)
    clock.move(days=2)
    assert purge(store, timedelta(days=1)) == []
    end_turn(store, turn.id, state="aborted")
    assert purge(store, timedelta(days=1)) == [chat]


def test_what_was_purged_is_not_in_the_files_any_more(store: Store, chat: str, clock: HandClock) -> None:
    say(store, chat, "CANARY-9173 " * 500)
    room.delete(store, chat)
    clock.move(days=2)
    purge(store, timedelta(days=1))
    folder: Path = store.database.file.parent
    assert [file for file in folder.glob("plancia.sqlite3*") if b"CANARY-9173" in file.read_bytes()] == []
