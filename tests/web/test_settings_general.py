"""General settings: what is saved, what is refused, and what open pages make of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.engine.provider import TextChunk
from app.workspace.settings import get_setting
from tests.web.live_page import LivePage
from tests.web.pages import OpenByHand, open_by_hand
from tests.web.readers import Reader, address_of, expect_same

pytestmark = pytest.mark.anyio
HERE = "/settings"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("general")) as opened:
        yield opened


async def chosen(opened: OpenByHand) -> list[str]:
    page = LivePage.parsed((await opened.browser.get(HERE)).text)
    return [each.attributes["value"] for each in page.all("input") if "checked" in each.attributes]


async def test_a_setting_is_saved_and_said(opened: OpenByHand) -> None:
    for value in ("queue", "steer"):
        got = await opened.browser.post(HERE, {"composer.enter": value})
        assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
        landed = LivePage.parsed((await opened.browser.follow(got)).text)
        toast = landed.find("toast")
        assert toast is not None
        assert toast.text.split()[0] == "Saved."
        assert await chosen(opened) == [value]


@pytest.mark.parametrize("value", ["explode", "<b>", "\x00", "x" * 10_000])
async def test_a_value_that_the_setting_does_not_take_is_refused_in_words(
    opened: OpenByHand, value: str
) -> None:
    before = get_setting(opened.bench.store, "composer.enter")
    got = await opened.browser.post(HERE, {"composer.enter": value})
    if value == "\x00":
        assert got.status == 303
    else:
        assert got.status == 422
        assert "composer.enter takes" in LivePage.parsed(got.text).text
    assert get_setting(opened.bench.store, "composer.enter") == before


async def test_fields_of_other_pages_change_nothing(opened: OpenByHand) -> None:
    before = get_setting(opened.bench.store, "model.default")
    assert (await opened.browser.post(HERE, {"model.default": "x/y", "nothing": "1"})).status == 303
    assert get_setting(opened.bench.store, "model.default") == before


async def test_an_open_page_learns_what_enter_does(opened: OpenByHand) -> None:
    room = opened.conversation()
    reader = await Reader.loads(opened, room)
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"})
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("word"))
    await opened.hand.settle(room)
    for value, key in (("queue", "enter"), ("steer", "modified")):
        await opened.browser.post(HERE, {"composer.enter": value})
        fresh = await expect_same(opened, room, reader)
        assert fresh.element("queue-it").attributes["data-key"] == key
    await room.stop()
