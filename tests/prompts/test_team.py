"""The team that ships: five files, each of which says what it does, what it may use, and what it brings back."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import prompts
from app.prompts.team import TEAM, find_shipped

FOLDER = Path(prompts.__file__).parent / "team"


def test_there_is_one_file_for_each_of_the_team() -> None:
    assert TEAM == ("researcher", "coder", "writer", "analyst", "tutor")
    assert {path.name for path in FOLDER.iterdir()} == {f"{id}.md" for id in TEAM}


@pytest.mark.parametrize("id", ["commander", "../commander", "", "Coder"])
def test_nobody_else_ships(id: str) -> None:
    assert find_shipped(id) is None


@pytest.mark.parametrize("id", TEAM)
def test_each_is_short_and_says_how_it_works_and_what_it_returns(id: str) -> None:
    text = find_shipped(id) or ""
    assert f"You are {id.capitalize()}." in text
    assert len(text) < 4_500
    assert ("# What you return" in text) != (id == "tutor")
