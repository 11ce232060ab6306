"""Times, lengths and amounts in the words of the page."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from app.web import times

MOMENT = datetime(2026, 11, 3, 9, 5, 7, 12_345, UTC)


def test_a_moment_is_said_to_people_and_to_machines() -> None:
    assert times.clock_time(MOMENT) == "09:05"
    assert times.full_time(MOMENT) == "3 November 2026, 09:05"
    assert times.utc(MOMENT) == "2026-11-03T09:05:07.012Z"
    assert times.day_name(date(2026, 11, 30)) == "Monday 30 November"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "40 ms"), (0.4, "0.4 s"), (12, "12 s"), (59.4, "59 s"), (125, "2:05"), (3725, "1:02:05")],
)
def test_a_length_of_time_is_as_exact_as_one_cares_for(seconds: float, said: str) -> None:
    assert times.duration(seconds) == said


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0"), (812, "812"), (3_210, "3.2k"), (41_000, "41k"), (1_900_000, "1.9M")]
)
def test_a_large_amount_is_rounded(number: int, said: str) -> None:
    assert times.amount(number) == said


@pytest.mark.parametrize(("cost", "said"), [(0, "$0.00"), (0.31, "$0.31"), (0.0004, "$0.0004")])
def test_a_small_cost_keeps_the_places_that_say_something(cost: float, said: str) -> None:
    assert times.dollars(cost) == said
