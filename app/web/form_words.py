"""A form of a member as the page shows it: its fields with what stands in them, or what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.group_chat.forms import Answer, Field, Form, Typed, typed_default
from app.group_chat.open_forms import TOO_LATE
from app.web.entries import FieldView, FormView
from app.web.plain import one_line, plain
from app.web.times import local
from app.workspace.rows import MessageRow

_ENDED = {"sent": "You answered", "declined": "You declined to answer"}
_EMPTY = "left empty"
_ANSWER = "answer."
"""Before the ids: a field that is called as a member chose, ``id`` or ``submit``, would stand for that of its form."""


def form_view(row: MessageRow, frame: Mapping[str, Any]) -> FormView:
    data, waits = row.data, row.state == "streaming"
    form = Form.of(data)
    answer = "" if waits else str(data.get("answer") or "stale")
    answers = data.get("answers") or {}
    return FormView(
        kind="form",
        waits=waits,
        title=one_line(form.title) or f"Questions of {frame['label']}",
        fields=tuple(
            _field(f"{row.id}-{number}", field, typed_default(field))
            for number, field in enumerate(form.fields, 1)
        ),
        wrong="",
        answer=answer,
        ended="" if waits else _ENDED.get(answer, TOO_LATE),
        ended_at=local(str(data["answered_at"])) if data.get("answered_at") else None,
        answers=tuple(
            (one_line(field.label), _answered(field, answers.get(field.id), row)) for field in form.fields
        ),
        send=f"/conversations/{row.conversation}/forms/{row.id}",
        **{**frame, "state": "done" if waits else row.state},
    )


def refused_view(view: FormView, form: Form, typed: Typed, errors: Mapping[str, str]) -> FormView:
    """The same with what was typed, and, by field, why it could not be sent."""
    return replace(
        view,
        fields=tuple(
            _field(shown.id, field, typed.get(field.id, ()), errors.get(field.id, ""))
            for shown, field in zip(view.fields, form.fields, strict=True)
        ),
        wrong=", ".join(one_line(field.label) for field in form.fields if field.id in errors),
    )


def typed_in(fields: Typed) -> Typed:
    """What a browser sent, by the ids of the fields: with the names of the page, or with the ids themselves."""
    return {name.removeprefix(_ANSWER): values for name, values in fields.items()}


def file_fields(form: Form) -> dict[str, str]:
    """The fields that are answered by a file, by each name that they may be sent under."""
    ids = [field.id for field in form.fields if field.type == "file"]
    return {name: id for id in ids for name in (id, f"{_ANSWER}{id}")}


def _field(id: str, field: Field, stands: Sequence[str], error: str = "") -> FieldView:
    return FieldView(
        id=id,
        name=f"{_ANSWER}{field.id}",
        type=field.type,
        label=one_line(field.label),
        required=field.required,
        options=tuple((option, one_line(option), option in stands) for option in field.options),
        value=plain(stands[0]) if stands else "",
        help=one_line(field.help),
        error=error,
    )


def _answered(field: Field, answer: Answer, row: MessageRow) -> str:
    """A file that was sent with the form goes by its name."""
    uploaded = field.type == "file" and f"/attachments/{row.conversation}/" in str(answer)
    return _said(str(answer).rpartition("/")[2] if uploaded else answer)


def _said(answer: Answer) -> str:
    match answer:
        case None:
            return _EMPTY
        case bool(ticked):
            return "Yes" if ticked else "No"
        case list(chosen):
            return ", ".join(map(one_line, chosen))
        case value:
            return plain(str(value))
