"""``kill -9`` of the server at random moments: nothing that was shown is lost, nothing happens twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from e2e.pilot import Pilot
from e2e.server import Server
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

MODEL = "openai/fake"
SIZE = 1_500_000
SMALL = 200_000
WORDS = [f"word{number} " for number in range(60)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each process that has to die; many more than by default with ``--kills``."""
    if "number" in metafunc.fixturenames:
        metafunc.parametrize("number", range(metafunc.config.getoption("--kills")))


@pytest.fixture
def ship(server: Server, llm: FakeLLM) -> Server:
    """A server whose model is the fake one."""
    server.settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.base_url, "PLANCIA_MODEL": MODEL}
    return server


def kill_at(server: Server, after: float) -> None:
    """Kill the server that many seconds from now, whatever it is doing then."""
    gone = threading.Event()

    def strike() -> None:
        server.kill()
        gone.set()

    threading.Timer(after, strike).start()
    assert gone.wait(30)


def children_left(group: int) -> list[int]:
    """Processes of a server's group that outlived it."""
    left = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            left.append(int(entry.parent.name))
    return left


def transcript(server: Server) -> list[dict[str, Any]]:
    (file,) = (server.data / "sessions").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_killed_in_the_middle_of_a_stream(ship: Server, llm: FakeLLM, number: int) -> None:
    moment = random.Random(number).uniform(0.02, 0.55)
    llm.script(say(*WORDS, every_ms=10), say("The rest of it."))
    with Pilot(ship.start()) as pilot:
        address = pilot.begin("Count for me")
        llm.requests(at_least=1)
        group = ship.pid
        kill_at(ship, moment)
    assert children_left(group) == []
    with Pilot(ship.start()) as pilot:
        articles = pilot.articles(address)
        assert articles[0] == ("user", "done")
        assert ("notice", "done") in articles
        assert "streaming" not in [state for _, state in articles]
        assert pilot.post(address, "resume") == 303
        pilot.until(address, "The rest of it.")
        assert pilot.articles(address).count(("user", "done")) == 1
    ship.stop()
    said = [json.dumps(line) for line in transcript(ship) if line["role"] == "user"]
    assert sum("Count for me" in line for line in said) == 1


def test_killed_in_the_middle_of_a_tool_call(ship: Server, llm: FakeLLM, number: int) -> None:
    """The tool doubles a file. Whatever the moment, after Continue it was doubled once or not at all."""
    moment = random.Random(number).uniform(0.0, 0.12)
    doubled = {"path": "x.txt", "old_string": "x", "new_string": "xx", "replace_all": True}
    llm.script(
        say(calls=[call("read_file", {"path": "x.txt"}, id="read")]),
        say(calls=[call("edit_file", doubled, id="edit")]),
    )
    llm.always(say("I checked: it is as it should be."))
    file = ship.workspace / "x.txt"
    file.write_text("x" * SIZE)
    with Pilot(ship.start()) as pilot:
        address = pilot.begin("Double the file")
        llm.requests(at_least=2)
        group = ship.pid
        kill_at(ship, moment)
    assert children_left(group) == []
    with Pilot(ship.start()) as pilot:
        assert "streaming" not in [state for _, state in pilot.articles(address)]
        if pilot.post(address, "resume") == 303:
            pilot.until(address, "I checked: it is as it should be.")
    ship.stop()
    size = file.stat().st_size
    assert size in (SIZE, 2 * SIZE)
    results = [
        block["status"]
        for line in transcript(ship)
        for block in line["blocks"]
        if block["type"] == "tool_result" and block["call_id"] == "edit"
    ]
    assert len(results) <= 1
    assert results != ["ok"] or size == 2 * SIZE


def test_killed_in_the_middle_of_three_jobs(ship: Server, llm: FakeLLM, number: int) -> None:
    """Each doubles a file of its own: after Continue all jobs are done, and no file was doubled twice."""
    moment = random.Random(number).uniform(0.0, 0.5)
    members = ("coder", "writer", "analyst")
    jobs = [{"to": member, "message": f"Double {member}.txt"} for member in members]
    calls = [call("dispatch_to", job, id=job["to"]) for job in jobs]
    llm.script(say(calls=calls), member="Commander")
    for member in members:
        (ship.workspace / f"{member}.txt").write_text("x" * SMALL)
        doubled = {"path": f"{member}.txt", "old_string": "x", "new_string": "xx", "replace_all": True}
        llm.script(
            say(calls=[call("read_file", {"path": f"{member}.txt"}, id=f"read {member}")]),
            say(calls=[call("edit_file", doubled, id=f"edit {member}")]),
            say(*WORDS[:20], every_ms=10),
            member=member.title(),
        )
        llm.script(say("I checked: it is as it should be."), member=member.title())
    llm.always(say("All three are done."))
    with Pilot(ship.start()) as pilot:
        address = pilot.begin("Double the three files")
        llm.requests(at_least=2)
        group = ship.pid
        kill_at(ship, moment)
    assert children_left(group) == []
    with Pilot(ship.start()) as pilot:
        assert "streaming" not in [state for _, state in pilot.articles(address)]
        assert {state for _, state, _ in tasks_of(ship)} <= {"done", "interrupted"}
        if pilot.post(address, "resume") == 303:
            pilot.until(address, "All three are done.")
        page = pilot.page(address)
    ship.stop()
    given = tasks_of(ship)
    assert [state for _, state, _ in given] == ["done"] * len(given)
    assert len({call_id for _, _, call_id in given}) == len(given)
    assert all((ship.workspace / f"{member}.txt").stat().st_size <= 2 * SMALL for member in members)
    assert page.count("All three are done.") == 1


def tasks_of(server: Server) -> list[tuple[str, str, str]]:
    """Who has each task, its state, and the call that gave it."""
    with closing(sqlite3.connect(server.data / "plancia.sqlite3")) as database:
        return database.execute("SELECT member, state, call_id FROM tasks ORDER BY created, id").fetchall()


def test_a_second_server_on_the_same_folder_is_refused_until_the_first_is_dead(ship: Server) -> None:
    ship.start()
    os.kill(ship.pid, signal.SIGKILL)
    ship.kill()
    assert ship.start()
