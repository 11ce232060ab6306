"""With a server of one's own as the only model, nothing leaves this machine: not for a turn, not for a summary."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands.seat import Ran, Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

GUARD = """
import os, sys

def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        place = arguments[0] if event in ("socket.getaddrinfo", "socket.gethostbyname") else arguments[1]
        host = place[0] if isinstance(place, tuple) else place
        with open(os.environ["REACHED"], "a") as reached:
            reached.write(f"{event} {host}\\n")

sys.addaudithook(note)
"""
"""Every Python that starts with it on its path writes down whom it looks up and whom it connects to."""
HOME = ("127.0.0.1", "localhost", "::1", "None")


class Sentinel:
    """A proxy that nobody should come to: it only listens."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def was_reached(self, *, within: float = 0) -> bool:
        """Whether anybody ever connected, or does within so many seconds: the system keeps who did in line."""
        self._listener.settimeout(within)
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, TimeoutError):
            return False
        connection.close()
        return True

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def sentinel() -> Iterator[Sentinel]:
    with closing(Sentinel()) as listening:
        yield listening


class Watched:
    """A seat whose commands run in processes of their own, between the guard and the sentinel."""

    def __init__(self, folder: Path, sentinel: Sentinel) -> None:
        self.seat = Seat(folder)
        self._reached = folder / "reached"
        guard = folder / "guard"
        guard.mkdir()
        (guard / "sitecustomize.py").write_text(GUARD)
        proxies = dict.fromkeys(
            ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), sentinel.url
        )
        around = {"PYTHONPATH": str(guard), "REACHED": str(self._reached)}
        self._environment = {**proxies, **around, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}

    def start(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        return self.seat.start(*words, **self._environment, **environment)

    def run(self, *words: str) -> Ran:
        return self.seat.wait(self.start(*words))

    def reached(self) -> set[str]:
        """All hosts that were looked up or connected to, as far as they are not this machine."""
        lines = self._reached.read_text().splitlines()
        assert lines, "the guard saw nothing at all"
        return {host for line in lines if (host := line.partition(" ")[2]) not in HOME}


def test_a_whole_session_with_a_local_server_reaches_no_other_host(
    tmp_path: Path, llm: FakeLLM, sentinel: Sentinel
) -> None:
    here = Watched(tmp_path, sentinel)
    here.seat.with_model(llm, "--context", "16000")
    (here.seat.workspace / "notes.md").write_text("milk\n" * 400)
    llm.always(say("So be it."))
    llm.script(say(calls=[call("read_file", {"path": "notes.md"})]))
    conversation = here.run("run", "What is in my notes?", "--json").events[0]["conversation"]
    more = ("--conversation", conversation, "--json")
    runs = [here.run("run", "Take this down: " + "word " * 4_000, *more) for _ in range(4)]
    assert [ran.code for ran in runs] == [0, 0, 0, 0]
    assert "compaction" in {event["type"] for ran in runs for event in ran.events}
    assert here.reached() == set()
    assert not sentinel.was_reached()


def test_summaries_of_another_local_model_reach_no_other_host_and_it_is_the_one_that_writes_them(
    tmp_path: Path, llm: FakeLLM, sentinel: Sentinel
) -> None:
    here = Watched(tmp_path, sentinel)
    here.seat.with_model(llm, "--model", "helper", "--context", "16000")
    assert here.seat("settings", "set", "model.auxiliary", "fake/helper").code == 0
    llm.always(say("So be it."))
    conversation = here.run("run", "Hello", "--json").events[0]["conversation"]
    more = ("--conversation", conversation, "--json", "--model", "fake/fake-model")
    runs = [here.run("run", "Take this down: " + "word " * 4_000, *more) for _ in range(4)]
    assert [ran.code for ran in runs] == [0, 0, 0, 0]
    summaries = [body for body in llm.bodies() if "You write the summary" in body["messages"][0]["content"]]
    assert {body["model"] for body in summaries} == {"helper"}
    assert {body["model"] for body in llm.bodies() if body not in summaries} == {"fake-model"}
    assert here.reached() == set()
    assert not sentinel.was_reached()


def test_a_host_elsewhere_would_have_been_seen(tmp_path: Path, sentinel: Sentinel) -> None:
    here = Watched(tmp_path, sentinel)
    process = here.start("run", "Hello", "--model", "openai/gpt-4o", OPENAI_API_KEY="sk-test-0123456789")
    try:
        assert sentinel.was_reached(within=30)
    finally:
        process.kill()
        process.communicate()
