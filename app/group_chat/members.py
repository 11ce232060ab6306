"""Who can hold the floor, and what each one is given for a turn: prompt, tools, model, session."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.engine.agent import Agent
from app.engine.events import Done
from app.engine.harness import Harness
from app.engine.messages import Message
from app.engine.pairing import heal
from app.engine.session import JsonlSession
from app.engine.tools import ToolMap
from app.engine.transcript_file import read_transcript
from app.group_chat.approvals import Rules
from app.group_chat.errors import FolderMissing
from app.group_chat.roles import COMMANDER
from app.hands.instructions import Instructions, read_instructions
from app.hands.ledger import ReadLedger
from app.hands.machine import Machine
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.file_questions import FileQuestions
from app.hands.permissions.paths import PathGate
from app.hands.permissions.question import Judge
from app.hands.pictures import StoredPictures
from app.hands.results import StoredResults, result_tools
from app.hands.toolbox import file_tools
from app.infra.paths import DataFolder
from app.prompts.rendering import compose
from app.providers.budget import Budget
from app.providers.resting import Resting
from app.workspace import rules, sessions
from app.workspace.budgets import is_strict, list_limits
from app.workspace.rows import ConversationRow, SessionRow
from app.workspace.settings import get_number, get_setting
from app.workspace.store import Store

COMMANDER_STEPS = 120
"""Steps that one turn of Commander may take."""


class Members:
    """Builds what a turn runs with. Everything is made anew for each turn, so a change counts at the next one."""

    def __init__(
        self,
        store: Store,
        folder: DataFolder,
        harness: Harness,
        machine: Machine,
        resting: Callable[[], Iterable[Resting]] = tuple,
    ) -> None:
        """``resting`` tells whose keys are passed over for now."""
        self.resting = resting
        self._harness = harness
        self._store = store
        self._folder = folder
        self._machine = machine

    def harness(self, conversation: ConversationRow) -> Harness:
        """What its runs are given: large results are kept with the conversation, and its budget holds."""
        budget = Budget(
            self._harness.models,
            partial(list_limits, self._store, conversation.id),
            partial(is_strict, self._store),
        )
        return replace(self._harness, models=budget, results=self._results(conversation))

    def agent(self, member: str, conversation: ConversationRow) -> Agent:
        """Raises ``FolderMissing`` where the conversation's folder is gone."""
        workspace = Path(conversation.workspace)
        _require_folder(workspace)
        gate = PathGate(workspace, closed=ClosedPlaces(Path.home(), own=(self._folder.root,)))
        pictures = StoredPictures(self._folder.root, conversation.id, self._harness.new_id)
        files = file_tools(gate, ReadLedger(), pictures.keep)
        tools = {**files, **result_tools(self._results(conversation))}
        instructions = read_instructions(gate)
        return Agent(
            name=member,
            system_prompt=lambda: self._prompt(workspace, tools, instructions),
            tools=tools,
            model=conversation.model,
            auxiliary=str(get_setting(self._store, "model.auxiliary")) or None,
            step_limit=COMMANDER_STEPS,
            compact_at=get_number(self._store, "compaction.threshold"),
        )

    def permissions(self, conversation: ConversationRow) -> tuple[Judge, Rules]:
        """What asks before it runs in a conversation, and what its user has allowed for good."""
        judge = FileQuestions(conversation.access, conversation.workspace)
        return judge, WorkspaceRules(self._store, conversation.workspace)

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

    def _results(self, conversation: ConversationRow) -> StoredResults:
        return StoredResults(self._folder.results / conversation.id, self._harness.new_id)

    def _prompt(self, workspace: Path, tools: ToolMap, instructions: Sequence[Instructions]) -> str:
        return compose(
            COMMANDER,
            tools=tuple(tools),
            workspace=str(workspace),
            instructions=instructions,
            system=f"{platform.system()} {platform.release()}",
            date=self._store.clock.now().astimezone().date().isoformat(),
        )


@dataclass(frozen=True, slots=True)
class WorkspaceRules:
    """See ``Rules``: those of one workspace, read anew for every question."""

    store: Store
    workspace: str

    def in_force(self) -> Collection[str]:
        return [row.text for row in rules.list_rules(self.store, self.workspace)]

    def add(self, rule: str) -> None:
        rules.add_rule(self.store, rule, self.workspace)


def _require_folder(workspace: Path) -> None:
    try:
        there, why = workspace.is_dir(), "is not there any more. Put it back"
    except OSError as error:
        there, why = False, f"cannot be opened ({error.strerror or error}). Give yourself the right to"
    if not there:
        raise FolderMissing(f"The folder {workspace} {why}, or choose another folder for this conversation.")
