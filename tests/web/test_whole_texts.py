"""The whole text of one message as a file: of its own conversation, to whoever is signed in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.large_results import fit
from app.engine.tools import ToolOutput
from app.hands.results import StoredResults
from app.infra.ids import new_id
from app.workspace import messages
from tests.web.pages import Open, open_page

pytestmark = pytest.mark.anyio

TEXT = "<script>alert(1)</script>\nおわり"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


def keep(opened: Open, conversation: str, kind: messages.MessageKind) -> str:
    return messages.add_message(opened.bench.store, conversation, kind=kind, member="user", text=TEXT).id


async def test_a_text_is_handed_out_as_a_file_of_plain_text(opened: Open) -> None:
    room = opened.conversation()
    message = keep(opened, room.id, "user")
    got = await opened.browser.get(f"/conversations/{room.id}/texts/{message}")
    assert (got.status, got.text) == (200, TEXT)
    assert got.header("content-type") == "text/plain; charset=utf-8"
    assert got.header("content-disposition") == f'attachment; filename="{message}.txt"'
    assert got.header("x-content-type-options") == "nosniff"


async def test_all_that_a_tool_gave_is_handed_out_as_it_was_kept(opened: Open) -> None:
    room = opened.conversation()
    results = StoredResults(opened.bench.folder.results / room.id, new_id)
    text = "".join(f"line {number}\n" for number in range(40_000))
    shortened = (await fit(ToolOutput(text), results)).text
    small, large, lost = (
        messages.add_message(
            opened.bench.store, room.id, kind="tool_call", member="commander", data={"result": result}
        ).id
        for result in ("a few words", shortened, shortened.replace("res_", "res_0"))
    )
    assert (await opened.browser.get(f"/conversations/{room.id}/texts/{small}")).text == "a few words"
    assert (await opened.browser.get(f"/conversations/{room.id}/texts/{large}")).text == text
    assert "are left out here" in (await opened.browser.get(f"/conversations/{room.id}/texts/{lost}")).text


async def test_nothing_else_is_handed_out(opened: Open) -> None:
    room, other = opened.conversation(), opened.conversation()
    for message in (keep(opened, other.id, "user"), keep(opened, room.id, "notice"), "msg_nobody"):
        assert (await opened.browser.get(f"/conversations/{room.id}/texts/{message}")).status == 404
