"""Ids that tell when they were made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.infra.ids import made_at, new_id


def test_an_id_tells_when_it_was_made() -> None:
    before = datetime.now(UTC)
    made = made_at(new_id("key"))
    assert made is not None
    assert abs((made - before).total_seconds()) < 60


@pytest.mark.parametrize(
    "id",
    ["", "OPENAI_API_KEY", "key_1", "key_0000000000", "key_zzzzzzzzzz0000000000", "key_0000000000000000000u"],
)
def test_what_is_no_id_tells_nothing(id: str) -> None:
    assert made_at(id) is None
