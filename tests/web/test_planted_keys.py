"""Keys that a turn comes across are on no page, in no frame of a stream and in no file that is kept."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest

from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.room import Room
from app.workspace import conversations, messages
from tests.fakes.planted import CALLS, IN_ENVIRONMENT, STORED, VARIABLE, found_in, kept, plant
from tests.web.pages import Open, open_page

pytestmark = pytest.mark.anyio


async def test_no_key_is_on_a_page_in_a_frame_or_in_a_file(tmp_path: Path) -> None:
    calls = [call(name, None, number, **arguments) for number, (name, arguments) in enumerate(CALLS)]
    environment = {VARIABLE: IN_ENVIRONMENT}
    async with open_page(tmp_path, model=ScriptedModel(calls, say("Done.")), **environment) as opened:
        plant(opened.workspace)
        opened.bench.secrets.set("fake/1", STORED)
        room = opened.conversation()
        page = await opened.browser.load(f"/conversations/{room.id}")
        async with opened.browser.stream(page.stream_address) as stream:
            await room.post("Show all.", client_id="c1")
            await allow_all(opened, room)
            await stream.until_text("Done.")
            pages = await all_pages(opened)
        assert "[redacted]" in stream.text
        assert found_in(stream.text) == []
        assert len(pages) > 10
        assert {address: found for address, page in pages.items() if (found := found_in(page))} == {}
    assert [
        path for path in kept(tmp_path / "data") if found_in(path.read_bytes().decode(errors="replace"))
    ] == []


async def allow_all(opened: Open, room: Room) -> None:
    """Until the turn has ended."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_allow, opened, room)
        with anyio.fail_after(60):
            await room.wait_quiet()
        tasks.cancel_scope.cancel()


async def _allow(opened: Open, room: Room) -> None:
    async for _ in room.feed.follow(0):
        for row in messages.list_messages(opened.bench.store, room.id):
            if row.kind == "approval" and row.state == "streaming":
                await room.decide(row.id, "allow_once")


async def all_pages(opened: Open) -> dict[str, str]:
    """What can be reached from the first page, by address."""
    found: dict[str, str] = {}
    ahead = [
        "/",
        *(f"/conversations/{row.id}" for row in conversations.list_recent(opened.bench.store)),
        "/jobs",
    ]
    while ahead:
        address = ahead.pop().partition("#")[0].replace("&amp;", "&")
        if address not in found and "/static/" not in address and "/stream" not in address:
            got = await opened.browser.follow(await opened.browser.get(address))
            found[address] = got.text
            ahead += re.findall(r'(?:href|src|hx-get|action)="(/[^"]*)"', got.text)
    return found
