"""Token counts as servers report them."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.provider import UsageReport
from app.providers.usage import read_counts, read_disjoint_counts, read_usage


@pytest.mark.parametrize(
    ("usage", "report"),
    [
        ({"input_tokens": 3, "output_tokens": 5}, UsageReport(3, 5)),
        (
            {
                "input_tokens": 3,
                "output_tokens": 5,
                "cache_read_input_tokens": 70,
                "cache_creation_input_tokens": 20,
            },
            UsageReport(3, 5, 70, 20),
        ),
        ({"input_tokens": "3", "output_tokens": None}, UsageReport(3, 0)),
        ({"input_tokens": 0, "output_tokens": -1}, None),
        ({}, None),
    ],
)
def test_counts_that_are_disjoint_already_are_taken_as_they_are(
    usage: dict[str, Any], report: UsageReport | None
) -> None:
    assert read_disjoint_counts(usage) == report


def test_counts_that_hold_what_a_cache_served_are_made_disjoint() -> None:
    assert read_counts({"prompt_tokens": 10, "completion_tokens": 3, "cached_tokens": 4}) == UsageReport(
        6, 3, 4
    )


@pytest.mark.parametrize("payload", [{}, {"usage": None}, {"usage": 3}, {"usage": {"prompt_tokens": 0}}])
def test_a_payload_without_counts_has_none(payload: dict[str, Any]) -> None:
    assert read_usage(payload) is None


def test_counts_and_prices_that_no_call_can_have_are_not_taken() -> None:
    report = read_counts({"prompt_tokens": 10**30, "completion_tokens": 7, "cost": 1e300})
    assert report == UsageReport(0, 7)
