"""The form of a step: what it is given to, and what a line of steps means."""

from __future__ import annotations

from app.web.step_forms import named_steps, step_form


def test_a_line_names_steps_by_number_and_keeps_what_is_none() -> None:
    assert named_steps(" 1,2; 3  4") == [1, 2, 3, 4]
    assert named_steps("") == []
    assert named_steps("1, soon ² -1 99999") == [1, "soon", "²", "-1", "99999"]


def test_whoever_has_a_step_stays_a_choice_though_it_is_gone() -> None:
    form = step_form(
        title="T\n", input="I", after="1", assignee="gone", on_failure="continue", team=["coder"]
    )
    assert [(each.value, each.chosen) for each in form.assignees] == [
        ("coder", False),
        ("commander", False),
        ("user", False),
        ("gone", True),
    ]
    assert [each.value for each in form.on_failure if each.chosen] == ["continue"]
    assert (form.title, form.error("title")) == ("T", "")
