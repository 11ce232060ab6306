"""Who is at work and who has the floor, for those who look and for those who listen."""

from __future__ import annotations

import pytest

from app.group_chat.events import FORM, Floor, FloorState
from app.web.floor_views import announcement, floor_view
from tests.web.samples import TIME

FLOORS: list[tuple[FloorState, str | None, str]] = [
    ("thinking", None, "is thinking"),
    ("writing", None, "is writing"),
    ("tool", "read_file", "runs a tool: read"),
    ("tool", "of_a_connector", "runs a tool: of_a_connector"),
    ("tool", "{odd}", "runs a tool: {odd}"),
    ("waiting", None, "waits to try again"),
    ("stopping", None, "is stopping…"),
]


@pytest.mark.parametrize(("state", "detail", "words"), FLOORS)
def test_the_floor_line_says_who_does_what(state: FloorState, detail: str | None, words: str) -> None:
    view = floor_view([Floor(state, "commander", "turn_1", TIME, detail)])
    (one,) = view.at_work
    assert (view.live, one.who.label, one.words) == (True, "Commander", words)
    assert (one.stopping, view.stopping) == (state == "stopping", state == "stopping")


def test_nobody_at_work_is_no_line_and_one_word_for_a_listener() -> None:
    assert not floor_view().live
    assert announcement([]) == "Commander has ended its turn."
    assert announcement([], "tutor") == "Tutor has ended its turn."


TEAM = [
    Floor("tool", "commander", "turn_1", TIME, "dispatch_to"),
    Floor("writing", "coder", "turn_2", TIME),
    Floor("thinking", "worker", "turn_3", TIME),
]


def test_each_of_several_has_a_line_with_its_own_job() -> None:
    view = floor_view(TEAM, abouts={"turn_2": "Patch it", "turn_4": "Another"})
    assert [(one.who.label, one.words, one.about) for one in view.at_work] == [
        ("Commander", "waits for the others", ""),
        ("Coder", "is writing", "Patch it"),
        ("Worker", "is thinking", ""),
    ]
    assert view.guest is None


def test_a_listener_is_told_of_several_only_that_they_work_and_of_who_needs_them_first() -> None:
    assert announcement(TEAM) == "Commander, Coder and Worker are at work."
    asks = Floor("asking", "coder", "turn_2", TIME)
    assert announcement([TEAM[0], asks, TEAM[2]]) == "Coder needs your approval."


def test_a_form_waits_for_answers_and_not_for_an_approval() -> None:
    form = Floor("asking", "coder", "turn_2", TIME, FORM)
    (one,) = floor_view([form]).at_work
    assert (one.words, one.asks) == ("is waiting for your answers", True)
    assert announcement([form]) == "Coder needs your answers."


def test_whoever_has_the_floor_beside_commander_is_named() -> None:
    guest = floor_view([], "tutor").guest
    assert guest is not None
    assert guest.label == "Tutor"
