"""Forms: what a member may ask the user, and what the user may answer. All that a model asked for is untrusted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, assert_never, get_args

from app.hands.tool import schema

FieldType = Literal["text", "textarea", "select", "multiselect", "number", "boolean", "file"]

Answer = str | int | float | bool | list[str] | None
"""None: left empty."""

Typed = Mapping[str, Sequence[str]]
"""Answers as a page or a terminal has them, by field; a box that is not ticked is missing."""

Unreadable = Callable[[str], str]
"""What is wrong with a path of the user, in a sentence; nothing where it is a file that can be read."""

MOST_FIELDS = 20
MOST_OPTIONS = 50
LONGEST_LINE = 200
"""Characters of a title, a label or an option."""
LONGEST_TEXT = 1_000
"""Of a help or a default."""
LONGEST_ANSWER = 20_000
TICKED = "yes"

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_RESERVED = "action"
"""What a page sends beside the answers."""


@dataclass(frozen=True, slots=True)
class Field:
    id: str
    type: FieldType
    label: str
    required: bool = False
    default: Answer = None
    options: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    title: str
    """Empty where the member gave none."""
    fields: tuple[Field, ...]

    def stored(self) -> dict[str, Any]:
        """As JSON; ``of`` reads it."""
        return {"title": self.title, "fields": [asdict(field) for field in self.fields]}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        fields = (Field(**{**field, "options": tuple(field["options"])}) for field in data["fields"])
        return cls(str(data["title"]), tuple(fields))


@dataclass(frozen=True, slots=True)
class Checked:
    """By field: the answers, or what is wrong with them, in sentences."""

    answers: Mapping[str, Answer]
    errors: Mapping[str, str]


SCHEMA = schema(
    {
        "fields": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_FIELDS,
            "items": schema(
                {
                    "id": {"type": "string", "description": "Name of the answer: letters, digits, _ and -."},
                    "type": {"type": "string", "enum": list(get_args(FieldType))},
                    "label": {"type": "string", "description": "The question, as the user reads it."},
                },
                {
                    "required": {"type": "boolean"},
                    "default": {"description": "What stands there already; a list for a multiselect."},
                    "options": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "What can be chosen, for select and multiselect.",
                    },
                    "help": {"type": "string", "description": "A line below the field."},
                },
            ),
        },
    },
    {"title": {"type": "string", "description": "What the questions are about, in a few words."}},
)


def read_form(arguments: Mapping[str, Any]) -> Form | str:
    """The form of a call that fits ``SCHEMA``, or what is wrong with it, for the model."""
    form = Form(
        _line(arguments.get("title", "")), tuple(_field(given) for given in arguments["fields"][:MOST_FIELDS])
    )
    ids = [field.id for field in form.fields]
    if twice := next((id for id in ids if ids.count(id) > 1), None):
        return f"Two fields have the id {twice!r}. Give each its own."
    problems = (problem for field in form.fields if (problem := _problem(field)))
    return next(problems, None) or form


def check_answers(form: Form, typed: Typed, unreadable: Unreadable) -> Checked:
    """Every answer in the kind of its field. ``unreadable`` may look at the disk."""
    answers: dict[str, Answer] = {}
    errors: dict[str, str] = {}
    for field in form.fields:
        answer = _answer(field, typed.get(field.id, ()))
        if error := _error(field, answer, unreadable):
            errors[field.id] = error
        answers[field.id] = _number(answer) if field.type == "number" and isinstance(answer, str) else answer
    return Checked(answers, errors)


def typed_default(field: Field) -> tuple[str, ...]:
    """What stands in a field before anybody has typed."""
    match field.default:
        case None | False:
            return ()
        case True:
            return (TICKED,)
        case list(chosen):
            return tuple(chosen)
        case value:
            return (str(value),)


def _field(given: Mapping[str, Any]) -> Field:
    kind: FieldType = given["type"]
    options = (_line(option) for option in given.get("options", ()))
    return Field(
        id=given["id"],
        type=kind,
        label=_line(given["label"]),
        required=bool(given.get("required")),
        default=_default(kind, given.get("default")),
        options=tuple(dict.fromkeys(option for option in options if option)),
        help=_line(given.get("help", ""), LONGEST_TEXT),
    )


def _default(kind: FieldType, value: object) -> Answer:
    """A default in the kind of its field; one that does not fit is none."""
    match kind, value:
        case "boolean", bool(ticked):
            return ticked
        case "boolean", _:
            return str(value).lower() in ("true", TICKED) if value is not None else None
        case "multiselect", str(chosen):
            return [_line(chosen)]
        case "multiselect", list(several):
            return [_line(each) for each in several if isinstance(each, str)]
        case _, bool() | list() | dict() | None:
            return None
        case "textarea", _:
            return str(value)[:LONGEST_TEXT]
        case _:
            return _line(str(value), LONGEST_TEXT)


def _problem(field: Field) -> str:
    """What is wrong with one field, for the model."""
    if not _ID.fullmatch(field.id) or field.id == _RESERVED:
        return f"{field.id[:40]!r} is no id that a field can have. Use letters, digits, _ and -, and not {_RESERVED!r}."
    if not field.label:
        return f"The field {field.id!r} has no label. Say what is asked."
    if field.type in ("select", "multiselect") and not field.options:
        return f"The field {field.id!r} has no options. Give what can be chosen, or use the type text."
    if len(field.options) > MOST_OPTIONS:
        return (
            f"The field {field.id!r} has more than {MOST_OPTIONS} options. Offer fewer, or use the type text."
        )
    return ""


def _answer(field: Field, typed: Sequence[str]) -> Answer:
    first = typed[0].strip() if typed else ""
    match field.type:
        case "boolean":
            return first == TICKED
        case "multiselect":
            return [each for each in dict.fromkeys(typed) if each] or None
        case "text" | "textarea" | "select" | "number" | "file":
            return first or None
        case _:
            assert_never(field.type)


def _error(field: Field, answer: Answer, unreadable: Unreadable) -> str:
    if answer is None:
        return _MISSING.get(field.type, "Fill this in.") if field.required else ""
    match field.type, answer:
        case "boolean", _:
            return ""
        case "multiselect", list(chosen):
            return "" if set(chosen) <= set(field.options) else "Choose only from what is offered."
        case "select", _:
            return "" if answer in field.options else "Choose one of what is offered."
        case "number", str(text):
            return "" if _number(text) is not None else "Type a number, such as 12 or 1.5."
        case "file", str(path):
            return unreadable(path)
        case _, str(text) if len(text) > LONGEST_ANSWER:
            return (
                f"This is longer than {LONGEST_ANSWER:,} characters. Put it into a file, and name the file."
            )
        case _:
            return ""


_MISSING: Mapping[FieldType, str] = {
    "select": "Choose one.",
    "multiselect": "Choose at least one.",
    "file": "Name a file.",
}


def _number(text: str) -> int | float | None:
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if text.lstrip("+-").isdecimal() else number


def _line(text: str, most: int = LONGEST_LINE) -> str:
    return " ".join(text.split())[:most]
