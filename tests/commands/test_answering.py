"""Forms where there is no page: filled in by who sits at the terminal, declined where nobody does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.commands.answering import read_line
from app.group_chat.forms import Field, FieldType
from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

FIELDS = [
    {"id": "name", "type": "text", "label": "Name?", "required": True},
    {"id": "colour", "type": "select", "label": "Colour?", "options": ["red", "blue"], "default": "red"},
    {"id": "size", "type": "number", "label": "How \u001b[31mmany?", "required": True, "help": "In pieces."},
]


@pytest.fixture
def asked(seat: Seat, llm: FakeLLM) -> Seat:
    """The model is about to ask with a form."""
    seat.with_model(llm)
    llm.script(say("", calls=[call("ask_user", {"title": "Before I begin", "fields": FIELDS})]), say("Done."))
    return seat


def told(llm: FakeLLM) -> str:
    return str(llm.bodies()[-1]["messages"][-1]["content"])


def test_without_a_terminal_it_is_declined_and_the_model_is_told_why(asked: Seat, llm: FakeLLM) -> None:
    ran = asked("run", "Paint it.", "--approve", "always")
    assert (ran.code, ran.out.strip()) == (3, "Done.")
    assert "declined to answer: nobody could be asked, because the run has no terminal." in told(llm)


def test_in_json_the_form_is_a_line_of_its_own(asked: Seat) -> None:
    ran = asked("run", "Paint it.", "--json")
    (form,) = [event for event in ran.events if event["type"] == "form"]
    assert form["title"] == "Before I begin"
    assert [(field["id"], field["type"]) for field in form["fields"]] == [
        ("name", "text"),
        ("colour", "select"),
        ("size", "number"),
    ]
    assert form["member"] == "commander"
    assert ran.code == 3


def test_at_a_terminal_it_is_asked_field_by_field_and_again_where_an_answer_does_not_fit(
    asked: Seat, llm: FakeLLM
) -> None:
    ran = asked("run", "Paint it.", typed="Ahoy\n2\nmany\n7\n", watched=True)
    assert ran.code == 0
    assert json.loads(told(llm).split("\n", 1)[1]) == {"name": "Ahoy", "colour": "blue", "size": 7}
    assert "Before I begin" in ran.err
    assert "    2  blue" in ran.err
    assert "Type a number, such as 12 or 1.5." in ran.err
    assert "\x1b[31m" not in ran.err


@pytest.mark.parametrize("typed", ["", "Ahoy\n", "Ahoy\n\nmany\n"])
def test_the_end_of_the_input_declines(asked: Seat, llm: FakeLLM, typed: str) -> None:
    ran = asked("run", "Paint it.", typed=typed, watched=True)
    assert ran.code == 0
    assert "declined to answer: they left the form." in told(llm)


@pytest.mark.parametrize("keys", [b"Ahoy\n\n7\n", b"\x03"], ids=["answered", "Ctrl-C"])
def test_on_a_real_terminal_it_is_filled_in_or_given_up(asked: Seat, keys: bytes) -> None:
    code, _ = asked.at_terminal("run", "Paint it.", until=b"Name?", keys=keys)
    assert code == (130 if keys == b"\x03" else 0)


@pytest.mark.parametrize(
    ("type", "line", "says"),
    [
        ("text", "x", ("x",)),
        ("text", "", ("a",)),
        ("text", "-", ()),
        ("boolean", "y", ("yes",)),
        ("boolean", "YES", ("yes",)),
        ("boolean", "no", ()),
        ("select", "2", ("b",)),
        ("select", "b", ("b",)),
        ("select", "9", ("9",)),
        ("multiselect", "1, 2", ("a", "b")),
        ("multiselect", "a,9", ("a", "9")),
    ],
)
def test_a_line_is_read_as_its_field_is_meant(type: FieldType, line: str, says: Any) -> None:
    assert read_line(Field("f", type, "F?", default="a", options=("a", "b")), line) == says


def test_an_option_that_looks_like_a_number_is_itself() -> None:
    field = Field("f", "select", "How many?", options=("2", "1"))
    assert read_line(field, "1") == ("1",)
