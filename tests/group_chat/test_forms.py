"""Forms as values: what of a model's questions can be shown, and what of a user's answers can be taken."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.group_chat.forms import (
    LONGEST_ANSWER,
    LONGEST_LINE,
    MOST_FIELDS,
    MOST_OPTIONS,
    SCHEMA,
    Checked,
    Field,
    FieldType,
    Form,
    check_answers,
    read_form,
    typed_default,
)


def form_of(*fields: dict[str, Any], title: str = "") -> Form:
    form = read_form({"title": title, "fields": list(fields)})
    assert isinstance(form, Form), form
    return form


def field_of(**given: Any) -> Field:
    return form_of({"id": "a", "type": "text", "label": "A?", **given}).fields[0]


def checked(type: FieldType, *typed: str, **more: Any) -> Checked:
    form = Form("", (Field("a", type, "A?", **more),))
    return check_answers(form, {"a": typed} if typed else {}, lambda path: "" if path == "a.txt" else "No.")


FITS: dict[str, Any] = {"fields": [{"id": "a", "type": "text", "label": "A?"}]}


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        (FITS, True),
        ({**FITS, "title": "T"}, True),
        ({"title": "T"}, False),
        ({"fields": []}, False),
        ({"fields": FITS["fields"] * (MOST_FIELDS + 1)}, False),
        ({"fields": [{"id": "a", "type": "password", "label": "A?"}]}, False),
        ({"fields": [{"id": "a", "type": "text"}]}, False),
        ({"fields": [{"id": "a", "type": "text", "label": "A?", "onclick": "x"}]}, False),
        ({"fields": [{"id": "a", "type": "select", "label": "A?", "options": [{"value": 1}]}]}, False),
        ({"fields": [{"id": "a", "type": "boolean", "label": "A?", "default": True}]}, True),
        ({"fields": [{"id": "a", "type": "number", "label": "A?", "default": 1.5}]}, True),
    ],
)
def test_the_schema_takes_what_is_a_form(arguments: dict[str, Any], fits: bool) -> None:
    assert Draft202012Validator(SCHEMA).is_valid(arguments) is fits


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([{"id": "a"}, {"id": "a"}], "Two fields have the id 'a'"),
        ([{"id": ""}], "no id that a field can have"),
        ([{"id": "1a"}], "no id"),
        ([{"id": "a b"}], "no id"),
        ([{"id": 'a"><script>'}], "no id"),
        ([{"id": "a" * 41}], "no id"),
        ([{"id": "à"}], "no id"),
        ([{"id": "action"}], "no id"),
        ([{"label": " \n "}], "has no label"),
        ([{"type": "select"}], "has no options"),
        ([{"type": "multiselect", "options": ["", " "]}], "has no options"),
        ([{"type": "select", "options": [str(n) for n in range(MOST_OPTIONS + 1)]}], "more than"),
    ],
)
def test_a_form_that_cannot_be_shown_is_refused_in_words(fields: list[dict[str, Any]], why: str) -> None:
    given = [{"id": "a", "type": "text", "label": "A?", **field} for field in fields]
    refusal = read_form({"fields": given})
    assert isinstance(refusal, str)
    assert why in refusal


@pytest.mark.parametrize("id", ["a", "A1", "berths_to-include", "Action", "actions", "a" * 40])
def test_every_other_id_is_taken(id: str) -> None:
    assert field_of(id=id).id == id


def test_what_is_longer_than_a_line_is_cut_and_stands_on_one_line() -> None:
    field = field_of(label="a\nb\t c" + "x" * 999, help="y" * 9999, options=["same", "same ", "o" * 999])
    assert field.label.startswith("a b cx")
    assert len(field.label) == len(field.options[1]) == LONGEST_LINE
    assert field.options[0] == "same"
    assert len(field.help) == 1000


@pytest.mark.parametrize(
    ("type", "default", "stands"),
    [
        ("text", "x", ("x",)),
        ("text", 12, ("12",)),
        ("text", None, ()),
        ("text", True, ()),
        ("text", ["x"], ()),
        ("textarea", "a\n b", ("a\n b",)),
        ("number", 1.5, ("1.5",)),
        ("number", {"x": 1}, ()),
        ("boolean", True, ("yes",)),
        ("boolean", False, ()),
        ("boolean", "true", ("yes",)),
        ("boolean", "no", ()),
        ("boolean", None, ()),
        ("multiselect", ["x", "y"], ("x", "y")),
        ("multiselect", ["x", 1, None], ("x",)),
        ("multiselect", "x", ("x",)),
        ("select", "x", ("x",)),
    ],
)
def test_a_default_stands_there_where_it_fits_its_field(type: str, default: object, stands: object) -> None:
    assert typed_default(field_of(type=type, default=default, options=["x", "y"])) == stands


@pytest.mark.parametrize(
    ("type", "typed", "answer"),
    [
        ("text", [" x "], "x"),
        ("text", [""], None),
        ("text", [], None),
        ("textarea", ["a\n\nb\n"], "a\n\nb"),
        ("number", ["12"], 12),
        ("number", [" -1.5 "], -1.5),
        ("number", ["1e3"], 1000.0),
        ("number", ["9007199254740993"], 9007199254740993),
        ("number", [""], None),
        ("boolean", ["yes"], True),
        ("boolean", [], False),
        ("boolean", ["no"], False),
        ("select", ["x"], "x"),
        ("select", [""], None),
        ("multiselect", ["x", "y", "x"], ["x", "y"]),
        ("multiselect", [], None),
        ("file", ["a.txt"], "a.txt"),
    ],
)
def test_an_answer_comes_in_the_kind_of_its_field(type: FieldType, typed: list[str], answer: object) -> None:
    came = checked(type, *typed, options=("x", "y"))
    assert came == Checked({"a": answer}, {})
    assert isinstance(came.answers["a"], answer.__class__)


@pytest.mark.parametrize(
    ("type", "typed"),
    [
        ("number", "many"),
        ("number", "1,5"),
        ("number", "nan"),
        ("number", "inf"),
        ("number", "1_000"),
        ("number", "0x10"),
        ("number", "1e999"),
        ("number", "٣"),
        ("number", "1" * 41),
        ("select", "z"),
        ("multiselect", "z"),
        ("file", "../secret"),
        ("text", "x" * (LONGEST_ANSWER + 1)),
    ],
)
def test_an_answer_that_does_not_fit_is_named(type: FieldType, typed: str) -> None:
    assert set(checked(type, typed, options=("x", "y")).errors) == {"a"}


@pytest.mark.parametrize("type", ["text", "textarea", "select", "multiselect", "number", "file"])
def test_only_what_is_required_has_to_be_filled_in(type: FieldType) -> None:
    assert checked(type, " ", required=True, options=("x",)).errors
    assert checked(type, required=True, options=("x",)).errors
    assert not checked(type, required=False, options=("x",)).errors


def test_a_box_that_is_not_ticked_is_an_answer() -> None:
    assert checked("boolean", required=True) == Checked({"a": False}, {})


def test_what_nobody_asked_for_is_not_taken() -> None:
    form = Form("", (Field("a", "text", "A?"),))
    assert check_answers(form, {"a": ["x"], "b": ["y"]}, lambda _: "").answers == {"a": "x"}


def test_what_is_stored_of_a_form_is_the_form() -> None:
    form = form_of({"id": "a", "type": "select", "label": "A?", "options": ["x"], "default": "x"}, title="T")
    assert Form.of(form.stored()) == form
