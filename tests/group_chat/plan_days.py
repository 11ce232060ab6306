"""A plan lived through tick by tick: its runs end as a script says, its user acts when the script says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.group_chat.plan_check import PlanRefused, edit_step
from app.group_chat.plan_steps import (
    Answered,
    Asked,
    Effect,
    Failed,
    Finished,
    Looked,
    PlanEvent,
    Retried,
    Skipped,
    Stopped,
    WentOn,
    advance,
)
from app.group_chat.plan_values import Plan, Step
from app.group_chat.visibility import Request

LAST_TICK = 200


@dataclass
class Days:
    plan: Plan
    script: Mapping[str, Sequence[Mapping[str, Any]]]
    members: Sequence[str] = ()
    seen: list[Effect] = field(default_factory=list)
    reported: list[PlanEvent] = field(default_factory=list)
    _due: dict[int, tuple[int, PlanEvent]] = field(default_factory=dict)
    """By step: when its run says something, and what."""
    _said: Counter[int] = field(default_factory=Counter)
    _tick: int = 0

    def live(self, acts: Sequence[Mapping[str, Any]]) -> None:
        """Acts of a tick come before the ends of that tick, which come by index."""
        self.happen(Looked())
        for self._tick in range(LAST_TICK):
            for act in acts:
                if act["at"] == self._tick:
                    self.act(act)
            for step in sorted(step for step, (at, _) in self._due.items() if at == self._tick):
                if step in self._due:
                    self.reported.append(event := self._due.pop(step)[1])
                    self.happen(event)

    def act(self, act: Mapping[str, Any]) -> None:
        match act:
            case {"act": "answer", "step": step, "text": text}:
                self.happen(Answered(step, text))
            case {"act": "retry", "step": step}:
                self.happen(Retried(step))
            case {"act": "skip", "step": step}:
                self.happen(Skipped(step))
            case {"act": "edit", "step": step}:
                changes = {name: value for name, value in act.items() if name not in ("at", "act", "step")}
                edited = edit_step(self.plan, step, changes, self.members)
                if not isinstance(edited, PlanRefused):
                    self.plan = edited
                self.happen(Looked())
            case {"act": "stop"}:
                self._due.clear()
                self.happen(Stopped())
            case {"act": "go_on"}:
                self.happen(WentOn())
            case {"act": "restart"}:
                self.plan = stored_and_read(self.plan)
                self.happen(Looked())
            case {"act": "duplicate_end", "step": step}:
                self.happen(next(one for one in reversed(self.reported) if getattr(one, "step", 0) == step))
            case {"act": "late_end", "step": step}:
                self.happen(Finished(step, 1, "late"))
            case {"act": act_name}:
                assert act_name in ("reconcile", "prose", "other_turn_ends")
                self.happen(Looked())

    def happen(self, event: PlanEvent) -> None:
        self.plan, effects = advance(self.plan, event)
        self.seen += effects
        for effect in effects:
            if effect.kind in ("dispatch", "wake", "resume"):
                self._run(effect)

    def _run(self, effect: Effect) -> None:
        step = effect.step
        outcomes = self.script[str(step)]
        outcome = outcomes[self._said[step]]
        self._said[step] += 1
        self._due[step] = self._tick + outcome.get("ticks", 1), reported(step, effect.attempt, outcome)


def reported(step: int, attempt: int, outcome: Mapping[str, Any]) -> PlanEvent:
    match outcome:
        case {"end": "done", "summary": summary}:
            return Finished(step, attempt, summary, tuple(outcome.get("files", ())))
        case {"end": "failed", "reason": reason}:
            return Failed(step, attempt, reason, outcome.get("transient", False))
        case {"end": "blocked", "form": question}:
            return Asked(step, attempt, question)
    raise AssertionError(outcome)


def stored_and_read(plan: Plan) -> Plan:
    """As a new process finds it."""
    row = json.loads(json.dumps(asdict(plan)))
    tuples = ("wait_for", "fields", "output_files")
    steps = [Step(**step | {name: tuple(step[name]) for name in tuples}) for step in row["steps"]]
    request = Request(row["request"]["text"], tuple(row["request"]["attachments"]))
    return Plan(tuple(steps), request, row["parallel"], row["stopped"])


def in_short(effect: Effect) -> list[object]:
    """As the table writes it."""
    return [effect.kind, effect.step, *([effect.status] if effect.kind == "end" else [])]
