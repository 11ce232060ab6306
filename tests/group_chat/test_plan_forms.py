"""The form of a step that is the user's."""

from __future__ import annotations

from typing import Any

from app.group_chat.plan_forms import came_of_form, form_of, wrong_fields
from app.group_chat.plan_steps import Answered, Skipped
from app.group_chat.plan_values import Step
from app.workspace.rows import MessageRow

FIELDS = (
    {"id": "colour", "type": "select", "label": "Colour?", "options": ["red", "blue"]},
    {"id": "picture", "type": "file", "label": "Picture?"},
    {"id": "sure", "type": "boolean", "label": "Sure?"},
)


def ended(step: Step, **data: Any) -> MessageRow:
    kept = {"step": step.index, **form_of(step, step.template).stored(), **data}
    return MessageRow("form_1", "conv_1", 1, 1, None, "commander", "form", "done", "", kept, "", None)


def test_a_step_without_fields_asks_for_one_answer() -> None:
    (field,) = form_of(Step(1, "Colour", "user", ""), "Which colour?").fields
    assert (field.id, field.type, field.label, field.required) == (
        "answer",
        "textarea",
        "Which colour?",
        True,
    )
    (long,) = form_of(Step(1, "Colour", "user", ""), "First line.\nSecond line.").fields
    assert (long.label, long.help) == ("Colour", "First line.\nSecond line.")


def test_an_answer_is_handed_on_as_it_is_and_several_with_what_was_asked() -> None:
    one = Step(1, "Colour", "user", "Which?")
    assert came_of_form(ended(one, answer="sent", answers={"answer": "Red."})) == Answered(1, "Red.")
    three = Step(2, "Colour", "user", "Which?", fields=FIELDS)
    answers = {"colour": "red", "picture": "a.png", "sure": True}
    assert came_of_form(ended(three, answer="sent", answers=answers)) == Answered(
        2, "Colour?: red\nPicture?: a.png\nSure?: yes", ("a.png",)
    )
    nothing = {"colour": None, "picture": None, "sure": False}
    assert came_of_form(ended(three, answer="sent", answers=nothing)) == Answered(
        2, "Colour?: (no answer)\nPicture?: (no answer)\nSure?: no"
    )


def test_a_form_that_is_declined_skips_its_step() -> None:
    assert came_of_form(ended(Step(3, "Colour", "user", ""), answer="declined")) == Skipped(3)


def test_fields_that_no_form_can_have_are_told() -> None:
    assert wrong_fields([Step(1, "A", "user", "", fields=FIELDS), Step(2, "B", "coder", "")]) == ""
    twice = (FIELDS[0], FIELDS[0])
    assert "Step 1" in wrong_fields([Step(1, "A", "user", "", fields=twice)])
