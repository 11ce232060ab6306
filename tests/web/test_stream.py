"""The stream over its connection: frames come as things happen, and a reader that was cut loses and doubles nothing."""

from __future__ import annotations

import random
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.engine.provider import CallFragment, Stop, TextChunk
from app.engine.scripted import ScriptedModel, say
from app.group_chat.bus import ROOM_EVENTS_KEPT
from app.group_chat.room import Room
from app.web.page_feed import FRAMES_KEPT, PageFeed
from tests.web.live_page import LivePage
from tests.web.pages import HTMX, Open, OpenByHand, open_by_hand, open_page
from tests.web.readers import Reader, address_of, assert_same, expect_same

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("stream")) as opened:
        yield opened


@pytest.fixture
async def room(opened: OpenByHand) -> AsyncIterator[Room]:
    room = opened.conversation()
    yield room
    await room.stop()
    opened.hand.forget()


class Line:
    """An open page on a real connection, that can be cut."""

    def __init__(self, opened: Open, page: LivePage) -> None:
        self.opened = opened
        self.page = page
        self.last: str | None = None

    async def read_to(self, fresh: LivePage) -> None:
        """Connect as the page does, take everything up to where a loaded page stands, and cut the line."""
        if self.page.cursor == fresh.cursor:
            return
        async with self.opened.browser.stream(self.page.stream_address, self.last) as stream:
            for message in await stream.until(fresh.cursor):
                if self.page.cursor != fresh.cursor:
                    self.page.take(message)
        self.last = self.page.cursor

    async def read_some(self, fresh: LivePage, count: int) -> None:
        """The same, but the line is cut after so many frames."""
        if self.page.cursor == fresh.cursor:
            return
        async with self.opened.browser.stream(self.page.stream_address, self.last) as stream:
            for message in (await stream.until(fresh.cursor))[:count]:
                self.page.take(message)
        self.last = self.page.cursor


async def test_the_stream_says_what_it_is_and_is_kept_by_nobody(opened: OpenByHand, room: Room) -> None:
    page = await opened.browser.load(address_of(room))
    async with opened.browser.stream(page.stream_address) as stream:
        await opened.browser.post(f"{address_of(room)}/title", {"title": "A name"}, HTMX)
        await stream.until_text("A name")
    assert stream.status == 200
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    assert "content-security-policy" in stream.headers


async def test_a_head_of_the_stream_ends_at_once(opened: OpenByHand, room: Room) -> None:
    with anyio.fail_after(5):
        got = await opened.browser.head(f"{address_of(room)}/stream")
    assert (got.status, got.body) == (200, b"")


async def test_frames_come_by_themselves_and_in_order(opened: OpenByHand, room: Room) -> None:
    page = await opened.browser.load(address_of(room))
    async with opened.browser.stream(page.stream_address) as stream:
        await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
        await opened.hand.settle(room)
        for piece in ("one ", "two ", "three ", "four "):
            opened.hand.give("model", TextChunk(piece))
            await stream.until_text(piece.strip())
    numbers = [int(message.id.rpartition("-")[2]) for message in stream.messages]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_pieces_that_come_together_go_out_together(opened: OpenByHand, room: Room) -> None:
    page = await opened.browser.load(address_of(room))
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
    await opened.hand.settle(room)
    async with opened.browser.stream(page.stream_address) as stream:
        opened.hand.give("model", *[TextChunk(f"w{n} ") for n in range(500)])
        await stream.until_text("w499")
    assert len(stream.messages) < 50


async def test_nothing_is_drawn_where_nobody_reads(opened: OpenByHand, room: Room) -> None:
    page = await opened.browser.load(address_of(room))
    async with opened.browser.stream(page.stream_address):
        await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
        await opened.hand.settle(room)
    feed = opened.feed(room)
    feed.draw()
    drawn = feed.feed.number
    opened.hand.give("model", *[TextChunk("word ")] * 50)
    await opened.hand.settle(room)
    assert feed.feed.number == drawn
    fresh = await opened.browser.load(address_of(room))
    assert feed.feed.number == drawn + 1
    assert "word " * 10 in fresh.articles[-1].text


async def test_what_was_due_is_called_off_when_the_last_reader_leaves(opened: OpenByHand, room: Room) -> None:
    feed = opened.feed(room)
    async with aclosing(feed.follow(None)) as frames:
        await anext(frames)
        room.tell_conversation()
        assert feed._due is not None
    assert feed._due is None


@pytest.mark.parametrize("seed", range(4))
async def test_a_reader_cut_at_random_places_loses_and_doubles_nothing(
    opened: OpenByHand, room: Room, seed: int
) -> None:
    chance = random.Random(seed)
    lines = [Line(opened, await opened.browser.load(address_of(room))) for _ in range(2)]
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
    items = [TextChunk(f"**w{n}** \n" * chance.randint(1, 3)) for n in range(25)]
    for item in (
        *items,
        CallFragment(0, "c1", "nothing", "{}"),
        Stop("tool_calls"),
        TextChunk("So."),
        Stop("end"),
    ):
        await opened.hand.settle(room)
        opened.hand.give("model", item)
        await opened.hand.settle(room)
        fresh = await opened.browser.load(address_of(room))
        if chance.random() < 0.4:
            await lines[0].read_some(fresh, chance.randint(0, 3))
        if chance.random() < 0.3:
            await lines[1].read_to(fresh)
            assert_same(lines[1].page.shown(), fresh.shown())
    for line in lines:
        await line.read_to(fresh)
        assert_same(line.page.shown(), fresh.shown())


@pytest.mark.parametrize(
    "cursor", ["x", "boot-1", "", "-", "{boot}-999", "{boot}--1", "{boot}-1x", "\x00", "é"]
)
async def test_a_cursor_that_nobody_gave_out_gets_the_whole_page(
    opened: OpenByHand, room: Room, cursor: str
) -> None:
    page = await opened.browser.load(address_of(room))
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("Some *words*"), Stop("end"))
    await opened.hand.settle(room)
    fresh = await opened.browser.load(address_of(room))
    cursor = cursor.format(boot=opened.feed(room).feed.boot)
    address = f"{address_of(room)}/stream"
    async with opened.browser.stream(address, cursor) as stream:
        messages = await stream.until(fresh.cursor)
    assert len(messages) == 1
    page.take(messages[0])
    assert_same(page.shown(), fresh.shown())


async def test_the_header_counts_before_the_address(opened: OpenByHand, room: Room) -> None:
    """A page that reconnects has the address it was loaded with, and the number of its last frame beside it."""
    page = await opened.browser.load(address_of(room))
    for title in ("Ebb", "Flood"):
        await opened.browser.post(f"{address_of(room)}/title", {"title": title}, HTMX)
        fresh = await opened.browser.load(address_of(room))
    async with opened.browser.stream(page.stream_address, fresh.cursor) as stream:
        await opened.browser.post(f"{address_of(room)}/title", {"title": "Slack"}, HTMX)
        await stream.until_text("Slack")
    assert "Ebb" not in stream.text
    assert "Flood" not in stream.text


def fill_ring(feed: PageFeed) -> None:
    """More frames than are kept, with nothing in them."""
    for _ in range(FRAMES_KEPT + 1):
        feed.feed.publish(b": nothing\n\n")


async def test_a_reader_that_fell_out_of_the_ring_gets_the_whole_page(opened: OpenByHand, room: Room) -> None:
    slow, lost = [await Reader.loads(opened, room) for _ in range(2)]
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("Half "))
    await opened.hand.settle(room)
    await slow.catch_up()
    feed = opened.feed(room)
    fill_ring(feed)
    assert feed.feed.since(1) is None
    opened.hand.give("model", TextChunk("and half"))
    await opened.hand.settle(room)
    await expect_same(opened, room, slow, lost)
    opened.hand.give("model", Stop("end"))
    await opened.hand.settle(room)
    await expect_same(opened, room, slow, lost)


async def test_a_reader_that_falls_out_while_it_is_connected_gets_the_whole_page(
    opened: OpenByHand, room: Room
) -> None:
    reader = await Reader.loads(opened, room)
    feed = opened.feed(room)
    frames = feed.follow(reader.cursor)
    await opened.browser.post(f"{address_of(room)}/title", {"title": "First"}, HTMX)
    reader.take(await anext(frames))
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
    await opened.hand.settle(room)
    feed.draw()
    fill_ring(feed)
    room.tell_conversation()
    await anyio.lowlevel.checkpoint()  # drawn at once, so that what comes now waits for the next frame
    opened.hand.give("model", TextChunk("Some "), TextChunk("words"))
    await opened.hand.settle(room)
    reader.take(await anext(frames))
    await frames.aclose()
    fresh = await expect_same(opened, room, reader)
    assert fresh.articles[-1].text.count("Some words") == 1


async def test_more_happened_than_a_room_remembers(opened: OpenByHand, room: Room) -> None:
    reader, lost = [await Reader.loads(opened, room) for _ in range(2)]
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("Half"))
    await opened.hand.settle(room)
    await reader.catch_up()
    opened.hand.give("model", *[TextChunk("a ")] * (ROOM_EVENTS_KEPT + 1))
    await opened.hand.settle(room)
    fresh = await expect_same(opened, room, reader, lost)
    assert fresh.articles[-1].text.count("a ") >= ROOM_EVENTS_KEPT
    opened.hand.give("model", TextChunk(" end"), Stop("end"))
    await opened.hand.settle(room)
    await expect_same(opened, room, reader, lost)


async def test_after_a_restart_the_old_page_becomes_the_new_one(tmp_path: Path) -> None:
    async with open_by_hand(tmp_path / "first") as first:
        room = first.conversation()
        page = await first.browser.load(address_of(room))
        await first.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
        await first.hand.settle(room)
        first.hand.give("model", TextChunk("It is "))
        await first.hand.settle(room)
        await first.clock.sleep(2)
        first.hand.give("model", TextChunk("*half*"))
        await first.hand.settle(room)
        reader = Reader(first, room, page)
        await expect_same(first, room, reader)
        # What lies on the disk now is what a crash would leave behind.
        shutil.copytree(tmp_path / "first", tmp_path / "second")
    async with open_by_hand(tmp_path / "second") as second:
        room = second.bench.bus.room(room.id)
        reader = Reader(second, room, page)
        fresh = await expect_same(second, room, reader)
        assert [article.attributes["data-state"] for article in fresh.articles] == [
            "done",
            "interrupted",
            "done",
        ]
        await second.browser.post(f"{address_of(room)}/resume", {}, HTMX)
        await second.hand.settle(room)
        second.hand.give("model", TextChunk("and the rest"), Stop("end"))
        await second.hand.settle(room)
        await expect_same(second, room, reader)


async def test_a_goodbye_ends_every_stream(tmp_path: Path) -> None:
    async with open_page(tmp_path, model=ScriptedModel(say("Hello"))) as opened:
        room = opened.conversation()
        page = await opened.browser.load(address_of(room))
        async with opened.browser.stream(page.stream_address) as stream:
            await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
            await stream.until_text("Hello")
            opened.app.goodbye()
            with anyio.fail_after(5):
                await stream.ended.wait()


async def test_two_conversations_that_run_at_once_leave_the_list_alone(opened: OpenByHand) -> None:
    first, second = opened.conversation(), opened.conversation()
    reader = await Reader.loads(opened, first)
    for room in (first, second):
        await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"}, HTMX)
        await opened.hand.settle(room)
        opened.hand.give("model", TextChunk("word"))
        await opened.hand.settle(room)
        await expect_same(opened, first, reader)
    for room in (first, second, first, second):
        room.board.add("notice", member="commander", turn=None, data={"notice": "compaction"})
        await opened.clock.sleep(5)
        await expect_same(opened, first, reader)
    for room in (first, second):
        await room.stop()
        await expect_same(opened, first, reader)
