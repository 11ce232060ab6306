"""What a step takes over from others is filled in once, and only what is about steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.group_chat.plan_check import check_plan
from app.group_chat.plan_templates import fill, references, renumbered
from app.group_chat.plan_values import Plan
from app.group_chat.visibility import Request


def plan() -> Plan:
    found = check_plan(
        [{"index": index, "title": "x", "assignee": "coder"} for index in (1, 2, 3)],
        ["coder"],
        Request("Ahoy"),
    )
    assert isinstance(found, Plan)
    first, second, third = found.steps
    done = replace(
        first,
        status="done",
        output_summary="{{step_2.output_files}} {{user_message}}",
        output_files=("a.md", "b c.csv"),
    )
    return replace(found, steps=(done, replace(second, status="skipped"), replace(third, status="done")))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{step_1.output_summary}}", "{{step_2.output_files}} {{user_message}}"),
        ("{{ step_1.output_files }}.", "a.md, b c.csv."),
        ("{{step_01.output_files}}", "a.md, b c.csv"),
        ("{{{step_1.output_files}}}", "{a.md, b c.csv}"),
        ("[{{step_3.output_summary}}] [{{step_3.output_files}}]", "[(no words)] [(no files)]"),
        ("{{step_2.output_summary}}", "(step 2 was skipped)"),
        ("{{user_message}} {{ user_message }}", "Ahoy Ahoy"),
        ("{{name}} {{ step }} {step_1} {{step_one.output_summary}} {{user_messages}} 100 %s \\1", None),
        ("{{step_9999999999.output_summary}}", None),
    ],
)
def test_references_are_filled_in_and_other_braces_stay(template: str, text: str | None) -> None:
    assert fill(template, plan()) == (template if text is None else text)


def test_references_are_found_with_what_they_want() -> None:
    assert list(references("{{step_2.output_files}} {{step_1}} {{user_message}} {{ step_3 . x }}")) == [
        (2, "output_files"),
        (1, ""),
        (3, " x"),
    ]


@pytest.mark.parametrize("piece", ["{{", "{{step_1", "{{ ", "{{step_1.", "}"])
def test_a_hostile_template_is_read_all_the_same(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert fill(text, plan()) == text


def test_references_follow_the_steps_when_these_have_other_numbers() -> None:
    text = "{{step_1.output_summary}}, {{ step_2.output_files }}, {{step_3}}, {{user_message}}, step_1, {{x}}"
    assert renumbered(text, {1: 2, 2: 1}) == (
        "{{step_2.output_summary}}, {{ step_1.output_files }}, {{step_3}}, {{user_message}}, step_1, {{x}}"
    )
