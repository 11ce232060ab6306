"""``save_agent``: Commander proposes an agent, the user sees its whole file, and what was seen is what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from functools import partial
from itertools import islice
from typing import Any

from anyio.to_thread import run_sync

from app.engine.messages import ToolCall
from app.engine.tools import Tool, ToolContext, ToolMap
from app.hands.errors import Refused
from app.hands.permissions.question import Judgement, Passed, Policy, Question
from app.hands.tool import HandTool, schema
from app.infra.paths import DataFolder
from app.models.errors import StorageError
from app.workspace import agents
from app.workspace.agent_files import HUES, AgentFile, id_for
from app.workspace.agent_tools import OFFERED, known_tools
from app.workspace.agents import Draft
from app.workspace.errors import AgentChanged, InvalidAgent, NotFound

SAVE_AGENT = "save_agent"

LONGEST_PROMPT = 12_000
"""Characters: the user reads all of it before deciding."""

_DESCRIPTION = (
    "Propose a new member for the team, or a change to one, where the user asks for it or the same kind of job keeps "
    "coming. The user is shown the file and decides. A good one has one job: a description by which you would know "
    "when to call it, instructions that stand on their own, and no more tools than the job needs. It can be called "
    "from your next turn on."
)
_SCHEMA = schema(
    {
        "name": {"type": "string", "minLength": 1, "description": "As the user calls it with @."},
        "description": {
            "type": "string",
            "minLength": 1,
            "description": "What it is for, in a sentence or two.",
        },
        "prompt": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_PROMPT,
            "description": "Its instructions, in Markdown.",
        },
    },
    {
        "id": {"type": "string", "description": "Only to change one that is there; what is not given stays."},
        "tools": {
            "type": "array",
            "items": {"type": "string", "enum": [name for names in OFFERED.values() for name in names]},
            "description": "Those it may use; all where this is missing, none where it is empty.",
        },
        "model": {
            "type": "string",
            "description": "provider/model; that of the conversation where it is missing.",
        },
        "interactive": {
            "type": "boolean",
            "description": "It is made for conversations and keeps the floor.",
        },
        "color": {"type": "string", "enum": list(HUES.values())},
    },
)


class AgentProposals:
    """Tool and judge of one turn. Nothing is written that was not shown, whatever the access mode."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._shown: dict[str, Draft] = {}

    def tools(self) -> ToolMap:
        return {SAVE_AGENT: HandTool(SAVE_AGENT, _DESCRIPTION, _SCHEMA, read_only=False, work=self._save)}

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        """See ``Judge``. What cannot be saved is not asked about: the tool says what is wrong with it."""
        try:
            draft = await run_sync(partial(self._draft, call.arguments))
        except Refused:
            return Passed()
        self._shown[call.id] = draft
        changes = "changes how a member works" if draft.before else "adds a member to every conversation"
        return Question(
            "agent",
            payload="\n".join(_changed(draft)) if draft.before else draft.text,
            reasons=(f"It {changes}.",),
            facts=(("Agent", draft.agent.name), ("File", f"agents/{draft.agent.id}.md")),
        )

    async def _save(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        draft = self._shown.pop(context.call_id, None)
        if draft is None:
            await run_sync(partial(self._draft, arguments))
            raise Refused("E_STALE", "The team has changed meanwhile. Propose it again.")
        saved = await run_sync(partial(self._write, draft))
        how = " It is switched off; the user can switch it on under Agents." if saved.disabled else ""
        return (
            f"{saved.name} is saved as agents/{saved.id}.md, and can be called from your next turn on.{how}"
        )

    def _draft(self, arguments: Mapping[str, Any]) -> Draft:
        """Raises ``Refused``."""
        try:
            draft = agents.draft_agent(self._folder, self._proposed(arguments))
        except (InvalidAgent, NotFound) as wrong:
            raise Refused("E_BAD_INPUT", str(wrong)) from None
        except StorageError as error:
            raise Refused("E_FAILED", str(error)) from None
        if draft.text == draft.before:
            raise Refused(
                "E_BAD_INPUT", f"{draft.agent.name} is like that already. Leave it, or change something."
            )
        return draft

    def _proposed(self, arguments: Mapping[str, Any]) -> AgentFile:
        id = arguments.get("id")
        if id is None:
            taken = [agent.id for agent in agents.list_agents(self._folder)]
            agent = AgentFile(id_for(arguments["name"], taken), "")
        else:
            agent = agents.load_agent(self._folder, id)
        hues = {called: hue for hue, called in HUES.items()}
        tools = arguments.get("tools")
        return replace(
            agent,
            name=arguments["name"],
            description=arguments["description"],
            prompt=arguments["prompt"],
            tools=agent.tools if tools is None else known_tools(tools),
            model=arguments.get("model") or agent.model,
            interactive=arguments.get("interactive", agent.interactive),
            color=hues.get(arguments.get("color", ""), agent.color),
        )

    def _write(self, draft: Draft) -> AgentFile:
        """Raises ``Refused``."""
        try:
            return agents.save_agent(self._folder, draft.agent, seen=draft.seen)
        except AgentChanged as changed:
            raise Refused(
                "E_STALE", f"{changed} Nothing was written: propose it anew if it is still wanted."
            ) from None
        except InvalidAgent as wrong:
            raise Refused("E_BAD_INPUT", str(wrong)) from None
        except StorageError as error:
            raise Refused("E_FAILED", str(error)) from None


def _changed(draft: Draft) -> Sequence[str]:
    """The whole file, with what goes and what comes."""
    old, new = draft.before.splitlines(), draft.text.splitlines()
    lines = unified_diff(old, new, n=len(old) + len(new), lineterm="")
    return [f"{line[0]} {line[1:]}".rstrip() for line in islice(lines, 3, None)]
