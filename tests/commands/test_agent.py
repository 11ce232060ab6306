"""``plancia agent``: list, show, import, remove."""

from __future__ import annotations

import pytest

from app.prompts.team import TEAM, find_shipped
from tests.commands.seat import Seat
from tests.workspace.test_agent_files import CLAUDE


@pytest.fixture
def claude(seat: Seat) -> str:
    """A folder with one agent and one file that is none."""
    home = seat.home / "there" / ".claude" / "agents"
    home.mkdir(parents=True)
    (home / "code-reviewer.md").write_text(CLAUDE)
    (home / "README.md").write_text("# Agents")
    return str(seat.home / "there")


def test_the_team_is_listed_and_what_is_wrong_is_told(seat: Seat) -> None:
    assert seat("agent", "list").code == 0
    (seat.folder.agents / "broken.md").write_text("---\nname: X\n")
    ran = seat("agent", "list")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["id", *TEAM, "broken"]
    assert ran.err.startswith("broken: It begins with ---")


def test_the_list_as_json_has_every_field(seat: Seat) -> None:
    agents = {agent["id"]: agent for agent in seat("agent", "list", "--json").json}
    assert list(agents) == list(TEAM)
    tutor = agents["tutor"]
    assert (tutor["name"], tutor["interactive"], tutor["is_shipped"], tutor["model"]) == (
        "Tutor",
        True,
        True,
        None,
    )
    assert "ask_user" in tutor["tools"]


def test_one_is_shown_as_its_file(seat: Seat) -> None:
    assert seat("agent", "show", "coder").out == find_shipped("coder")
    ran = seat("agent", "show", "nobody")
    assert (ran.code, ran.err) == (2, "There is no agent 'nobody'.\n")


def test_agents_of_other_programs_are_taken_over_and_never_twice(seat: Seat, claude: str) -> None:
    ran = seat("agent", "import", claude)
    assert (ran.code, ran.out) == (0, ".claude/agents/code-reviewer.md: taken over as code-reviewer.\n")
    assert ".claude/agents/README.md: left. It is no agent" in ran.err
    assert "The model “sonnet” names no provider" in ran.err
    assert seat("agent", "show", "code-reviewer").out == CLAUDE
    again = seat("agent", "import", claude)
    assert (again.code, again.out, "already" in again.err) == (1, "", True)
    assert seat("agent", "import", str(seat.home / "nowhere")).code == 2


def test_one_is_removed_and_one_that_ships_comes_back(seat: Seat, claude: str) -> None:
    seat("agent", "import", claude)
    assert seat("agent", "remove", "code-reviewer").out.startswith("Removed code-reviewer.")
    assert seat("agent", "show", "code-reviewer").code == 2
    (seat.folder.agents / "coder.md").write_text("---\nname: Mine\n---\nCode.")
    assert seat("agent", "remove", "coder").out == "Removed Mine. It is again as it ships.\n"
    ran = seat("agent", "remove", "coder")
    assert (ran.code, "can be switched off and not be removed" in ran.err) == (2, True)
