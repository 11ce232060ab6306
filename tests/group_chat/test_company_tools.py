"""The tools by which members work with each other, as a model sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.engine.tools import HandsOver, ToolContext, ToolOutput
from app.group_chat.company_tools import SILENT, commander_tools, guest_tools
from app.group_chat.plan_tool import plan_tools
from app.workspace.agent_files import AgentFile

CODER = AgentFile("coder", "Coder", "Writes and checks programs.")
TUTOR = AgentFile("tutor", "Tutor", "Teaches.", interactive=True)


async def work(arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
    return ToolOutput("done")


def test_members_are_named_by_their_ids_and_described_by_their_files() -> None:
    tools = commander_tools([CODER, TUTOR], dispatch=work, worker=work, hand_off=work)
    to = tools["dispatch_to"].parameters["properties"]["to"]
    assert to["enum"] == ["coder", "tutor"]
    assert "coder (Coder): Writes and checks programs." in to["description"]
    assert "tutor (Tutor, keeps the floor): Teaches." in to["description"]


def test_without_a_team_there_are_workers_without_names_only() -> None:
    tools = commander_tools([], dispatch=work, worker=work, hand_off=work)
    assert list(tools) == ["run_worker"]
    assert list(tools["run_worker"].parameters["properties"]) == ["task"]


def test_all_of_them_hand_work_over_and_have_articles_of_their_own() -> None:
    given = commander_tools([CODER], dispatch=work, worker=work, hand_off=work)
    tools = {**given, **guest_tools(work), **plan_tools(["coder"], work)}
    assert set(tools) == SILENT - {"ask_user"}
    assert all(isinstance(tool, HandsOver) and not tool.read_only for tool in tools.values())
