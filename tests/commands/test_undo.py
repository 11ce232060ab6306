"""``plancia undo``: from the terminal, alone and beside a server that has the data folder."""

from __future__ import annotations

from typing import Any

from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.locks import FolderLock
from app.models.database import open_database
from app.workspace import sessions, turns
from app.workspace.store import Store
from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say


def turn(seat: Seat, llm: FakeLLM, text: str = "Write.", **files: str) -> str:
    """A turn that writes these files; the id of its conversation."""
    calls: list[Any] = [
        call("write_file", {"path": name.replace("_", "."), "content": content})
        for name, content in files.items()
    ]
    llm.script(say("Now.", calls=calls), say("Done."))
    ran = seat("run", text, "--workspace", str(seat.workspace), "--json")
    assert ran.code == 0, ran.err
    return str(ran.events[0]["conversation"])


def names(seat: Seat) -> list[str]:
    return sorted(path.name for path in seat.workspace.iterdir())


def test_the_last_turn_of_the_last_conversation_is_taken_back(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    turn(seat, llm, a_md="one\n")
    turn(seat, llm, b_md="two\n", c_md="three\n")
    ran = seat("undo")
    assert (ran.code, ran.out) == (0, "Undone, 2 files:\n  - b.md\n  - c.md\n")
    assert names(seat) == ["a.md"]


def test_the_list_numbers_what_can_be_taken_back_and_an_undo_is_undone(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    turn(seat, llm, "Write the notes.", a_md="one\n")
    assert seat("undo").code == 0
    lines = seat("undo", "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["turn", "1", "2"]
    assert "undone by 2" in lines[1]
    assert "Write the notes." in lines[1]
    assert "undo of 1" in lines[2]
    assert seat("undo", "--turn", "2").code == 0
    assert names(seat) == ["a.md"]


def test_another_conversation_is_named(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    first = turn(seat, llm, a_md="one\n")
    turn(seat, llm, b_md="two\n")
    assert seat("undo", "--conversation", first, "--turn", "1").code == 0
    assert names(seat) == ["b.md"]


def test_what_the_user_changed_in_the_same_place_is_asked_about(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    turn(seat, llm, a_md="one\n")
    note = seat.workspace / "a.md"
    note.write_text("mine\n")
    refused = seat("undo")
    assert (refused.code, "You changed the same: a.md" in refused.err) == (1, True)
    assert seat("undo", typed="\n", watched=True).code == 1
    assert seat("undo", typed="mine\n", watched=True).code == 1
    assert note.read_text() == "mine\n"
    assert seat("undo", typed="before\n", watched=True).code == 0
    assert not note.exists()


def test_there_is_nothing_to_undo(seat: Seat, llm: FakeLLM) -> None:
    assert seat("undo").code == 1
    seat.with_model(llm)
    llm.script(say("Hello."))
    seat("run", "Hi")
    ran = seat("undo")
    assert (ran.code, "has changed a file" in ran.out) == (0, True)


def test_it_is_taken_back_once(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    turn(seat, llm, a_md="one\n")
    seat("undo")
    again = seat("undo")
    assert (again.code, "nothing to bring back" in again.err) == (1, True)


def test_what_is_not_there_is_a_wrong_word(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    turn(seat, llm, a_md="one\n")
    for words in (("--turn", "9"), ("--turn", "0"), ("--conversation", "conv_none")):
        assert seat("undo", *words).code == 2


def test_it_works_beside_whoever_has_the_data_folder_unless_a_turn_is_at_work(
    seat: Seat, llm: FakeLLM
) -> None:
    seat.with_model(llm)
    id = turn(seat, llm, a_md="one\n")
    begin(seat, id)
    with FolderLock(seat.folder):
        refused = seat("undo")
        assert (refused.code, "at work in this folder" in refused.err) == (1, True)
        assert names(seat) == ["a.md"]
    assert seat("undo").code == 0
    assert names(seat) == []


def test_beside_an_idle_server_it_is_done(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    turn(seat, llm, a_md="one\n")
    with FolderLock(seat.folder):
        assert seat("undo").code == 0
    assert names(seat) == []


def begin(seat: Seat, conversation: str) -> None:
    """A turn that a server runs, or that a crash cut off."""
    database = open_database(seat.folder, SystemClock())
    store = Store(database, SystemClock(), new_id)
    session = sessions.session_of(store, conversation, "commander")
    turns.start_turn(store, conversation, member="commander", session=session.id, trigger="continue")
    database.close()
