"""A playbook while it is edited: as it was typed, right or wrong, with its steps moved, added and taken away. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from app.group_chat.plan_check import MOST_STEPS
from app.group_chat.plan_templates import renumbered
from app.web.forms import Form
from app.web.step_forms import named_steps
from app.workspace.playbooks import Parameter, Playbook, holes

NOWHERE = 0
"""What names a step that was taken away names this one, which never is: so it is told when it is saved."""


@dataclass(frozen=True, slots=True)
class DraftStep:
    """Each part as it stands in its field."""

    title: str = ""
    assignee: str = ""
    input: str = ""
    after: str = ""
    on_failure: str = ""
    fields: str = ""
    """Of the form of a user's step, as JSON: kept along, and not shown."""

    @classmethod
    def of(cls, index: int, step: Mapping[str, Any]) -> Self:
        """As a playbook has it: what is missing there stands as what it means."""
        usual = [index - 1] if index > 1 else []
        after = step["wait_for"] if step.get("wait_for") is not None else usual
        return cls(
            title=str(step.get("title") or ""),
            assignee=str(step.get("assignee") or ""),
            input=str(step.get("input") or ""),
            after=", ".join(map(str, after)) if isinstance(after, list | tuple) else str(after),
            on_failure=str(step.get("on_failure") or "ask_commander"),
            fields=json.dumps(step["fields"], ensure_ascii=False) if step.get("fields") else "",
        )

    def moved(self, places: Mapping[int, int]) -> Self:
        """The same step once the others have other numbers."""
        now = (places.get(one, one) if isinstance(one, int) else one for one in named_steps(self.after))
        return replace(
            self,
            title=renumbered(self.title, places),
            input=renumbered(self.input, places),
            after=", ".join(str(one) for one in now if one != NOWHERE),
        )

    def given(self, index: int) -> dict[str, Any]:
        """As ``set_plan`` takes it."""
        parts: dict[str, Any] = {
            "index": index,
            "title": self.title.strip(),
            "assignee": self.assignee,
            "input": self.input.strip(),
            "wait_for": named_steps(self.after),
            "on_failure": self.on_failure,
            "fields": _fields(self.fields) if self.assignee == "user" else None,
        }
        return {name: value for name, value in parts.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True)
class Draft:
    name: str = ""
    description: str = ""
    steps: tuple[DraftStep, ...] = (DraftStep(assignee="commander"),)
    about: tuple[Parameter, ...] = ()
    seen: str = ""
    """The state of the file that the form shows."""

    @classmethod
    def of(cls, playbook: Playbook, seen: str) -> Self:
        steps = tuple(DraftStep.of(index, step) for index, step in enumerate(playbook.steps, 1))
        return cls(playbook.name, playbook.description, steps, playbook.about, seen)

    @classmethod
    def typed(cls, form: Form) -> Self:
        count = max(0, min(form.number("steps"), MOST_STEPS + 1))
        return cls(
            form.raw("name"),
            form.raw("description"),
            tuple(_typed_step(form, index) for index in range(1, count + 1)),
            tuple(
                Parameter(name, form.text(f"label-{name}"), form.text(f"default-{name}"))
                for name in form.words("parameter")
            ),
            form.text("seen"),
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that its steps have holes for now, and those of which something was typed."""
        known = {each.name: each for each in self.about if each.label or each.default}
        names = holes(text for step in self.steps for text in (step.title, step.input))
        return tuple(known.get(name, Parameter(name)) for name in dict.fromkeys((*names, *known)))

    def playbook(self, id: str) -> Playbook:
        steps = tuple(step.given(index) for index, step in enumerate(self.steps, 1))
        said = tuple(each for each in self.parameters if each.label or each.default)
        return Playbook(id, " ".join(self.name.split()), steps, self.description.strip(), said)

    def over(self, seen: str) -> Self:
        """The same, to be saved in the place of that state of the file."""
        return replace(self, seen=seen)

    def add(self) -> tuple[Self, int]:
        """One more step at the end; it and all that follow return which step the user looks at now."""
        count = len(self.steps)
        if count > MOST_STEPS:
            return self, count
        new = DraftStep(assignee="commander", after=str(count) if count else "")
        return replace(self, steps=(*self.steps, new)), count + 1

    def move(self, step: int, by: int) -> tuple[Self, int]:
        """A step changes places with the one before it or behind it; what names them names them still."""
        to = step + by
        if not (1 <= step <= len(self.steps) and 1 <= to <= len(self.steps)):
            return self, step
        order = list(range(1, len(self.steps) + 1))
        order[step - 1], order[to - 1] = to, step
        return self._in(order), to

    def remove(self, step: int) -> tuple[Self, int]:
        order = [index for index in range(1, len(self.steps) + 1) if index != step]
        return self._in(order), min(step, len(order))

    def _in(self, order: Sequence[int]) -> Self:
        """The steps with these numbers, in this order."""
        places = dict.fromkeys(range(1, len(self.steps) + 1), NOWHERE)
        places |= {step: place for place, step in enumerate(order, 1)}
        return replace(self, steps=tuple(self.steps[step - 1].moved(places) for step in order))


def _typed_step(form: Form, index: int) -> DraftStep:
    return DraftStep(**{part: form.raw(f"step-{index}-{part}") for part in DraftStep.__slots__})


def _fields(text: str) -> Any:
    """What cannot be read stays as it is, and is refused as no list."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
