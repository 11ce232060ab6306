"""Turns: one at a time on a session, and an end to every one of them, after a crash too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.workspace.conversations import create_conversation, list_recent, load_conversation
from app.workspace.errors import NotFound, TurnLive
from app.workspace.messages import add_message, changed_since, find_message, list_messages
from app.workspace.rows import EndState, TurnRow
from app.workspace.sessions import find_session, list_sessions, note_session, session_of
from app.workspace.store import Store
from app.workspace.turns import (
    end_turn,
    find_last_turn,
    find_turn,
    live_turns,
    mark_interrupted,
    start_turn,
)
from tests.models.stands import HandClock


def begin(store: Store, chat: str, member: str = "commander", session: str = "ses_1") -> TurnRow:
    return start_turn(store, chat, member=member, session=session, trigger="msg_1", model="demo/tour")


def test_a_turn_is_live_until_it_ends(store: Store, chat: str, clock: HandClock) -> None:
    turn = begin(store, chat)
    assert live_turns(store) == [turn] == live_turns(store, chat)
    clock.move(seconds=5)
    ended = end_turn(
        store, turn.id, state="failed", reason="budget", error={"kind": "auth", "message": "No key."}
    )
    assert live_turns(store) == []
    assert find_turn(store, turn.id) == ended.turn
    assert (ended.turn.state, ended.turn.reason) == ("failed", "budget")
    assert ended.turn.error == {"kind": "auth", "message": "No key."}
    assert ended.turn.ended == "2026-11-30T14:10:29.871Z"


def test_the_messages_it_answers_become_part_of_it(store: Store, chat: str) -> None:
    asked = [add_message(store, chat, kind="user", member="user", text=text) for text in "ab"]
    other = add_message(store, chat, kind="user", member="user", text="c")
    turn = start_turn(
        store, chat, member="commander", session="ses_1", trigger="queue", messages=[row.id for row in asked]
    )
    assert [row.turn for row in list_messages(store, chat)] == [turn.id, turn.id, None]
    assert other not in changed_since(store, chat, other.revision)


def test_a_busy_session_takes_no_second_turn(store: Store, chat: str) -> None:
    turn = begin(store, chat)
    with pytest.raises(TurnLive, match="commander is still answering"):
        begin(store, chat)
    begin(store, chat, member="writer", session="ses_2")
    end_turn(store, turn.id, state="completed")
    begin(store, chat)
    assert len(live_turns(store, chat)) == 2


def test_a_turn_of_nowhere(store: Store) -> None:
    with pytest.raises(NotFound):
        begin(store, "conv_none")
    with pytest.raises(NotFound):
        end_turn(store, "turn_none", state="completed")
    assert live_turns(store) == []


@pytest.mark.parametrize("first", ["completed", "failed", "aborted", "interrupted", "limit"])
def test_the_first_end_counts(store: Store, chat: str, first: EndState) -> None:
    turn = begin(store, chat)
    ended = end_turn(store, turn.id, state=first).turn
    assert end_turn(store, turn.id, state="completed", reason="late").turn == ended
    assert mark_interrupted(store, turn.id).turn == ended
    assert list_messages(store, chat) == []


def test_an_end_stops_what_still_streams(store: Store, chat: str) -> None:
    turn = begin(store, chat)
    done = add_message(store, chat, kind="assistant", member="commander", text="a", turn=turn.id)
    open_one = add_message(
        store, chat, kind="assistant", member="commander", text="b", state="streaming", turn=turn.id
    )
    ended = end_turn(store, turn.id, state="aborted")
    assert [(row.id, row.state) for row in ended.messages] == [(open_one.id, "interrupted")]
    assert find_message(store, done.id) == done


def test_the_clock_may_go_back_during_a_turn(store: Store, chat: str, clock: HandClock) -> None:
    first = begin(store, chat)
    clock.move(days=-1)
    assert end_turn(store, first.id, state="completed").turn.ended == first.started
    second = begin(store, chat)
    assert second.started > first.started
    assert find_last_turn(store, chat) == second


def test_a_crash_is_said_in_the_messages_once(store: Store, chat: str) -> None:
    turn = begin(store, chat)
    answer = add_message(
        store, chat, kind="assistant", member="commander", text="half", state="streaming", turn=turn.id
    )
    call = add_message(store, chat, kind="tool_call", member="commander", state="streaming", turn=turn.id)
    elsewhere = add_message(
        store, chat, kind="assistant", member="writer", state="streaming", turn="turn_other"
    )
    before = load_conversation(store, chat).revision

    end = mark_interrupted(store, turn.id)

    assert (end.turn.state, end.turn.reason) == ("interrupted", "crash")
    *stopped, notice = end.messages
    assert [(row.id, row.state, row.text) for row in stopped] == [
        (answer.id, "interrupted", "half"),
        (call.id, "interrupted", ""),
    ]
    assert (notice.kind, notice.member, notice.turn) == ("notice", "commander", turn.id)
    assert notice.data == {"notice": "interrupted", "turn": turn.id}
    assert changed_since(store, chat, before) == list(end.messages)
    assert find_message(store, elsewhere.id) == elsewhere

    assert mark_interrupted(store, turn.id).messages == ()
    assert live_turns(store) == []
    assert changed_since(store, chat, before) == list(end.messages)


CRASH = """
import os, sys
from pathlib import Path
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.workspace.conversations import create_conversation
from app.workspace.messages import add_message
from app.workspace.queue import enqueue
from app.workspace.store import Store
from app.workspace.turns import start_turn

store = Store(open_database(DataFolder(Path(sys.argv[1])), SystemClock()), SystemClock(), new_id)
chat = create_conversation(store, workspace="/").id
add_message(store, chat, kind="user", member="user", text="hello", client_id="tab-1")
turn = start_turn(store, chat, member="commander", session="ses_1", trigger="msg")
add_message(store, chat, kind="assistant", member="commander", text="half an ans", state="streaming", turn=turn.id)
enqueue(store, chat, text="and then?", client_id="tab-2")
os.kill(os.getpid(), 9)
"""


def test_after_a_kill_everything_said_is_there_and_the_turn_can_be_closed(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path).create()
    subprocess.run([sys.executable, "-c", CRASH, str(folder.root)], check=False, env={**os.environ})
    clock = HandClock()
    store = Store(open_database(folder, clock), clock, new_id)
    (chat,) = list_recent(store)
    (turn,) = live_turns(store)
    mark_interrupted(store, turn.id)
    assert [(row.kind, row.state, row.text) for row in list_messages(store, chat.id)] == [
        ("user", "done", "hello"),
        ("assistant", "interrupted", "half an ans"),
        ("notice", "done", ""),
    ]
    store.database.close()


def test_a_member_keeps_its_session(store: Store, chat: str) -> None:
    session = session_of(store, chat, "commander", model="demo/tour")
    assert session_of(store, chat, "commander") == session == find_session(store, session.id)
    assert session.path == f"sessions/{session.id}.jsonl"
    writer = session_of(store, chat, "writer")
    assert list_sessions(store, chat) == [session, writer]
    other = create_conversation(store, workspace="/").id
    assert session_of(store, other, "commander").id != session.id
    with pytest.raises(NotFound):
        session_of(store, "conv_none", "commander")


def test_a_session_adds_up_its_tokens(store: Store, chat: str) -> None:
    session = session_of(store, chat, "commander")
    note_session(store, session.id, size=100, input_tokens=7, output_tokens=3, model="demo/tour")
    note_session(store, session.id, size=250, input_tokens=10, output_tokens=5)
    grown = find_session(store, session.id)
    assert grown is not None
    assert (grown.size, grown.input_tokens, grown.output_tokens, grown.model) == (250, 17, 8, "demo/tour")
    with pytest.raises(NotFound):
        note_session(store, "ses_none", size=1, input_tokens=0, output_tokens=0)
