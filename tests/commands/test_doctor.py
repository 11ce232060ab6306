"""``plancia doctor``: what is wrong, in words, and the repairs that cannot lose anything."""

from __future__ import annotations

import json

from app.infra.clock import SystemClock
from app.infra.locks import FolderLock
from app.models.backups import back_up_daily
from tests.commands.seat import Ran, Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import say


def state(ran: Ran, about: str) -> str:
    """The worst that was found about one thing."""
    found = [each["state"] for each in ran.json if each["about"] == about]
    return max(found, key=["ok", "note", "problem"].index, default="nothing")


def test_a_healthy_folder_has_nothing_wrong(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    seat("run", "Hi")
    ran = seat("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert "✗" not in ran.out
    assert "fake/fake-model is asked" in ran.out
    assert "Transcripts that were read: 1." in ran.out


def test_each_finding_as_json_says_whether_it_can_be_repaired(seat: Seat) -> None:
    seat("settings", "list")
    ran = seat("doctor", "--json")
    assert ran.code == 0
    assert all(each.keys() == {"about", "state", "text", "fixable"} for each in ran.json)
    assert {"version", "folder", "disk", "owner", "port", "database"} <= {each["about"] for each in ran.json}


def test_looking_makes_nothing(seat: Seat) -> None:
    assert seat("doctor", "--fix").code == 0
    assert not seat.folder.root.exists()


def test_the_note_of_a_server_that_is_gone_is_removed_when_asked(seat: Seat) -> None:
    seat("settings", "list")
    seat.folder.server.write_text(json.dumps({"url": "http://127.0.0.1:1", "token": "t", "pid": 2**30}))
    assert "`plancia doctor --fix` repairs this." in seat("doctor").out
    assert seat.folder.server.exists()
    assert "server.json is removed." in seat("doctor", "--fix").out
    assert not seat.folder.server.exists()


def test_the_note_of_a_server_that_runs_is_left_alone(seat: Seat) -> None:
    seat("settings", "list")
    seat.folder.server.write_text("{}")
    with FolderLock(seat.folder):
        assert seat("doctor", "--fix").code == 0
    assert seat.folder.server.exists()


def test_a_folder_that_others_may_look_into_is_closed_when_asked(seat: Seat) -> None:
    seat("settings", "list")
    seat.folder.root.chmod(0o755)
    assert seat("doctor").code == 1
    assert seat("doctor", "--fix").code == 0
    assert seat.folder.root.stat().st_mode & 0o777 == 0o700


def test_a_damaged_database_is_a_problem_and_is_left_as_it_is(seat: Seat) -> None:
    seat("settings", "list")
    seat.folder.database.write_bytes(b"rubbish" * 1000)
    ran = seat("doctor", "--json", "--fix")
    assert (ran.code, state(ran, "database")) == (1, "problem")
    assert state(ran, "transcripts") == "nothing"
    assert seat.folder.database.read_bytes() == b"rubbish" * 1000


def test_a_damaged_database_is_put_right_from_its_backup_when_asked(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    llm.always(say("Here."))
    seat("run", "Hi")
    back_up_daily(seat.folder.database, seat.folder.backups, SystemClock().now())
    seat.folder.database.write_bytes(b"rubbish" * 1000)
    refused = seat("run", "Hi again")
    assert refused.code == 1
    assert "plancia doctor --fix" in refused.err
    assert "`plancia doctor --fix` repairs this." in seat("doctor").out
    assert seat("doctor", "--fix").code == 0
    assert seat("doctor").code == 0
    assert seat("run", "Hi again").code == 0


def test_it_is_not_touched_under_somebody_who_has_the_folder(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)("run", "Hi")
    back_up_daily(seat.folder.database, seat.folder.backups, SystemClock().now())
    seat.folder.database.write_bytes(b"rubbish" * 1000)
    with FolderLock(seat.folder):
        ran = seat("doctor", "--fix")
    assert ran.code == 1
    assert "It could not be repaired (Plancia is already running" in ran.out
    assert seat.folder.database.read_bytes() == b"rubbish" * 1000


def test_a_file_in_place_of_the_folder_is_a_problem(seat: Seat) -> None:
    seat.folder.root.write_text("in the way")
    ran = seat("doctor", "--json")
    assert (ran.code, state(ran, "folder"), state(ran, "database")) == (1, "problem", "nothing")
