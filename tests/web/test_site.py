"""One running server as its handlers see it: a feed for each open conversation, kept for those who come back."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator

import pytest

from app.web.site import FEEDS_KEPT
from tests.web.pages import HTMX, OpenByHand, open_by_hand
from tests.web.readers import Reader, address_of, expect_same

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("site")) as opened:
        yield opened


async def test_every_reader_of_a_conversation_has_the_same_feed(opened: OpenByHand) -> None:
    room, other = opened.conversation(), opened.conversation()
    assert opened.feed(room) is opened.feed(room)
    assert opened.feed(room) is not opened.feed(other)
    assert opened.feed(room).feed.boot != opened.feed(other).feed.boot


async def test_a_page_finds_its_place_again_after_many_others_were_open(opened: OpenByHand) -> None:
    room = opened.conversation()
    boot = opened.feed(room).feed.boot
    for _ in range(FEEDS_KEPT - 1):
        opened.feed(opened.conversation())
    gc.collect()
    assert opened.feed(room).feed.boot == boot


async def test_a_feed_that_nobody_has_used_for_long_is_let_go_and_its_page_is_drawn_anew(
    opened: OpenByHand,
) -> None:
    room = opened.conversation()
    reader = await Reader.loads(opened, room)
    boot = opened.feed(room).feed.boot
    for _ in range(FEEDS_KEPT):
        opened.feed(opened.conversation())
    gc.collect()
    await opened.browser.post(f"{address_of(room)}/title", {"title": "Meanwhile"}, HTMX)
    assert opened.feed(room).feed.boot != boot
    await expect_same(opened, room, reader)


async def test_settings_reach_every_open_page(opened: OpenByHand) -> None:
    rooms = [opened.conversation() for _ in range(3)]
    readers = [await Reader.loads(opened, room) for room in rooms]
    before = [opened.feed(room).feed.number for room in rooms]
    opened.site.settings_changed()
    assert [opened.feed(room).feed.number for room in rooms] == [number + 1 for number in before]
    for room, reader in zip(rooms, readers, strict=True):
        await expect_same(opened, room, reader)
