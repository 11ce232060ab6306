"""Who else an error tells of, in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.web.others import Other, others_of

UNTIL = "2026-11-30T14:20:00.000Z"


def rest(kind: str, key: int = 0) -> dict[str, Any]:
    return {"others": [{"model": "lab/big", "key": key, "kind": kind, "until": UNTIL}]}


@pytest.mark.parametrize(
    ("kind", "key", "words"),
    [
        ("auth", 0, "its key was not accepted"),
        ("balance", 1, "key 1 has no credit left"),
        ("subscription", 2, "key 2 has no plan that covers this"),
        ("rate_limit", 3, "key 3 was asked too much in a short time"),
        ("of a later version", 0, "its key failed"),
    ],
)
def test_a_rest_says_which_key_why_and_until_when(kind: str, key: int, words: str) -> None:
    (other,) = others_of(rest(kind, key))
    assert (other.model, other.what) == ("lab/big", words)
    assert other.until == datetime(2026, 11, 30, 14, 20, tzinfo=UTC)


def test_of_a_model_that_was_tried_the_first_sentence_is_enough() -> None:
    said = "den failed on its own side (HTTP 503). Try again later."
    data = {"others": [{"model": "den/\u202eold\n", "said": said}]}
    assert others_of(data) == (Other("den/\ufffdold", "den failed on its own side (HTTP 503)"),)


def test_an_error_that_names_nobody_has_no_list() -> None:
    assert others_of({}) == others_of({"others": None}) == ()
