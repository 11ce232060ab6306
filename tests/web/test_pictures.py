"""Pictures that a model was shown: seen in the card, served from this conversation alone, harmless by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.group_chat.room import Room
from app.web.views import message_view
from app.workspace import conversations
from tests.fakes.pictures import png
from tests.web.dom import elements, read
from tests.web.pages import Open, open_page
from tests.web.samples import TEMPLATES, row

pytestmark = pytest.mark.anyio

CALL = {
    "call_id": "c",
    "name": "read_file",
    "arguments": {"path": "chart.png"},
    "result": "[chart.png: a picture]",
}


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


def keep(opened: Open, room: Room, name: str, data: bytes) -> None:
    folder = opened.bench.folder.results / room.id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


async def test_a_picture_is_served_as_nothing_but_a_picture(opened: Open) -> None:
    room = opened.conversation()
    keep(opened, room, "img_1.png", png(3, 2))
    got = await opened.browser.get(f"/conversations/{room.id}/pictures/img_1.png")
    assert (got.status, got.body) == (200, png(3, 2))
    assert got.header("content-type") == "image/png"
    assert got.header("x-content-type-options") == "nosniff"
    assert got.header("cache-control") == "no-store"
    assert "default-src 'none'; sandbox" in (got.header("content-security-policy") or "")


@pytest.mark.parametrize(
    "name", ["res_1.txt", "img_2.png", "img_1.svg", "img_1.png.txt", "..%2Fimg_1.png", "img_1.png%00", "."]
)
async def test_nothing_else_is_served(opened: Open, name: str) -> None:
    room = opened.conversation()
    for kept in ("img_1.png", "res_1.txt", "img_1.svg"):
        keep(opened, room, kept, b"<svg onload=alert(1)>")
    assert (await opened.browser.get(f"/conversations/{room.id}/pictures/{name}")).status == 404


async def test_a_picture_of_another_or_a_deleted_conversation_is_not_there(opened: Open) -> None:
    room, other = opened.conversation(), opened.conversation()
    keep(opened, room, "img_1.png", png())
    assert (await opened.browser.get(f"/conversations/{other.id}/pictures/img_1.png")).status == 404
    conversations.delete(opened.bench.store, room.id)
    assert (await opened.browser.get(f"/conversations/{room.id}/pictures/img_1.png")).status == 404


def test_the_card_shows_what_the_model_was_shown_and_opens_it() -> None:
    card = message_view(row("tool_call", **CALL, pictures=["results/conv_1/img_1.png"]))
    article = read(TEMPLATES.render_message(card))
    (image,) = [each for each in elements(article) if each.tag == "img"]
    assert image.get("src") == "/conversations/conv_1/pictures/img_1.png"
    assert image.get("alt") == "chart.png, as the model was shown it"
    assert [each.get("href") for each in elements(article) if each.tag == "a"] == [image.get("src")]


@pytest.mark.parametrize(
    "ref", ["results/conv_2/img_1.png", "/etc/passwd", "https://evil.example/x.png", "", 7]
)
def test_a_reference_that_leads_elsewhere_is_no_picture(ref: object) -> None:
    html = TEMPLATES.render_message(message_view(row("tool_call", **CALL, pictures=[ref])))
    assert "<img" not in html
