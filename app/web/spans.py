"""The spans of a timeline, from the rows of a conversation: the newest turn that gave jobs, and those of the jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.web.member_words import FindAgent, person
from app.web.plain import first_line
from app.web.timeline import Span, Wait
from app.web.times import local
from app.workspace import messages
from app.workspace.rows import MessageRow, TaskRow, TurnRow
from app.workspace.store import Store

_CUT = ("failed", "aborted", "interrupted", "limit")


def newest_spans(
    store: Store, turns: Sequence[TurnRow], tasks: Sequence[TaskRow], agents: FindAgent
) -> list[Span]:
    """The turn itself first, then those that were sent, as they began. Empty where no turn gave any job."""
    by_id = {turn.id: turn for turn in turns}
    given = {task.turn: task for task in tasks if task.turn in by_id}
    asking = next(
        (turn for turn in reversed(turns) if turn.id in {task.given for task in given.values()}), None
    )
    if asking is None:
        return []
    jobs = {turn: task for turn, task in given.items() if turn and task.given == asking.id}
    shown = [asking, *(turn for turn in turns if turn.id in jobs)]
    return [_span(store, turn, jobs, agents) for turn in shown]


def _span(store: Store, turn: TurnRow, jobs: Mapping[str, TaskRow], agents: FindAgent) -> Span:
    job = jobs.get(turn.id)
    is_told = turn.ended is not None or job is not None
    return Span(
        who=person(turn.member, agents),
        what=first_line(job.job, 80) if job else "the turn itself",
        began=local(turn.started),
        ended=local(turn.ended) if turn.ended else None,
        # What no change of a task tells of is drawn when the turn has ended.
        waits=tuple(_waits(messages.list_asked(store, turn.id))) if is_told else (),
        calls=tuple(map(local, messages.list_call_times(store, turn.id))) if turn.ended else (),
        is_cut=turn.state in _CUT,
    )


def _waits(rows: Sequence[MessageRow]) -> Iterator[Wait]:
    """One after the other: of questions that stand side by side the first begins the wait and the last ends it."""
    wait: Wait | None = None
    for row in rows:
        ended = row.data.get("decided_at") or row.data.get("answered_at")
        start, stop = local(row.created), local(str(ended)) if ended else None
        if stop is None and row.state != "streaming":
            continue
        if wait is not None and (wait[1] is None or start <= wait[1]):
            wait = (wait[0], max(wait[1], stop) if wait[1] and stop else None)
            continue
        if wait is not None:
            yield wait
        wait = (start, stop)
    if wait is not None:
        yield wait
