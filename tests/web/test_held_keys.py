"""Keys that wait for the form they were typed into: for ten minutes, and not many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.web.held_keys import MOST, SECONDS, HeldKeys
from tests.fakes.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def held(clock: FakeClock) -> HeldKeys:
    tickets: Iterator[int] = iter(range(1000))
    return HeldKeys(clock, lambda: f"held_{next(tickets)}")


def test_a_key_is_found_by_its_ticket_as_often_as_it_is_asked_for(held: HeldKeys) -> None:
    first, second = held.hold("one"), held.hold("two")
    assert [held.find(first), held.find(second), held.find(first)] == ["one", "two", "one"]


def test_nobody_finds_one_without_a_ticket(held: HeldKeys) -> None:
    held.hold("one")
    assert held.find("") is None
    assert held.find("held_1") is None


@pytest.mark.anyio
async def test_a_key_waits_for_ten_minutes(held: HeldKeys, clock: FakeClock) -> None:
    ticket = held.hold("one")
    await clock.sleep(SECONDS)
    assert held.find(ticket) == "one"
    await clock.sleep(1)
    assert held.find(ticket) is None


def test_the_oldest_makes_room(held: HeldKeys) -> None:
    tickets = [held.hold(str(number)) for number in range(MOST + 1)]
    assert [held.find(ticket) for ticket in tickets] == [None, *map(str, range(1, MOST + 1))]
