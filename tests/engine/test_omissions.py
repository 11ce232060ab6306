"""What is said of a request that had to go without parts of its history."""

from __future__ import annotations

import pytest

from app.engine.ladder import ORDER, Part
from app.engine.omissions import omission
from app.engine.provider import LeftOut


@pytest.mark.parametrize("part", ORDER)
def test_each_part_has_its_words_and_nothing_is_lost_of_the_chat(part: Part) -> None:
    said = omission("lab/big", LeftOut((part,)))
    assert (said.model, said.parts) == ("lab/big", (part,))
    assert said.reason.startswith("lab/big is sent this conversation without ")
    assert "The chat keeps all of it." in said.reason


@pytest.mark.parametrize(
    ("parts", "seen"),
    [
        (("pictures",), True),
        (("thinking", "pictures"), True),
        (("all_but_text",), True),
        (("thinking",), False),
    ],
)
def test_a_model_that_sees_is_the_way_out_for_pictures_alone(parts: tuple[Part, ...], seen: bool) -> None:
    assert ("Choose a model that sees" in omission("lab/big", LeftOut(parts)).reason) == seen


@pytest.mark.parametrize(
    ("window", "named"), [(4_096, "its server holds 4,096 and"), (None, "its server holds less and")]
)
def test_a_beginning_that_was_dropped_is_told_with_the_way_out(window: int | None, named: str) -> None:
    said = omission("den/qwen3", LeftOut(("beginning",), 15_750, 2_051, window)).reason
    assert said.startswith("den/qwen3 read only 2,051 of about 15,800 tokens: ")
    assert named in said
    assert "Settings, Models" in said
