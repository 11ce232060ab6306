"""The feed: every reader sees every item once, in order, or is told that it has fallen behind."""

from __future__ import annotations

import asyncio
from weakref import WeakSet

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.infra.feed import Feed, Gap


def feed_of(count: int, keep: int = 10, boot: str = "b1") -> Feed[str]:
    feed: Feed[str] = Feed(boot, keep)
    for number in range(1, count + 1):
        assert feed.publish(f"item {number}") == number
    return feed


def test_a_new_feed_stands_at_zero() -> None:
    feed = feed_of(0)
    assert (feed.number, feed.cursor, feed.since(0)) == (0, "b1-0", [])


def test_a_reader_gets_what_it_has_not_seen() -> None:
    feed = feed_of(3)
    assert feed.since(1) == [(2, "item 2"), (3, "item 3")]
    assert feed.since(3) == []


def test_what_left_the_ring_is_a_gap_and_not_a_shorter_list() -> None:
    feed = feed_of(15, keep=10)
    assert feed.since(4) is None
    kept = feed.since(5)
    assert kept is not None
    assert [number for number, _ in kept] == list(range(6, 16))


def test_a_number_that_was_never_given_out_is_a_gap_too() -> None:
    assert feed_of(3).since(4) is None
    assert feed_of(3).since(-1) is None


def test_a_feed_that_keeps_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Feed("b1", 0)


def test_a_cursor_leads_back_to_its_number() -> None:
    feed = feed_of(7)
    assert feed.cursor == "b1-7"
    assert feed.parse("b1-7") == 7
    assert feed.parse("b1-0") == 0


def test_a_boot_may_hold_hyphens() -> None:
    assert feed_of(2, boot="2026-11-30").parse("2026-11-30-2") == 2


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "b1",
        "b1-",
        "-3",
        "b2-3",
        "b1-4",
        "b1--3",
        "b1-03",
        "b1- 3",
        "b1-3 ",
        "b1-3\n",
        "b1-٣",
        "b1-1e0",
        "b1-+1",
        "b1-" + "9" * 5000,
        "b-3",
        "B1-3",
        "b1-3-3",
    ],
)
def test_a_foreign_a_broken_or_a_future_cursor_is_nothing(cursor: str) -> None:
    assert feed_of(3).parse(cursor) is None


@pytest.mark.anyio
async def test_a_follower_gets_everything_that_is_pending_in_one_batch() -> None:
    feed = feed_of(3)
    followed = feed.follow(1)
    assert await anext(followed) == [(2, "item 2"), (3, "item 3")]


@pytest.mark.anyio
async def test_a_waiting_follower_is_woken() -> None:
    feed = feed_of(0)
    seen: list[int] = []

    async def read() -> None:
        async for batch in feed.follow(0):
            seen.extend(number for number, _ in batch)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        for number in range(1, 6):
            feed.publish(f"item {number}")
            await anyio.lowlevel.checkpoint()
        feed.close()
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.anyio
async def test_closing_ends_the_followers_after_what_was_published() -> None:
    feed = feed_of(2)
    feed.close()
    assert [batch async for batch in feed.follow(0)] == [[(1, "item 1"), (2, "item 2")]]


@pytest.mark.anyio
async def test_a_slow_reader_falls_out_and_the_fast_one_does_not_wait_for_it() -> None:
    feed: Feed[str] = Feed("b1", keep=4)
    fast, slow = feed.follow(0), feed.follow(0)
    feed.publish("item 1")
    assert await anext(slow) == [(1, "item 1")]
    seen = [number for number, _ in await anext(fast)]
    for number in range(2, 12):
        feed.publish(f"item {number}")
        seen += [each for each, _ in await anext(fast)]
    assert seen == list(range(1, 12))
    with pytest.raises(Gap) as gap:
        await anext(slow)
    assert gap.value.number == 11


@pytest.mark.anyio
async def test_a_reader_that_goes_away_while_it_waits_leaves_nothing_behind() -> None:
    feed = feed_of(0)
    with anyio.move_on_after(0):
        await anext(feed.follow(0))
    feed.publish("item 1")
    assert await anext(feed.follow(0)) == [(1, "item 1")]


@pytest.mark.anyio
async def test_a_thousand_readers_share_one_item_and_one_batch() -> None:
    feed: Feed[bytes] = Feed("b1", keep=50)
    batches: list[list[tuple[int, bytes]]] = []

    async def read() -> None:
        batches.append(await anext(feed.follow(0)))

    async with anyio.create_task_group() as group:
        for _ in range(1000):
            group.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        feed.publish(b"encoded once")
    assert len(batches) == 1000
    assert len({id(batch) for batch in batches}) == 1


class Item:
    """Something whose end can be seen."""


def test_what_left_the_ring_is_let_go() -> None:
    feed: Feed[Item] = Feed("b1", keep=8)
    alive: WeakSet[Item] = WeakSet()
    for _ in range(1000):
        item = Item()
        alive.add(item)
        feed.publish(item)
        feed.since(feed.number - 1)
    del item
    assert len(alive) == 8


@given(
    keep=st.integers(1, 6),
    steps=st.lists(st.tuples(st.sampled_from(["publish", "read"]), st.integers(0, 3)), max_size=60),
)
def test_any_interleaving_shows_each_reader_everything_once_in_order_or_a_gap(
    keep: int, steps: list[tuple[str, int]]
) -> None:
    asyncio.run(_interleave(keep, steps))


async def _interleave(keep: int, steps: list[tuple[str, int]]) -> None:
    feed: Feed[int] = Feed("b1", keep)
    followers = [feed.follow(0) for _ in range(4)]
    seen: list[list[int]] = [[] for _ in followers]
    for act, who in steps:
        if act == "publish":
            feed.publish(feed.number + 1)
        elif len(seen[who]) < feed.number:
            try:
                batch = await anext(followers[who])
            except Gap as gap:
                assert feed.number - len(seen[who]) > keep
                followers[who], seen[who] = feed.follow(gap.number), list(range(1, gap.number + 1))
            else:
                assert all(number == item for number, item in batch)
                seen[who] += [number for number, _ in batch]
        assert seen[who] == list(range(1, len(seen[who]) + 1))


def test_a_watcher_hears_each_item_until_it_ends() -> None:
    feed, heard = feed_of(1), []
    end = feed.watch(lambda: heard.append(feed.number))
    feed.publish("a")
    end()
    feed.publish("b")
    assert heard == [2]


def test_a_watcher_that_breaks_keeps_nobody_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    feed, heard = feed_of(0), []

    def broken() -> None:
        raise ZeroDivisionError

    feed.watch(broken)
    feed.watch(lambda: heard.append(feed.number))
    assert feed.publish("a") == 1
    assert heard == [1]
    assert [record.msg for record in caplog.records] == ["watcher_broke"]
