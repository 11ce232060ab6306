"""How members are called and coloured: by their files, and by their ids once those are gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.web.member_words import member_hue, member_label
from app.web.views import message_view
from app.workspace.agent_files import AgentFile
from tests.web.samples import row

CLERK = AgentFile("harbour-clerk", "Harbour\u202e clerk", color="a8")


def find(id: str) -> AgentFile | None:
    """Knows the clerk, and one that took the name of an id of ours."""
    known = {CLERK.id: CLERK, "commander": replace(CLERK, name="Usurper")}
    return known.get(id)


@pytest.mark.parametrize(
    ("member", "label", "hue"),
    [
        ("harbour-clerk", "Harbour\ufffd clerk", "a8"),
        ("commander", "Commander", "cmd"),
        ("user", "You", ""),
        ("long-gone", "Long gone", ""),
        ("", "Somebody", ""),
    ],
)
def test_a_member_is_called_and_coloured(member: str, label: str, hue: str) -> None:
    assert (member_label(member, find), member_hue(member, find)) == (label, hue)


def test_what_a_member_says_does_and_asks_is_drawn_with_its_name_and_colour() -> None:
    for kind, data in (
        ("assistant", {}),
        ("tool_call", {"name": "bash"}),
        ("approval", {"approval": "command"}),
    ):
        view = message_view(row(kind, member=CLERK.id, **data), agents=find)  # type: ignore[arg-type]  # kinds by name
        assert (view.label, view.hue) == ("Harbour\ufffd clerk", "a8")
    assert getattr(view, "question", "") == "Harbour\ufffd clerk wants to run a command"


def test_what_plancia_says_of_a_member_is_its_own() -> None:
    view = message_view(row("notice", member=CLERK.id, notice="stopped"), agents=find)
    assert (view.label, view.hue, view.member) == ("Plancia", "", "harbour-clerk")
