"""A room at work, through the real workbench on the fake model server: workers side by side, the price of sending one,
and a room of fifty members.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from app.group_chat.room import Room
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.workbench import Workbench, open_workbench
from app.workspace import conversations
from bench.figure import Figure, ratio
from e2e.server import Server
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, say

ROUNDS = 5
TURNS = 15
MEMBERS = 50
WORK: Answer = say(*(f"word{number} " for number in range(40)), every_ms=25)
"""A second of a worker's time."""

SHORT = say("High water at noon.")


def measure() -> Iterator[Figure]:
    with FakeLLM() as llm, TemporaryDirectory() as folder:
        yield from asyncio.run(in_one_process(llm, Path(folder)))
    with TemporaryDirectory() as folder:
        yield page_of_many(Path(folder))


async def in_one_process(llm: FakeLLM, folder: Path) -> list[Figure]:
    environment = {"OPENAI_API_KEY": "sk", "OPENAI_BASE_URL": llm.base_url, "PLANCIA_MODEL": "openai/fake"}
    data = DataFolder(folder / "data")
    async with open_workbench(data, environment=environment) as bench:
        await talk(bench, llm, folder)
        one, four, bare, sent = [], [], [], []
        for _ in range(ROUNDS):
            one.append(await workers(bench, llm, folder, 1))
            four.append(await workers(bench, llm, folder, 4))
        few, many = [], []
        for _ in range(TURNS):
            bare.append(await talk(bench, llm, folder))
            sent.append(await send(bench, llm, folder))
            few.append(await first_request(bench, llm, folder))
            with more_members(data):
                many.append(await first_request(bench, llm, folder))
    start, added = median(few), median(sent) - median(bare)
    return [
        ratio("four workers at once, of the time of one", four, one, 1.15, unit="ms", scale=1000),
        Figure(
            "sending one member, of the start of a turn",
            added / start,
            "×",
            2.0,
            f"{added * 1000:.1f} ms added",
        ),
        ratio(f"start of a turn with {MEMBERS} members more", many, few, 1.5, unit="ms", scale=1000),
    ]


async def workers(bench: Workbench, llm: FakeLLM, folder: Path, several: int) -> float:
    """From the message to the end of all."""
    llm.reset()
    calls = [call("run_worker", {"task": f"Part {part}."}, id=f"w{part}") for part in range(several)]
    llm.script(say(calls=calls), SHORT, member="Commander")
    llm.always(WORK)
    return await timed(bench, folder)


async def send(bench: Workbench, llm: FakeLLM, folder: Path) -> float:
    llm.reset()
    llm.script(
        say(calls=[call("dispatch_to", {"to": "coder", "message": "Look."}, id="d")]), member="Commander"
    )
    llm.always(SHORT)
    return await timed(bench, folder)


async def talk(bench: Workbench, llm: FakeLLM, folder: Path) -> float:
    """As many model calls one after the other, by Commander alone."""
    llm.reset()
    looks = [
        say(calls=[call("list_files", {"path": ".", "depth": depth}, id=f"l{depth}")]) for depth in (1, 2)
    ]
    llm.script(*looks, SHORT)
    return await timed(bench, folder)


async def timed(bench: Workbench, folder: Path) -> float:
    """From a message of the user until all is quiet."""
    room = room_of(bench, folder)
    began = time.perf_counter()
    await room.post("Go.", client_id=new_id("said"))
    await room.wait_quiet()
    return time.perf_counter() - began


async def first_request(bench: Workbench, llm: FakeLLM, folder: Path) -> float:
    """From a message of the user until the model server has the request."""
    llm.reset()
    llm.always(SHORT)
    room = room_of(bench, folder)
    began = time.monotonic()
    await room.post("Go.", client_id=new_id("said"))
    await room.wait_quiet()
    return float((await llm.until_requests(1))[0]["at"]["in"]) - began


def room_of(bench: Workbench, folder: Path) -> Room:
    """A new one."""
    workspace = folder / "work"
    workspace.mkdir(exist_ok=True)
    return bench.bus.room(conversations.create_conversation(bench.store, workspace=str(workspace)).id)


@contextmanager
def more_members(data: DataFolder) -> Iterator[list[str]]:
    """Fifty agents beside those that ship, for as long as the block lasts."""
    ids = [f"member-{number}" for number in range(MEMBERS)]
    for id in ids:
        text = f"---\nname: {id.title()}\ndescription: Does what {id} does.\n---\nYou do it.\n"
        (data.agents / f"{id}.md").write_text(text)
    yield ids
    for id in ids:
        (data.agents / f"{id}.md").unlink()


def page_of_many(folder: Path) -> Figure:
    """A conversation to which each of fifty members has said something, loaded anew."""
    server = Server(folder)
    login = server.start()
    try:
        browser = httpx.Client(follow_redirects=True, trust_env=False)
        with browser, more_members(DataFolder(server.data)) as ids:
            address = server.old_conversation(["Who is there?"], ids)
            browser.get(login)
            took = [load(browser, address) for _ in range(TURNS)]
        return Figure(f"page of a conversation of {MEMBERS} members", median(took) * 1000, "ms", 100.0)
    finally:
        server.stop()


def load(browser: httpx.Client, address: str) -> float:
    began = time.perf_counter()
    assert browser.get(address).status_code == 200
    return time.perf_counter() - began
