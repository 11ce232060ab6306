"""The table of plans, played by real members in a real room, as far as they can play it: what happens is the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from app.engine.scripted import Reply, call, say
from app.group_chat.plan_tasks import PlanTask
from app.group_chat.roles import COMMANDER, USER
from app.workspace import tasks
from app.workspace.settings import set_setting
from tests.case_tables import load_jsonl
from tests.group_chat.plans import REFUSED, plan_at
from tests.group_chat.rooms import house
from tests.group_chat.teams import TeamModel

pytestmark = pytest.mark.anyio

MEMBERS = {"coder", "writer", "researcher", "analyst"}


def can_be_played(row: dict[str, Any]) -> bool:
    """A member does one thing at a time, and what the user does at a tick belongs to the pure policy's own test."""
    ends = [one["end"] for outcomes in row.get("script", {}).values() for one in outcomes]
    is_alone = row["parallel"] == 1 or row["family"] in ("chain", "diamond")
    return "refused" not in row["expect"] and "acts" not in row and "blocked" not in ends and is_alone


ROWS = [
    row for row in load_jsonl("plan_cases.jsonl") if can_be_played(row) and set(row["members"]) <= MEMBERS
]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
async def test_a_room_works_a_plan_off_as_the_table_says(row: dict[str, Any], tmp_path: Path) -> None:
    model = TeamModel(**replies(row))
    async with house(tmp_path, model) as at:
        set_setting(at.store, "plan.parallel", str(row["parallel"]))
        await at.say(row.get("user_message", "go"))
        kept, expect = plan_at(at), row["expect"]
        final = {str(step.index): step.status for step in kept.plan.steps}
        assert {index: final[index] for index in expect["final"]} == expect["final"]
        begun = Counter(
            str(PlanTask.of(task).step)
            for task in tasks.list_given(at.store, kept.id)
            if not PlanTask.of(task).is_question
        )
        assert begun == expect["dispatches"]
        assert kept.row.state == expect["plan"]
        said = [one for one in at.rows() if one.data.get("how") == "plan"]
        assert [one.data["to"] for one in said] == first_dispatches(row)


def replies(row: dict[str, Any]) -> dict[str, list[Reply]]:
    """By member, in the order in which the table lets the steps begin."""
    script: defaultdict[str, list[Reply]] = defaultdict(list)
    script[COMMANDER].append([call("set_plan", "p1", steps=row["steps"])])
    tries: Counter[int] = Counter()
    for kind, index, *_ in row["expect"]["events"]:
        if kind in ("dispatch", "wake"):
            outcome = row["script"][str(index)][tries[index]]
            tries[index] += 1
            script[assignee(row, index)].append(reply(outcome))
        elif kind == "ask_commander":
            script[COMMANDER].append(say("Let the user decide."))
    return dict(script)


def reply(outcome: dict[str, Any]) -> Reply:
    match outcome:
        case {"end": "done", "summary": summary}:
            return say(summary or "-")
        case {"end": "failed", "transient": True}:
            return say("So f", stop=None)
    return [REFUSED]


def assignee(row: dict[str, Any], index: int) -> str:
    return str(next(step["assignee"] for step in row["steps"] if step["index"] == index))


def first_dispatches(row: dict[str, Any]) -> list[str]:
    """Whom the chat shows to be sent: a step that is tried again is not told of."""
    seen = dict.fromkeys(index for kind, index, *_ in row["expect"]["events"] if kind == "dispatch")
    return [to for index in seen if (to := assignee(row, index)) not in (USER, COMMANDER)]
