"""What the board of a plan receives: every step with how it stands, who has it, what it took and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.group_chat.plan_records import KeptPlan
from app.group_chat.plan_tasks import PlanTask
from app.group_chat.plan_values import Plan, Status, Step
from app.group_chat.planning import MOST_PARALLEL
from app.web.member_words import FindAgent, Person, nobody, person
from app.web.plain import one_line, plain
from app.web.plan_graph import Graph, plan_graph
from app.web.plan_words import AT_WORK, STATES, STATUSES
from app.web.step_forms import IF_IT_FAILS, Option, StepForm, step_form
from app.web.task_views import Standing
from app.web.times import local
from app.workspace.rows import MessageRow, PlanRow, TaskRow, TurnRow
from app.workspace.usage import UsageSum

_GOES_ON = ("running", "waiting_for_user", "waiting_for_commander")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    index: int
    title: str
    status: Status
    standing: Standing
    who: Person
    after: tuple[int, ...]
    if_it_fails: str
    """In words, where it is not what is usual."""
    tries: int
    since: datetime | None
    """When it began, while it goes on."""
    seconds: float | None
    cost: float | None
    """US dollars of all its turns; None where it is not known, or goes on."""
    said: str
    """What came of it, or why it failed or was skipped."""
    files: tuple[str, ...]
    changes: str
    """Address of what it did to files, or nothing."""
    answer: str
    """Where the form is that it waits for, or nothing."""
    acts: str
    """Address below which a POST retries, skips or changes it."""
    can_retry: bool
    can_skip: bool
    form: StepForm | None
    """None where it cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    id: str
    title: str
    standing: Standing
    hint: str
    """What to do about it, in a sentence; empty where nothing is."""
    done: int
    skipped: int
    since: datetime | None
    """When it began, while it goes on."""
    seconds: float | None
    """From its beginning to its end; None where it has not ended."""
    cost: float | None
    """US dollars of all turns that have ended; None where it is not known."""
    parallel: tuple[Option, ...]
    """How many steps may be done at the same time; none where that decides nothing any more."""
    steps: tuple[StepView, ...]
    graph: Graph | None
    acts: str
    """Address below which a POST lets it go on or stops it."""
    go_on: str
    """The word on the button; empty where it cannot."""
    can_stop: bool


@dataclass(frozen=True, slots=True)
class EarlierView:
    title: str
    standing: Standing
    steps: int
    created: datetime


@dataclass(frozen=True, slots=True)
class Traces:
    """What there is of the work on a plan."""

    tasks: Sequence[TaskRow] = ()
    turns: Sequence[TurnRow] = ()
    spent: Mapping[str, UsageSum] = field(default_factory=dict)
    forms: Sequence[MessageRow] = ()
    """Those that are open."""


def board_view(
    kept: KeptPlan,
    traces: Traces,
    team: Sequence[str] = (),
    agents: FindAgent = nobody,
) -> BoardView:
    """``team`` are the agents that a step can be given to."""
    plan, here = kept.plan, f"/conversations/{kept.row.conversation}"
    begun, ended = kept.row.begun, kept.row.ended
    is_cut_off = any(task.state == "interrupted" for task in traces.tasks)
    state = "cut_off" if is_cut_off else "set" if not kept.is_begun else kept.row.state
    standing, hint = STATES[state]
    return BoardView(
        id=kept.id,
        title=one_line(kept.row.title) or "Plan",
        standing=standing,
        hint=hint,
        done=len(plan.having("done")),
        skipped=len(plan.having("skipped")),
        since=local(begun) if begun and not ended and state in _GOES_ON else None,
        seconds=(local(ended) - local(begun)).total_seconds() if begun and ended else None,
        cost=_cost([turn for turn in traces.turns if turn.ended], traces.spent),
        parallel=() if kept.row.ended or len(plan.steps) == 1 else _parallel(plan),
        steps=tuple(_step(kept, step, traces, team, agents) for step in plan.steps),
        graph=plan_graph(plan.steps),
        acts=f"{here}/plan",
        go_on={"set": "Start the plan", "stopped": "Continue", "cut_off": "Continue"}.get(state, ""),
        can_stop=kept.is_begun and kept.row.ended is None and not plan.stopped and not is_cut_off,
    )


def _parallel(plan: Plan) -> tuple[Option, ...]:
    most = max(plan.parallel, min(len(plan.steps), MOST_PARALLEL))
    return tuple(Option(str(n), str(n), n == plan.parallel) for n in range(1, most + 1))


def earlier_view(row: PlanRow) -> EarlierView:
    title = one_line(row.title) or "Plan"
    return EarlierView(title, STATES[row.state][0], len(row.content["steps"]), local(row.created))


def _step(kept: KeptPlan, step: Step, traces: Traces, team: Sequence[str], agents: FindAgent) -> StepView:
    here = f"/conversations/{kept.row.conversation}"
    works = [task for task in traces.tasks if _is_of(task, step)]
    last = works[-1] if works else None
    turns = [turn for turn in traces.turns if turn.task in {task.id for task in works}]
    is_live = step.status in ("in_progress", "blocked")
    is_pending = step.status == "pending" and not kept.is_replaced
    on_failure = dict(IF_IT_FAILS)[step.on_failure]
    return StepView(
        index=step.index,
        title=one_line(step.title),
        status=step.status,
        standing=_standing(step, last),
        who=person(step.assignee, agents),
        after=step.wait_for,
        if_it_fails="" if step.on_failure == "ask_commander" else on_failure.lower(),
        tries=step.attempt,
        since=local(turns[-1].started) if turns and is_live else None,
        seconds=None if is_live or not turns else sum(map(_seconds, turns)),
        cost=None if is_live else _cost(turns, traces.spent),
        said=plain(step.output_summary if step.status == "done" else step.failure_reason).strip(),
        files=tuple(one_line(path) for path in step.output_files),
        changes=f"{here}/changes/{turns[-1].id}" if turns and step.output_files else "",
        answer=_answer(kept, step, last, traces.forms),
        acts=f"{here}/plan/steps/{step.index}",
        can_retry=step.status == "failed" and not kept.is_replaced,
        can_skip=step.status in ("pending", "blocked", "failed") and not kept.is_replaced,
        form=_form(step, team, agents) if is_pending else None,
    )


def _is_of(row: TaskRow, step: Step) -> bool:
    task = PlanTask.of(row)
    return task.step == step.index and not task.is_question


def _standing(step: Step, task: TaskRow | None) -> Standing:
    if step.status == "in_progress" and task is not None and task.state in AT_WORK:
        return AT_WORK[task.state]
    return STATUSES[step.status]


def _answer(kept: KeptPlan, step: Step, task: TaskRow | None, forms: Sequence[MessageRow]) -> str:
    for form in forms:
        is_own = (form.data.get("plan"), form.data.get("step")) == (kept.id, step.index)
        if step.status == "blocked" and (is_own or (task is not None and form.turn == task.turn)):
            return f"#{form.id}"
    return ""


def _form(step: Step, team: Sequence[str], agents: FindAgent) -> StepForm:
    return step_form(
        title=step.title,
        input=step.input,
        after=", ".join(map(str, step.wait_for)),
        assignee=step.assignee,
        on_failure=step.on_failure,
        team=team,
        agents=agents,
    )


def _seconds(turn: TurnRow) -> float:
    return (local(turn.ended) - local(turn.started)).total_seconds() if turn.ended else 0.0


def _cost(turns: Sequence[TurnRow], spent: Mapping[str, UsageSum]) -> float | None:
    sums = [spent[turn.id] for turn in turns if turn.id in spent]
    known = any(each.calls > each.unknown_costs for each in sums)
    return sum(each.cost for each in sums) if known else None
