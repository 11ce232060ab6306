"""What a step takes over from others: ``{{step_2.output_summary}}``, ``{{step_2.output_files}}``, ``{{user_message}}``.

Filled in once, when the step begins: braces in what is filled in are text, and so are all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from app.group_chat.plan_values import Plan, Step

OUTPUTS = ("output_summary", "output_files")

Quote = Callable[[Step, str], str]
"""How the summary of a step stands in the text of another one."""

_TEMPLATE = re.compile(r"\{\{\s*(?:user_message\s*|step_(?P<step>[0-9]{1,9})(?P<output>[^{}]*))\}\}")


class Reference(NamedTuple):
    """A step that a template names, and what it wants of it; one of ``OUTPUTS`` where it is right."""

    step: int
    output: str


def references(template: str) -> Iterator[Reference]:
    """The steps that a template names."""
    for found in _TEMPLATE.finditer(template):
        if found["step"]:
            yield _reference(found)


def word_for_word(step: Step, summary: str) -> str:
    """For who reads it as a person does."""
    return summary


def fill(template: str, plan: Plan, quote: Quote = word_for_word) -> str:
    """The text of a template whose references were checked and whose steps are over."""

    def value(found: re.Match[str]) -> str:
        if not found["step"]:
            return plan.request.text
        reference = _reference(found)
        step = plan.find(reference.step)
        return found[0] if step is None else _output(step, reference.output, quote)

    return _TEMPLATE.sub(value, template)


def renumbered(template: str, places: Mapping[int, int]) -> str:
    """The same template once the steps have other numbers."""

    def moved(found: re.Match[str]) -> str:
        if not found["step"]:
            return found[0]
        start, end = (place - found.start() for place in found.span("step"))
        number = int(found["step"])
        return f"{found[0][:start]}{places.get(number, number)}{found[0][end:]}"

    return _TEMPLATE.sub(moved, template)


def _reference(found: re.Match[str]) -> Reference:
    return Reference(int(found["step"]), found["output"].strip().removeprefix("."))


def _output(step: Step, output: str, quote: Quote) -> str:
    if step.status == "skipped":
        return f"(step {step.index} was skipped)"
    if output == "output_files":
        return ", ".join(" ".join(path.split()) for path in step.output_files) or "(no files)"
    return quote(step, step.output_summary) if step.output_summary else "(no words)"
