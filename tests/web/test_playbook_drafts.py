"""Steps of a playbook that change places: whatever names them names them still, and what is gone is told of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.plan_check import MOST_STEPS, PlanRefused, check_plan
from app.web.playbook_drafts import Draft, DraftStep
from app.workspace.playbooks import Parameter, Playbook

STEPS = (
    DraftStep("One", "coder", "{{what}}"),
    DraftStep("Two", "writer", "From {{step_1.output_summary}}", "1"),
    DraftStep("Three of {{step_2.output_files}}", "coder", "", "1, 2"),
)
DRAFT = Draft("Notes", "", STEPS)


def in_short(draft: Draft) -> list[tuple[str, str, str]]:
    return [(step.title, step.input, step.after) for step in draft.steps]


def test_a_step_that_moves_keeps_its_name_in_the_others() -> None:
    moved, focus = DRAFT.move(2, 1)
    assert focus == 3
    assert in_short(moved) == [
        ("One", "{{what}}", ""),
        ("Three of {{step_3.output_files}}", "", "1, 3"),
        ("Two", "From {{step_1.output_summary}}", "1"),
    ]


def test_a_step_that_is_removed_is_waited_for_by_none_and_what_took_its_output_is_refused() -> None:
    left, focus = DRAFT.remove(1)
    assert focus == 1
    assert in_short(left) == [
        ("Two", "From {{step_0.output_summary}}", ""),
        ("Three of {{step_1.output_files}}", "", "1"),
    ]
    checked = check_plan(left.playbook("").steps, ["coder", "writer"])
    assert isinstance(checked, PlanRefused)
    assert [(problem.step, problem.part) for problem in checked.problems] == [(1, "input")]


def test_a_step_is_added_at_the_end_as_long_as_there_may_be_one() -> None:
    more, focus = DRAFT.add()
    assert (focus, more.steps[-1].after) == (4, "3")
    full = Draft(steps=(DraftStep("x"),) * (MOST_STEPS + 1))
    assert full.add() == (full, MOST_STEPS + 1)


def test_a_step_at_the_end_goes_no_further() -> None:
    for step, by in ((1, -1), (3, 1), (0, 1), (9, -1)):
        assert DRAFT.move(step, by) == (DRAFT, step)


def test_a_playbook_is_the_same_once_it_was_a_draft() -> None:
    steps = (
        {
            "index": 1,
            "title": "Ask",
            "assignee": "user",
            "fields": [{"id": "a", "type": "text", "label": "A?"}],
        },
        {"index": 2, "title": "Do {{what}}", "assignee": "coder", "on_failure": "continue"},
    )
    playbook = Playbook("x", "Notes", steps, "Why.", (Parameter("what", "What?", "all"),))
    again = Draft.of(playbook, "").playbook("x")
    assert check_plan(again.steps, ["coder"]) == check_plan(steps, ["coder"])
    assert (again.name, again.description, again.about) == ("Notes", "Why.", playbook.about)


def test_fields_that_cannot_be_read_are_refused_and_not_lost() -> None:
    draft = Draft("x", "", (DraftStep("Ask", "user", fields="[{"),))
    assert isinstance(check_plan(draft.playbook("").steps, []), PlanRefused)


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from((-1, 1))), max_size=8))
def test_wherever_steps_go_each_still_waits_for_the_same_ones(moves: list[tuple[int, int]]) -> None:
    draft = DRAFT
    for step, by in moves:
        draft, _ = draft.move(step, by)
    places = {step.title.partition(" ")[0]: index for index, step in enumerate(draft.steps, 1)}
    two, three = draft.steps[places["Two"] - 1], draft.steps[places["Three"] - 1]
    assert two.after == str(places["One"])
    assert two.input == f"From {{{{step_{places['One']}.output_summary}}}}"
    assert {*three.after.split(", ")} == {str(places["One"]), str(places["Two"])}
