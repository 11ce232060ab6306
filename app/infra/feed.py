"""A numbered feed: one ring of items that any number of readers follow at their own pace.

A reader is nothing but a number, "I have seen everything up to n". Whoever is slower than the ring is long
gets a ``Gap`` and reads the truth anew; nobody waits for anybody. An item is kept as it was published, so
what is encoded before publishing is encoded once for all readers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from app.infra.logs import failure

T = TypeVar("T")

_CURSOR = re.compile(r"(?P<boot>.+)-(?P<number>0|[1-9][0-9]{0,17})", re.DOTALL | re.ASCII)


class Gap(Exception):
    """The ring no longer holds what the reader has not seen. Load the whole state, then follow from ``number``."""

    def __init__(self, number: int) -> None:
        super().__init__(f"The feed has moved on; load everything again and follow from {number}.")
        self.number = number


class Feed(Generic[T]):
    """Items numbered 1, 2, 3, … since the start named ``boot``; the last ``keep`` of them stay readable.

    Belongs to one event loop; ``publish`` never waits.
    """

    def __init__(self, boot: str, keep: int) -> None:
        if keep < 1:
            raise ValueError("A feed keeps at least one item.")
        self.boot = boot
        self._keep = keep
        self._ring: list[T] = []
        self._number = 0
        self._closed = False
        self._bell: asyncio.Event | None = None
        self._watchers: list[Callable[[], None]] = []
        self._latest: tuple[int, list[tuple[int, T]]] = (0, [])

    @property
    def number(self) -> int:
        """Number of the newest item; 0 before the first."""
        return self._number

    @property
    def cursor(self) -> str:
        """``boot-n``: what a page shows after it has drawn everything up to item n."""
        return f"{self.boot}-{self._number}"

    def parse(self, cursor: str) -> int | None:
        """The number in a cursor of this feed; None for another boot, garbage, or a number not given out yet."""
        match = _CURSOR.fullmatch(cursor)
        if match is None or match["boot"] != self.boot:
            return None
        number = int(match["number"])
        return number if number <= self._number else None

    def publish(self, item: T) -> int:
        """Add at the end and wake the readers; returns the item's number."""
        if len(self._ring) < self._keep:
            self._ring.append(item)
        else:
            self._ring[self._number % self._keep] = item
        self._number += 1
        self._ring_bell()
        for heard in tuple(self._watchers):
            try:
                heard()
            except Exception as error:  # noqa: BLE001 - what a watcher does wrong is not the publisher's trouble
                failure("watcher_broke", error)
        return self._number

    def since(self, number: int) -> list[tuple[int, T]] | None:
        """Every item after ``number``, oldest first; None where some of them are gone, or it was never given out.

        Readers that stand at the same place share one list: do not change it.
        """
        if not self._number - len(self._ring) <= number <= self._number:
            return None
        start, batch = self._latest
        if start != number or (batch[-1][0] if batch else number) != self._number:
            batch = [(n, self._ring[(n - 1) % self._keep]) for n in range(number + 1, self._number + 1)]
            self._latest = (number, batch)
        return batch

    async def follow(self, number: int) -> AsyncIterator[list[tuple[int, T]]]:
        """Batches of everything that is pending, each item once and in order, until the feed is closed.

        Raises ``Gap`` when the reader has fallen out of the ring.
        """
        while True:
            batch = self.since(number)
            if batch is None:
                raise Gap(self._number)
            if batch:
                number = batch[-1][0]
                yield batch
            elif self._closed:
                return
            else:
                await self._next_ring()

    def watch(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call ``heard`` after each publish, in the publisher's own step; returns the function that ends it.

        An error in it goes to the log and to nobody else.
        """
        self._watchers.append(heard)
        return lambda: self._watchers.remove(heard)

    def close(self) -> None:
        """End all followers once they have what was published before."""
        self._closed = True
        self._ring_bell()

    def _ring_bell(self) -> None:
        if self._bell is not None:
            self._bell.set()
            self._bell = None

    async def _next_ring(self) -> None:
        if self._bell is None:
            self._bell = asyncio.Event()
        await self._bell.wait()
