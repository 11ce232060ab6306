"""The tools by which members work with each other: for Commander to give work away, for a guest to give the floor back.

Each is only what a model sees of it; what happens is done by ``Dispatching``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from app.engine.tools import HandsOver, ToolContext, ToolMap, ToolOutput
from app.hands.tool import schema
from app.workspace.agent_files import AgentFile

Work = Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolOutput]]

SILENT = frozenset({"ask_user", "dispatch_to", "run_worker", "hand_off_to", "hand_back", "set_plan"})
"""Tools whose calls have articles of their own in the chat, or none."""


class CompanyTool(HandsOver):
    """One of them. Its work is somebody else's, so nothing of it runs in a hurry."""

    read_only = False

    def __init__(self, name: str, description: str, parameters: Mapping[str, Any], work: Work) -> None:
        self.name = name
        self.description = description
        self.parameters = parameters
        self._work = work

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        return await self._work(arguments, context)


def commander_tools(team: list[AgentFile], *, dispatch: Work, worker: Work, hand_off: Work) -> ToolMap:
    """What Commander has: without a team only workers without a name."""
    to = {"type": "string", "enum": [agent.id for agent in team], "description": _who(team)}
    job = "All that is needed to do it: what, where, how it is to come back. The member knows nothing else."
    tools = [
        CompanyTool(
            "run_worker",
            "Give a part of your own work to a worker, and get its result; you stay responsible for it. Without `to` a "
            "worker without a name does it, unseen in the chat. Several in one step work at the same time.",
            schema(
                {"task": {"type": "string", "minLength": 1, "description": job}}, {"to": to} if team else {}
            ),
            worker,
        )
    ]
    if team:
        tools += [
            CompanyTool(
                "dispatch_to",
                "Send a member to do a job to its end. Its answer is shown in the chat and comes back to you as the "
                "result. Independent jobs belong in one step: they are done at the same time.",
                schema({"to": to, "message": {"type": "string", "minLength": 1, "description": job}}),
                dispatch,
            ),
            CompanyTool(
                "hand_off_to",
                "Let a member answer the user directly. Your turn ends with it, and nothing comes back to you. A "
                "member that is made for conversations keeps the floor until it hands back.",
                schema(
                    {
                        "to": to,
                        "message": {
                            "type": "string",
                            "minLength": 1,
                            "description": "What the member has to know.",
                        },
                    }
                ),
                hand_off,
            ),
        ]
    return {tool.name: tool for tool in tools}


def guest_tools(hand_back: Work) -> ToolMap:
    """What the holder of the floor has."""
    tool = CompanyTool(
        "hand_back",
        "Give the floor back to Commander, when what the user came to you for is done or is not yours. Say what you "
        "have to say to the user first: your turn ends with it.",
        schema(
            {"reason": {"type": "string", "minLength": 1, "description": "Why, in a sentence."}},
            {"summary": {"type": "string", "description": "What Commander has to know to go on."}},
        ),
        hand_back,
    )
    return {tool.name: tool}


def _who(team: list[AgentFile]) -> str:
    return "One of: " + "; ".join(
        f"{agent.id} ({agent.name}{', keeps the floor' if agent.interactive else ''}): {agent.description}"
        for agent in team
    )
