"""An agent as a line of the list: in a few words what it works with, and whether it can."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.web.agent_views import AgentForm, agent_view
from app.workspace.agent_files import AgentFile, unreadable

CLERK = AgentFile("harbour-clerk", "Harbour clerk", "Berths.", color="a8", prompt="Go.", version="v")


@pytest.mark.parametrize(
    ("agent", "facts", "tags"),
    [
        (CLERK, ("model of the conversation", "all tools"), ()),
        (replace(CLERK, tools=()), ("model of the conversation", "no tools"), ()),
        (
            replace(CLERK, model="lab/big", tools=("bash",), skills=("a", "b"), interactive=True),
            ("lab/big", "1 tool", "2 skills"),
            ("interactive",),
        ),
        (replace(CLERK, is_shipped=True), ("model of the conversation", "all tools"), ()),
        (
            replace(CLERK, is_shipped=True, is_stored=True, disabled=True),
            ("model of the conversation", "all tools"),
            ("changed by you", "off"),
        ),
        (unreadable("big", "Its file is too large."), (), ("cannot be used",)),
    ],
)
def test_what_it_works_with_is_said(agent: AgentFile, facts: tuple[str, ...], tags: tuple[str, ...]) -> None:
    view = agent_view(agent)
    assert (view.facts, view.tags) == (facts, tags)


def test_only_one_that_is_ready_can_be_written_to() -> None:
    assert agent_view(CLERK).draft == "@Harbour clerk"
    assert agent_view(replace(CLERK, disabled=True)).draft == ""
    assert agent_view(replace(CLERK, problem="It says nothing.")).draft == ""


def test_one_whose_file_is_not_called_like_an_agent_has_no_page() -> None:
    assert agent_view(unreadable("My Agent", "Rename it.")).href == ""
    assert agent_view(CLERK).href == "/agents/harbour-clerk"


def test_one_of_which_nothing_can_be_read_cannot_be_switched() -> None:
    assert agent_view(CLERK).can_switch
    assert not agent_view(unreadable("big", "Its file is too large.")).can_switch


def test_words_of_a_file_are_one_harmless_line() -> None:
    view = agent_view(replace(CLERK, name="A\u202eB", description="one\x1b[31m\ntwo", notes=("a\nb",)))
    assert (view.name, view.description, view.notes) == ("A\ufffdB", "one[31m two", ("a b",))


@pytest.mark.parametrize(
    ("form", "status"),
    [
        (AgentForm({}), 200),
        (AgentForm({}, errors={"name": "No."}), 422),
        (AgentForm({}, stale="Changed."), 409),
    ],
)
def test_a_form_says_how_it_went(form: AgentForm, status: int) -> None:
    assert form.status == status
