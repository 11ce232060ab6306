"""The table of plans, played by real members in a real room, on time of its own: what happens is the same."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from app.engine.provider import ModelRequest, StreamBatch
from app.engine.scripted import Reply, call, say
from app.group_chat.errors import CannotPlan
from app.group_chat.plan_tasks import PlanTask
from app.group_chat.roles import COMMANDER, USER
from app.workspace import plans, tasks
from app.workspace.settings import set_setting
from tests.case_tables import load_jsonl
from tests.fakes.virtual_time import LoopClock
from tests.group_chat.plans import REFUSED, plan_at
from tests.group_chat.rooms import House, house
from tests.group_chat.team_world import own_time
from tests.group_chat.teams import TeamModel, heard, member_of, results

TICK = 60.0
"""Seconds of that time; what a room does between two ticks takes less."""

SHORTLY = 5.0
"""Acts of a tick come before the ends of that tick."""

NOT_IN_A_ROOM = {
    "duplicate_end",  # a turn ends once
    "other_turn_of_member",  # a member takes one turn at a time
}
ALL = load_jsonl("plan_cases.jsonl")
PLAYED = [row for row in ALL if "refused" not in row["expect"] and row["id"] not in NOT_IN_A_ROOM]
REFUSED_ROWS = [row for row in ALL if "refused" in row["expect"]]


class Timed(TeamModel):
    """Each reply takes its time."""

    def __init__(self, replies: dict[str, list[tuple[int, Reply]]]) -> None:
        super().__init__(**{who: [reply for _, reply in each] for who, each in replies.items()})
        self._ticks = {who: [ticks for ticks, _ in each] for who, each in replies.items()}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        await asyncio.sleep(self._ticks[member_of(request)].pop(0) * TICK)
        async for batch in super().stream(request):
            yield batch


@pytest.mark.parametrize("row", PLAYED, ids=[row["id"] for row in PLAYED])
def test_a_room_works_a_plan_off_as_the_table_says(row: dict[str, Any]) -> None:
    with own_time(Random(0)) as (loop, folder):
        loop.run_until_complete(play(row, folder, LoopClock(loop)))


@pytest.mark.parametrize("row", REFUSED_ROWS, ids=[row["id"] for row in REFUSED_ROWS])
def test_a_room_refuses_what_the_table_refuses(row: dict[str, Any]) -> None:
    with own_time(Random(0)) as (loop, folder):
        loop.run_until_complete(refuse(row, folder, LoopClock(loop)))


async def refuse(row: dict[str, Any], folder: Path, clock: LoopClock) -> None:
    model = TeamModel(commander=[[call("set_plan", "p1", steps=row["steps"])], say("Hm.")])
    async with house(folder, model, clock) as at:
        await at.say("go")
        (refused,) = results(model.asked[COMMANDER][1])
        assert refused.startswith("E_ARGUMENTS")
        assert plans.find_plan(at.store, at.room.id) is None


async def play(row: dict[str, Any], folder: Path, clock: LoopClock) -> None:
    model, conversation = Timed(replies(row)), None
    for acts in processes(row.get("acts", ())):
        async with house(folder, model, clock, conversation) as at:
            if conversation is None:
                set_setting(at.store, "plan.parallel", str(row["parallel"]))
                await at.room.post(row.get("user_message", "go"), client_id="c1")
            conversation = at.room.id
            for act in acts:
                await clock.sleep(act["at"] * TICK - SHORTLY - clock.monotonic())
                with suppress(CannotPlan):
                    await do(at, act)
            if not acts or acts[-1]["act"] != "restart":
                await at.room.wait_quiet()
                expect(row, at)
    for step in row["steps"] if row["expect"].get("travels") else ():
        assert row["user_message"] in heard(model.asked[step["assignee"]][0])


def processes(acts: Sequence[dict[str, Any]]) -> Iterator[Sequence[dict[str, Any]]]:
    """What the user does in each: a restart is the last thing in one."""
    done: list[dict[str, Any]] = []
    for act in acts:
        done.append(act)
        if act["act"] == "restart":
            yield done
            done = []
    yield done


async def do(at: House, act: dict[str, Any]) -> None:
    planning = at.room.planning
    match act:
        case {"act": "answer", "text": text}:
            for form in [row for row in at.rows() if row.kind == "form" and row.state == "streaming"]:
                await at.room.forms.answer(form.id, {"answer": [text]})
        case {"act": "retry", "step": step}:
            await planning.retry(step)
        case {"act": "skip", "step": step}:
            await planning.skip(step)
        case {"act": "edit", "step": step, "input": text}:
            await planning.edit(step, {"input": text})
        case {"act": "stop"}:
            await at.room.stop()
        case {"act": "prose"}:
            await at.room.post("How is it?", client_id=f"c{act['at']}")
        case {"act": name}:
            assert name == "restart"


def expect(row: dict[str, Any], at: House) -> None:
    kept, expected = plan_at(at), row["expect"]
    final = {str(step.index): step.status for step in kept.plan.steps}
    assert {index: final[index] for index in expected["final"]} == expected["final"]
    given = [PlanTask.of(task) for task in tasks.list_given(at.store, kept.id)]
    assert Counter(str(task.step) for task in given if not task.is_question) == expected["dispatches"]
    assert kept.row.state == expected["plan"]
    said = [one for one in at.rows() if one.data.get("how") == "plan"]
    assert [one.data["to"] for one in said] == first_dispatches(row)
    for index, text in expected.get("inputs", {}).items():
        shown = next(one.text for one in said if one.data["step"] == int(index))
        assert all(part in shown for part in text.get("has", ()))
        assert not any(part in shown for part in text.get("not", ()))


def replies(row: dict[str, Any]) -> dict[str, list[tuple[int, Reply]]]:
    """By member, in the order in which the table lets the steps begin: how many ticks each takes, and what it is."""
    script: defaultdict[str, list[tuple[int, Reply]]] = defaultdict(list)
    script[COMMANDER].append((0, [call("set_plan", "p1", steps=row["steps"])]))
    script[COMMANDER] += [(0, say(act["text"])) for act in row.get("acts", ()) if act["act"] == "prose"]
    runs: Counter[int] = Counter()
    for kind, index, *_ in row["expect"]["events"]:
        if kind in ("dispatch", "wake", "resume"):
            outcome = row["script"][str(index)][runs[index]]
            runs[index] += 1
            who = assignee(row, index)
            if files := outcome.get("files"):
                writes = (
                    call("write_file", f"w{at}", at, path=path, content="x") for at, path in enumerate(files)
                )
                script[who].append((0, list(writes)))
            script[who].append((outcome.get("ticks", 1), reply(outcome)))
        elif kind == "ask_commander":
            script[COMMANDER].append((0, say("Let the user decide.")))
    return dict(script)


def reply(outcome: dict[str, Any]) -> Reply:
    match outcome:
        case {"end": "done", "summary": summary}:
            return say(summary or "-")
        case {"end": "failed", "transient": True}:
            return say("So f", stop=None)
        case {"end": "blocked", "form": question}:
            return [call("ask_user", "q1", fields=[{"id": "answer", "type": "text", "label": question}])]
    return [REFUSED]


def assignee(row: dict[str, Any], index: int) -> str:
    return str(next(step["assignee"] for step in row["steps"] if step["index"] == index))


def first_dispatches(row: dict[str, Any]) -> list[str]:
    """Whom the chat shows to be sent: a step that is tried again is not told of."""
    seen = dict.fromkeys(index for kind, index, *_ in row["expect"]["events"] if kind == "dispatch")
    return [to for index in seen if (to := assignee(row, index)) not in (USER, COMMANDER)]
