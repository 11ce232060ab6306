"""The form of a step that is the user's, and what its answers hand on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.group_chat.forms import LONGEST_LINE, LONGEST_TEXT, Answer, Field, Form, read_form
from app.group_chat.plan_steps import Answered, Skipped
from app.group_chat.plan_values import Step
from app.group_chat.roles import USER
from app.workspace.rows import MessageRow


def form_of(step: Step, text: str) -> Form:
    """``text`` is its input, filled in. Without fields of its own it asks for one answer."""
    if step.fields:
        form = read_form({"title": step.title, "fields": step.fields})
        assert isinstance(form, Form), form
        return form
    is_short = len(text) <= LONGEST_LINE and "\n" not in text
    label, help = (text, "") if is_short else (step.title, text[:LONGEST_TEXT])
    return Form(step.title, (Field("answer", "textarea", label, required=True, help=help),))


def wrong_fields(steps: Iterable[Step]) -> str:
    """What is wrong with the fields that steps name, in a sentence; empty where nothing is."""
    for step in steps:
        if step.assignee == USER and step.fields:
            form = read_form({"title": step.title, "fields": step.fields})
            if isinstance(form, str):
                return f"Step {step.index}: {form}"
    return ""


def came_of_form(row: MessageRow) -> Answered | Skipped:
    """What the end of the form of a step means for it."""
    step = int(row.data["step"])
    if row.data.get("answer") != "sent":
        return Skipped(step)
    form, answers = Form.of(row.data), row.data["answers"]
    files = (answers[field.id] for field in form.fields if field.type == "file")
    return Answered(step, _in_words(form, answers), tuple(str(path) for path in files if path))


def _in_words(form: Form, answers: Mapping[str, Answer]) -> str:
    if len(form.fields) == 1:
        return _shown(answers[form.fields[0].id])
    return "\n".join(f"{field.label}: {_shown(answers[field.id])}" for field in form.fields)


def _shown(answer: Answer) -> str:
    match answer:
        case None:
            return "(no answer)"
        case bool():
            return "yes" if answer else "no"
        case list():
            return ", ".join(answer)
        case _:
            return str(answer)
