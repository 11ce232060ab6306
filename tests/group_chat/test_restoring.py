"""One restore, planned and carried out on a real folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.group_chat.restoring import ALL, CHOSEN_ALONE, Planned, carry_out, plan
from app.hands.undo.tally import key_of
from app.hands.undo.values import Choice, Origin
from app.workspace.errors import NotFound
from app.workspace.rows import StepRow
from tests.hands.undo.workshop import Workshop

UNDO = Origin("conv_a", "undo_1")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path)
    shop.write({"a.txt": "before\n", "b.txt": "before\n"})
    return shop


def row(shop: Workshop, script: str) -> StepRow:
    step = shop.step(script)
    return StepRow(
        "step", "conv_a", "turn_1", "c", "bash", None, step.before.id, step.after.id, None, "2026-11-30"
    )


def planned(
    shop: Workshop, *rows: StepRow, file: str = "", choices: dict[str, Choice] | None = None
) -> Planned:
    return plan(shop.history, rows, file, choices or {}, UNDO, lambda: None)


def done(shop: Workshop, what: Planned) -> Any:
    return carry_out(what, UNDO, lambda: None)


def test_a_plan_changes_nothing_and_knows_where_it_begins(shop: Workshop) -> None:
    step = row(shop, "echo theirs > a.txt")
    what = planned(shop, step)
    assert shop.read("a.txt") == "theirs\n"
    assert what.is_answered
    restored, counted = done(shop, what)
    assert restored.step.before.id == what.before
    assert [line.path for line in counted.lines] == ["a.txt"]
    assert shop.read("a.txt") == "before\n"


def test_one_file_is_found_by_its_key(shop: Workshop) -> None:
    step = row(shop, "echo theirs > a.txt; echo theirs > b.txt")
    done(shop, planned(shop, step, file=key_of("b.txt")))
    assert (shop.read("a.txt"), shop.read("b.txt")) == ("theirs\n", "before\n")
    with pytest.raises(NotFound):
        planned(shop, step, file=key_of("c.txt"))


def test_a_conflict_shows_both_sides_and_has_to_be_answered(shop: Workshop) -> None:
    step = row(shop, "echo theirs > a.txt; echo theirs > b.txt")
    shop.write({"a.txt": "mine\n", "b.txt": "mine\n"})
    what = planned(shop, step, choices={key_of("b.txt"): "before"})
    assert [one.path for one in what.outcome.conflicts] == ["a.txt"]
    assert not what.is_answered
    assert what.apart[0].lines[1:] == ("-before", "+mine")
    done(shop, planned(shop, step, choices={key_of("b.txt"): "before", ALL: "mine"}))
    assert (shop.read("a.txt"), shop.read("b.txt")) == ("mine\n", "before\n")


def test_a_choice_is_for_conflicts_alone(shop: Workshop) -> None:
    step = row(shop, "echo theirs > a.txt")
    done(shop, planned(shop, step, choices={key_of("a.txt"): "mine"}))
    assert shop.read("a.txt") == "before\n"


def test_very_many_conflicts_are_not_compared(shop: Workshop) -> None:
    names = [f"n{number}" for number in range(CHOSEN_ALONE + 1)]
    step = row(shop, f"touch {' '.join(names)}")
    shop.write(dict.fromkeys(names, "mine\n"))
    what = planned(shop, step)
    assert [diff.lines for diff in what.apart] == [()] * len(names)
