"""Who can hold the floor, and what each one is given for a turn: prompt, tools, model, session."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from anyio.to_thread import run_sync

from app.engine.agent import Agent
from app.engine.events import Done, Usage
from app.engine.harness import Harness
from app.engine.messages import Message
from app.engine.pairing import heal
from app.engine.provider import ModelSource
from app.engine.session import JsonlSession
from app.engine.tools import ToolMap
from app.engine.transcript_file import read_transcript
from app.group_chat.agent_proposals import SAVE_AGENT, AgentProposals
from app.group_chat.approvals import Permissions
from app.group_chat.equipment import Depot, Equipment
from app.group_chat.errands import Part
from app.group_chat.errors import FolderMissing, MemberGone
from app.group_chat.gates import path_gate, unreadable
from app.group_chat.made import Made
from app.group_chat.outside import NOTHING_OUTSIDE, Artist, Outside, goes_to
from app.group_chat.plan_questions import PlanQuestions
from app.group_chat.plan_records import open_plan
from app.group_chat.plan_tool import SET_PLAN
from app.group_chat.roles import COMMANDER, WORKER
from app.group_chat.undoing import open_history
from app.hands.instructions import Instructions, read_instructions
from app.hands.machine import Machine
from app.hands.permissions.confinement import Confinement
from app.hands.permissions.question import Policy
from app.hands.permissions.rules import Rule
from app.hands.pictures import StoredPictures
from app.hands.results import StoredResults
from app.hands.undo.history import History
from app.infra.paths import DataFolder
from app.prompts.rendering import compose
from app.providers.budget import Budget
from app.providers.drawing import Count, Drawing
from app.providers.resting import Resting
from app.workspace import agents, conversations, rules, sessions, steps
from app.workspace.agent_files import AgentFile
from app.workspace.agent_tools import ALL_TOOLS
from app.workspace.budgets import is_strict, list_limits
from app.workspace.rows import ConversationRow, SessionRow
from app.workspace.settings import get_number, get_setting
from app.workspace.store import Store

COMMANDER_STEPS = 120
"""Steps that one turn of Commander may take."""

MEMBER_STEPS = 100
"""Of every other member."""

NO_TOOLS: ToolMap = MappingProxyType({})


def uncounted(call: Usage) -> None:
    """For who prepares a turn only to look at it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What one turn runs with."""

    agent: Agent
    harness: Harness
    equipment: Equipment
    permissions: Permissions


class Members:
    """Builds what a turn runs with. Everything is made anew for each turn, so a change counts at the next one."""

    def __init__(
        self,
        store: Store,
        folder: DataFolder,
        harness: Harness,
        machine: Machine,
        resting: Callable[[], Iterable[Resting]] = tuple,
        outside: Outside = NOTHING_OUTSIDE,
    ) -> None:
        """``resting`` tells whose keys are passed over for now."""
        self.resting = resting
        self._outside = outside
        self._harness = harness
        self._store = store
        self._folder = folder
        self._machine = machine

    @property
    def root(self) -> Path:
        """The data folder, below which attachments lie."""
        return self._folder.root

    def team(self) -> list[AgentFile]:
        """The agents that can be asked now. Looks at the disk."""
        return [agent for agent in agents.list_agents(self._folder) if agent.is_ready]

    def absent(self) -> list[AgentFile]:
        """The agents that are there and cannot be asked: switched off, or of no use as they are. Looks at the disk."""
        return [agent for agent in agents.list_agents(self._folder) if not agent.is_ready]

    def name_of(self, member: str) -> str:
        if member in (COMMANDER, WORKER):
            return member.capitalize()
        agent = agents.find_agent(self._folder, member)
        return agent.name if agent else member.replace("-", " ").capitalize()

    async def prepare(
        self,
        member: str,
        conversation: ConversationRow,
        count: Count = uncounted,
        part: Part = "addressed",
        with_others: ToolMap = NO_TOOLS,
    ) -> Prepared:
        """All that a turn runs with; ``count`` is told of calls that the run makes by itself.

        ``part`` is how a member that is not Commander stands in the conversation, ``with_others`` what it has to work
        with the others. Raises ``FolderMissing`` where the conversation's folder is gone, ``MemberGone``.
        """
        confinement = await self._machine.confinement.get()
        # Looking at the folder may take long: it may lie on a disk that sleeps, or on another machine.
        return await run_sync(
            partial(self._prepare, member, conversation, confinement, count, part, with_others),
            abandon_on_cancel=True,
        )

    def _prepare(
        self,
        member: str,
        conversation: ConversationRow,
        confinement: Confinement,
        count: Count,
        part: Part,
        with_others: ToolMap,
    ) -> Prepared:
        workspace = Path(conversation.workspace)
        _require_folder(workspace)
        results = StoredResults(self._folder.results / conversation.id, self._harness.new_id)
        pictures = StoredPictures(self._folder.root, conversation.id, self._harness.new_id)
        proposals = AgentProposals(self._folder)
        depot = Depot(
            conversation,
            self._folder,
            self._machine,
            confinement,
            results,
            pictures.keep,
            engine=self._outside.find_engine,
            artist=self._artist(conversation, count),
            judges={
                SET_PLAN: PlanQuestions(lambda: [agent.id for agent in self.team()]),
                SAVE_AGENT: proposals,
            },
            made=Made(
                workspace,
                partial(self.history, conversation.id),
                partial(steps.list_steps, self._store, conversation.id),
            ).covers,
        )
        equipment = depot.equip()
        instructions = read_instructions(equipment.gate)
        file = self._file_of(member)
        leading = proposals.tools() if member == COMMANDER else NO_TOOLS
        tools = _allowed(file, {**equipment.tools, **with_others, **leading})

        def system_prompt() -> str:
            return self._prompt(file, part, workspace, tools, instructions)

        agent = Agent(
            name=member,
            system_prompt=system_prompt,
            tools=tools,
            model=(file.model if file else None) or conversation.model,
            auxiliary=str(get_setting(self._store, "model.auxiliary")) or None,
            step_limit=COMMANDER_STEPS if member == COMMANDER else MEMBER_STEPS,
            compact_at=get_number(self._store, "compaction.threshold"),
            open_steps=partial(open_plan, self._store, conversation.id) if member == COMMANDER else str,
        )
        permissions = StoredPermissions(self._store, conversation.id, conversation.workspace)
        return Prepared(agent, self._harness_of(conversation, results), equipment, permissions)

    def _harness_of(self, conversation: ConversationRow, results: StoredResults) -> Harness:
        """Large results are kept with the conversation, and its budget holds."""
        return replace(
            self._harness, models=self._within_budget(self._harness.models, conversation), results=results
        )

    def _artist(self, conversation: ConversationRow, count: Count) -> Artist | None:
        """Who draws, where a model is chosen for it; the budget of the conversation holds for pictures too."""
        images, name = self._outside.images, str(get_setting(self._store, "image.model"))
        if images is None or not name:
            return None
        drawing = Drawing(self._within_budget(images, conversation), name, self._harness.clock, count)
        return Artist(drawing, goes_to(images, name))

    def _within_budget(self, models: ModelSource, conversation: ConversationRow) -> Budget:
        return Budget(
            models, partial(list_limits, self._store, conversation.id), partial(is_strict, self._store)
        )

    def unreadable(self, conversation_id: str, path: str) -> str:
        """What is wrong with a path that the user typed, see ``gates.unreadable``. Looks at the disk."""
        conversation = conversations.load_conversation(self._store, conversation_id)
        return unreadable(path_gate(self._folder, conversation), path)

    def history(self, conversation_id: str) -> History:
        """What the folder of a conversation held before and after each step. Looks at the disk; raises ``NotFound``."""
        return open_history(self._store, self._folder, self._machine.redact, conversation_id)

    async def open_session(self, row: SessionRow) -> JsonlSession:
        """Raises ``SessionError``."""
        return await JsonlSession.open(self._folder.root / row.path)

    async def read_history(self, row: SessionRow) -> tuple[Message, ...]:
        """The history as it lies on the disk, paired; nothing is repaired there, as its turn may be running.

        Raises ``SessionError``.
        """
        transcript = await read_transcript(self._folder.root / row.path)
        return heal(transcript.messages, open_end=True).messages

    def note(self, row: SessionRow, done: Done, model: str | None) -> None:
        """Keep the size of the session and the tokens that the turn took."""
        path = self._folder.root / row.path
        sessions.note_session(
            self._store,
            row.id,
            size=path.stat().st_size if path.exists() else 0,
            input_tokens=done.usage.input_tokens,
            output_tokens=done.usage.output_tokens,
            model=model,
        )

    def _file_of(self, member: str) -> AgentFile | None:
        """None for Commander. Raises ``MemberGone`` for one that cannot work."""
        if member == COMMANDER:
            return None
        if member == WORKER:
            return AgentFile(id=WORKER, name="a worker", prompt=compose("worker").strip())
        file = agents.find_agent(self._folder, member)
        if file is None or not file.is_ready:
            why = f": {file.problem}" if file and file.problem else "."
            raise MemberGone(f"{self.name_of(member)} cannot work now{why} Look at its page under Agents.")
        return file

    def _prompt(
        self,
        file: AgentFile | None,
        part: Part,
        workspace: Path,
        tools: ToolMap,
        instructions: Sequence[Instructions],
    ) -> str:
        frame = {} if file is None else {"name": file.name, "body": file.prompt, "part": part}
        return compose(
            COMMANDER if file is None else "member",
            **frame,
            tools=tuple(tools),
            workspace=str(workspace),
            instructions=instructions,
            system=f"{platform.system()} {platform.release()}",
            date=self._store.clock.now().astimezone().date().isoformat(),
        )


@dataclass(frozen=True, slots=True)
class StoredPermissions:
    """See ``Permissions``: read anew for every call, so that what the user changes holds at once."""

    store: Store
    conversation: str
    workspace: str
    """Where the turn works, though the conversation may be given another folder meanwhile."""

    def policy(self) -> Policy:
        access = conversations.load_conversation(self.store, self.conversation).access
        return Policy(access, rules.rules_of(self.store, self.workspace))

    def add(self, rule: Rule) -> None:
        rules.add_rule(self.store, rule, self.workspace)


def _allowed(file: AgentFile | None, tools: ToolMap) -> ToolMap:
    """Those that its file lets a member have; what cannot be given by name comes with being a member."""
    if file is None or file.tools is None:
        return tools
    return {name: tool for name, tool in tools.items() if name in file.tools or name not in ALL_TOOLS}


def _require_folder(workspace: Path) -> None:
    try:
        there, why = workspace.is_dir(), "is not there any more. Put it back"
    except OSError as error:
        there, why = False, f"cannot be opened ({error.strerror or error}). Give yourself the right to"
    if not there:
        raise FolderMissing(f"The folder {workspace} {why}, or choose another folder for this conversation.")
