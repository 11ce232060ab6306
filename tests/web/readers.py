"""Pages that stay open beside others, read at their own pace, and are held against a page that is loaded now."""

from __future__ import annotations

import re
from contextlib import aclosing
from difflib import unified_diff

import pytest

from app.group_chat.room import Room
from app.web.page_feed import PageFeed
from app.web.plain import plain
from tests.web.live_page import LivePage, read_messages
from tests.web.pages import Open


def address_of(room: Room) -> str:
    return f"/conversations/{room.id}"


class Reader:
    """One open page. ``catch_up`` is a connection with its cursor that lasts until everything has come."""

    def __init__(self, opened: Open, room: Room, page: LivePage) -> None:
        self._opened = opened
        self._room = room
        self.page = page
        self.cursor = page.cursor

    @classmethod
    async def loads(cls, opened: Open, room: Room) -> Reader:
        return cls(opened, room, await opened.browser.load(address_of(room)))

    def lose_place(self, cursor: str = "nobody-7") -> None:
        """It will come back with a cursor that the server does not know."""
        self.cursor = cursor
        self.page.applied.clear()

    async def catch_up(self) -> None:
        feed: PageFeed = self._opened.feed(self._room)
        feed.draw()
        if self.cursor == feed.cursor:
            return
        async with aclosing(feed.follow(self.cursor)) as frames:
            self.take(await anext(frames))

    def take(self, frames: bytes) -> None:
        for message in read_messages(frames.decode()):
            self.page.take(message)
        self.cursor = self.page.cursor


async def expect_same(opened: Open, room: Room, *readers: Reader) -> LivePage:
    """Every reader, once it has caught up, shows what a page shows that is loaded now. Returns that page."""
    for reader in readers:
        await reader.catch_up()
    fresh = await opened.browser.load(address_of(room))
    expect_true(room, fresh)
    loaded = fresh.shown()
    for reader in readers:
        assert_same(reader.page.shown(), loaded)
        assert reader.cursor == fresh.cursor
    return fresh


def expect_true(room: Room, page: LivePage) -> None:
    """Of the article that is being written no word stands on the page more often than it was said."""
    for article in page.articles:
        if growing := room.growing(article.id):
            shown = next(each for each in article.walk() if each.attributes.get("data-part") == "text")
            for word in set(re.findall(r"\w{5,}", growing[0])):
                assert shown.text.count(word) <= growing[0].count(word), f"{word!r} is doubled"
            assert page.element(f"{article.id}-thought").text == plain(growing[1].removesuffix("\r"))


def assert_same(shown: list[str], loaded: list[str]) -> None:
    if shown != loaded:
        pytest.fail("\n".join(unified_diff(shown, loaded, "live", "loaded", n=2, lineterm="")), pytrace=False)
