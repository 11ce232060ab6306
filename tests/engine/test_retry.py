"""Failed calls are sent again after a wait that the server may set and that we bound."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.errors import RETRYABLE, ProviderError, ProviderErrorKind
from app.engine.retry import come_back, retry_after, wait_seconds
from tests.case_tables import load_tsv

ROWS = load_tsv("retry_after.tsv")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def headers_of(row: dict[str, str]) -> dict[str, str]:
    lines = [line for line in row["headers"].split("\n") if line]
    return dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_wait_is_the_one_of_the_table(row: dict[str, str], chance: float) -> None:
    asked = retry_after(headers_of(row), datetime.fromisoformat(row["now"]))
    error = ProviderError("rate_limit", "Too many requests.", retry_after=asked)
    wait = wait_seconds(error, int(row["attempt"]), lambda: chance)
    if wait is None:
        assert "fail" in row["action"].split(" | ")
        assert come_back(error)
    else:
        assert "wait" in row["action"].split(" | ")
        assert float(row["wait_min"]) <= wait <= float(row["wait_max"])
        assert come_back(error) is None


@pytest.mark.parametrize("attempt", range(4))
def test_what_may_have_been_paid_for_is_asked_for_once_more_and_not_again(attempt: int) -> None:
    error = ProviderError("timeout", "Nothing came.", was_at_work=True)
    assert (wait_seconds(error, attempt, lambda: 0.5) is not None) == (attempt == 0)


@pytest.mark.parametrize("kind", get_args(ProviderErrorKind))
def test_only_what_may_work_later_is_sent_again(kind: ProviderErrorKind) -> None:
    error = ProviderError(kind, "It failed.", retry_after=3.0)
    assert (wait_seconds(error, 0, lambda: 0.0) == 3.0) == (kind in RETRYABLE)
    assert come_back(ProviderError(kind, "It failed.", retry_after=300.0)) is None or kind in RETRYABLE


def test_nobody_is_asked_to_wait_less_than_the_server_wants() -> None:
    assert come_back(ProviderError("rate_limit", "Busy.", retry_after=121)) == (
        "The server asks to wait 3 minutes. Try again then, or choose another model."
    )
    assert "1 hour." in str(come_back(ProviderError("rate_limit", "Busy.", retry_after=3_600)))
    assert "2 days." in str(come_back(ProviderError("rate_limit", "Busy.", retry_after=86_401)))


@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
@pytest.mark.parametrize("asked", ["1764590400000000", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_beyond_all_sense_is_none(name: str, asked: str) -> None:
    assert retry_after({name: asked}, NOON) is None


@given(st.dictionaries(st.sampled_from(["retry-after", "Retry-After-Ms", "date", "x-other"]), st.text()))
def test_no_header_makes_a_turn_wait_for_ever(headers: dict[str, str]) -> None:
    asked = retry_after(headers, NOON)
    assert asked is None or asked > 0
    wait = wait_seconds(ProviderError("server", "Down.", retry_after=asked), 3, lambda: 1.0)
    assert wait is None or 0 < wait <= 144


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_our_own_wait_doubles_up_to_thirty_seconds(attempt: int, chance: float) -> None:
    wait = wait_seconds(ProviderError("timeout", "Too slow."), attempt, lambda: chance)
    expected = min(30.0, 2.0 ** min(attempt, 5))
    assert wait is not None
    assert expected * 0.8 <= wait <= expected * 1.2 + 1e-9
