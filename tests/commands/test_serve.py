"""``plancia serve`` and ``plancia open`` as processes: what they say at the start, when they cannot, at the end."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from app.infra.locks import FolderLock
from tests.commands.seat import Ran, Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

READY = "Plancia is ready: "

Serve = Callable[..., tuple[subprocess.Popen[bytes], str]]


@pytest.fixture
def serve(seat: Seat) -> Iterator[Serve]:
    """Starts a server on a free port; returns it and the address it printed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
        process = seat.start("serve", "--port", "0", "--no-open", *words, **environment)
        started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith(READY), process.communicate(timeout=30)
        return process, line.removeprefix(READY).strip()

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def get(url: str) -> httpx.Response:
    with httpx.Client(trust_env=False) as client:
        return client.get(url)


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> Ran:
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    return Ran(process.returncode, out.decode(), err.decode())


def test_one_line_says_where_the_page_is_and_that_it_answers(serve: Serve) -> None:
    process, url = serve()
    assert get(url.replace("/?token=", "/healthz?")).json()["status"] == "ok"
    assert get(url).status_code == 303
    assert end(process) == Ran(0, "", "")


def test_ctrl_c_ends_it_too(serve: Serve) -> None:
    process, _ = serve()
    assert end(process, signal.SIGINT) == Ran(130, "", "")


def test_a_note_says_how_to_get_in_while_it_is_ready(serve: Serve, seat: Seat) -> None:
    process, url = serve("--token", "t0ken/with&signs")
    note = json.loads(seat.folder.server.read_bytes())
    assert note == {"url": url.partition("/?")[0], "token": "t0ken/with&signs", "pid": process.pid}
    assert url.endswith("/?token=t0ken%2Fwith%26signs")
    assert stat.S_IMODE(seat.folder.server.stat().st_mode) == 0o600
    end(process)
    assert not seat.folder.server.exists()


def test_a_token_of_the_environment_is_used(serve: Serve) -> None:
    _, url = serve(PLANCIA_TOKEN="from-outside")
    assert url.endswith("/?token=from-outside")


def test_a_taken_port_is_said_with_the_way_out(seat: Seat) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = seat.wait(seat.start("serve", "--no-open", "--port", str(port)))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        f"Port {port} is taken by another program. Choose another one with --port, or let the system choose with "
        "`--port 0`.\n"
    )


def test_a_second_server_on_the_folder_is_refused(serve: Serve, seat: Seat) -> None:
    process, url = serve()
    port = url.partition("/?")[0].rpartition(":")[2]
    for words in (("--port", "0"), ("--port", port)):
        ran = seat.wait(seat.start("serve", "--no-open", *words))
        assert (ran.code, ran.out) == (1, "")
        assert f"already running on {seat.folder.root} (process {process.pid})" in ran.err
    assert get(url.replace("/?token=", "/healthz?")).status_code == 200
    assert json.loads(seat.folder.server.read_bytes())["pid"] == process.pid


def test_what_is_wrong_with_the_store_is_one_sentence(seat: Seat) -> None:
    seat.folder.create()
    seat.folder.database.write_bytes(b"no database at all" * 100)
    ran = seat.wait(seat.start("serve", "--no-open", "--port", "0"))
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1
    assert "cannot be read" in ran.err
    assert seat.folder.database.read_bytes() == b"no database at all" * 100


def test_an_address_for_other_machines_needs_a_token(seat: Seat) -> None:
    ran = seat("serve", "--host", "0.0.0.0", "--port", "0", "--no-open")
    assert ran.code == 2
    assert "needs a token" in ran.err


def test_with_a_token_other_machines_may_come(serve: Serve) -> None:
    _, url = serve("--host", "0.0.0.0", "--token", "of-my-choice")
    assert url.startswith("http://127.0.0.1:")
    assert get(url.replace("/?token=", "/healthz?")).status_code == 200


def test_a_workspace_that_is_a_file_is_refused_at_once(seat: Seat) -> None:
    file = seat.home / "notes.txt"
    file.touch()
    ran = seat("serve", "--workspace", str(file), "--port", "0", "--no-open")
    assert (ran.code, ran.out) == (2, "")
    assert "that is a file" in ran.err


def test_a_workspace_that_is_not_there_is_refused_and_not_made(seat: Seat) -> None:
    missing = seat.home / "nope"
    ran = seat("serve", "--workspace", str(missing), "--port", "0", "--no-open")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no such folder" in ran.err
    assert not missing.exists()


@pytest.mark.parametrize("token", ["two words", "käse", "line\nbreak"])
def test_a_token_that_no_address_can_hold_is_refused(seat: Seat, token: str) -> None:
    assert seat("serve", "--token", token, "--port", "0", "--no-open").code == 2


def test_commands_on_settings_work_beside_a_server(serve: Serve, seat: Seat) -> None:
    serve()
    assert seat("settings", "set", "composer.enter", "queue").code == 0
    assert seat("settings", "get", "composer.enter").out == "queue\n"
    assert seat("provider", "list").code == 0
    assert seat("run", "Hi").code == 1


def test_an_end_stops_runs_and_open_streams(serve: Serve, seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    process, url = serve()
    base = url.partition("/?")[0]
    llm.script(hold(say("Half of", " it"), after=1))
    with httpx.Client(trust_env=False, base_url=base, headers={"origin": base}, timeout=30) as browser:
        browser.get(url)
        made = browser.post("/conversations", data={"text": "Tell me", "client_id": "c1"})
        page = made.headers["location"]
        llm.wait_held()
        with browser.stream("GET", f"{page}/stream") as stream:
            assert stream.status_code == 200
            ran = end(process)
    assert (ran.code, ran.err) == (0, "")
    assert llm.wait_ended(len(llm.requests()) - 1)["ended"] == "left"
    llm.script(say("And on."))
    assert seat("run", "Go on", "--conversation", page.rpartition("/")[2]).code == 0


def test_open_opens_a_browser_on_the_running_server(serve: Serve, seat: Seat) -> None:
    _, url = serve()
    browser = _browser(seat.home)
    ran = seat.wait(seat.start("open", BROWSER=str(browser)))
    assert (ran.code, ran.out, ran.err) == (0, f"{url}\n", "")
    assert (seat.home / "opened").read_text().strip() == url


def test_a_start_opens_a_browser_where_it_is_asked_to(seat: Seat) -> None:
    browser = _browser(seat.home)
    os.mkfifo(seat.home / "opened")
    process = seat.start("serve", "--port", "0", "--open", BROWSER=str(browser))
    opened = (seat.home / "opened").read_text().strip()
    ran = end(process)
    assert (ran.code, ran.out) == (0, f"{READY}{opened}\n")


def test_open_without_a_server_says_how_to_start_one(seat: Seat) -> None:
    ran = seat("open")
    assert (ran.code, ran.err) == (
        1,
        f"No Plancia is running on {seat.folder.root}. Start one with `plancia`.\n",
    )


def test_open_says_who_has_the_folder_where_that_one_has_no_page(seat: Seat, llm: FakeLLM) -> None:
    llm.script(hold(say("Half of", " it"), after=1))
    seat.with_model(llm)
    process = seat.start("run", "Tell me")
    llm.wait_held()
    for words in (("open",), ("serve", "--port", "0", "--no-open")):
        ran = seat(*words)
        assert ran.code == 1
        assert f"process {process.pid}, without a page" in ran.err
        assert "plancia open" not in ran.err
    llm.release()
    assert seat.wait(process).code == 0


def test_open_is_not_misled_by_the_note_of_a_server_that_crashed(serve: Serve, seat: Seat) -> None:
    process, _ = serve()
    end(process, signal.SIGKILL)
    assert seat.folder.server.exists()
    assert seat("open").code == 1
    with FolderLock(seat.folder):
        pass
    process, _ = serve()
    assert json.loads(seat.folder.server.read_bytes())["pid"] == process.pid


def _browser(folder: Path) -> Path:
    """A browser that writes down what it is asked to open."""
    program = folder / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > "{folder}/opened"\n')
    program.chmod(0o700)
    return program
