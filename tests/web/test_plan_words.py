"""The article of a plan: how many steps it has, and how they stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.group_chat.plan_records import in_figures
from app.web.entries import PlanEntry
from app.web.views import message_view
from tests.web.samples import kept_plan, row


def entry(**data: Any) -> PlanEntry:
    kept = kept_plan()
    view = message_view(replace(row("plan", "done"), data=in_figures(kept.row, kept.plan) | data))
    assert isinstance(view, PlanEntry)
    return view


@pytest.mark.parametrize(
    ("data", "figures"),
    [
        ({}, "6 steps · 1 done · 1 running · 1 needs you · 1 failed · 1 skipped"),
        ({"cut_off": True}, "6 steps · 1 done · 1 cut off · 1 needs you · 1 failed · 1 skipped"),
        ({"counts": {"pending": 6}, "state": "stopped"}, "6 steps · stopped"),
    ],
)
def test_a_plan_says_how_its_steps_stand(data: dict[str, Any], figures: str) -> None:
    assert entry(**data).figures == figures


def test_a_plan_without_a_title_is_called_after_its_steps() -> None:
    assert (entry(title="", steps=1, counts={"done": 1}).title, entry(title="", counts={}).figures) == (
        "1 step",
        "",
    )
