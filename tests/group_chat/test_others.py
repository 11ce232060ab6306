"""Who an error names beside the model that failed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.group_chat.others import MOST, others
from app.providers.resting import Resting

UNTIL = datetime(2026, 11, 30, 14, 20, tzinfo=UTC)
STAMP = "2026-11-30T14:20:00.000Z"


def test_keys_at_rest_are_told_by_their_place_and_their_time() -> None:
    rests = [Resting("lab/big", 1, "balance", UNTIL), Resting("spare/small", 0, "rate_limit", UNTIL)]
    assert others("rate_limit", "lab/big", {}, lambda: rests) == [
        {"model": "lab/big", "key": 1, "kind": "balance", "until": STAMP},
        {"model": "spare/small", "key": 0, "kind": "rate_limit", "until": STAMP},
    ]


def test_the_only_key_of_the_model_that_failed_is_what_the_error_itself_tells_of() -> None:
    assert others("auth", "lab/big", {}, lambda: [Resting("lab/big", 0, "auth", UNTIL)]) == []


def test_a_model_that_was_tried_is_told_once_by_its_rest_where_it_has_one() -> None:
    tried = {"lab/big": "lab limits.", "den/old": "den failed on its own side (HTTP 503)."}
    rests = [Resting("lab/big", 2, "rate_limit", UNTIL)]
    assert others("server", "spare/small", tried, lambda: rests) == [
        {"model": "lab/big", "key": 2, "kind": "rate_limit", "until": STAMP},
        {"model": "den/old", "said": "den failed on its own side (HTTP 503)."},
    ]


@pytest.mark.parametrize("kind", ["policy", "invalid", "budget", "storage", "defect", "overflow"])
def test_where_no_other_key_could_have_helped_none_is_looked_for(kind: str) -> None:
    def not_to_be_read() -> list[Resting]:
        raise AssertionError(kind)

    assert others(kind, "lab/big", {}, not_to_be_read) == []
    assert len(others(kind, "lab/big", {"den/old": "Down."}, not_to_be_read)) == 1


def test_the_list_comes_to_an_end() -> None:
    rests = [Resting(f"lab/{number}", 0, "auth", UNTIL) for number in range(40)]
    assert len(others("auth", "den/old", {}, lambda: rests)) == MOST
