"""What the member of one turn holds in its hands, and who judges what it does with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.request import getproxies

from app.engine.tools import Tool, ToolMap
from app.group_chat.gates import path_gate, temporary_folder
from app.group_chat.outside import Artist, nobody_searches
from app.hands.environment import find_bash
from app.hands.executor import Executor
from app.hands.generate_image import image_tool
from app.hands.job_tools import job_tools
from app.hands.ledger import ReadLedger
from app.hands.machine import Machine
from app.hands.permissions.command_questions import CommandQuestions
from app.hands.permissions.confinement import Confinement
from app.hands.permissions.file_questions import FileQuestions
from app.hands.permissions.input_questions import InputQuestions
from app.hands.permissions.judges import Judges
from app.hands.permissions.paths import PathGate
from app.hands.permissions.permit import Permit, Permits
from app.hands.permissions.picture_questions import PictureQuestions
from app.hands.permissions.question import Judge
from app.hands.permissions.web_questions import AllowedHosts, WebQuestions
from app.hands.pictures import KeepPicture
from app.hands.results import StoredResults, result_tools
from app.hands.shell import Shell, shell_tool
from app.hands.tool import Arguments
from app.hands.toolbox import file_tools
from app.hands.wrapped import MaskedTool, PermittedTool
from app.infra.paths import DataFolder
from app.workspace.rows import ConversationRow

if TYPE_CHECKING:
    from app.hands.search_engines import SearchEngine
    from app.hands.web_address import WebAddress


@dataclass(frozen=True, slots=True)
class Equipment:
    """Of one turn: what a call was allowed is found by the tool that runs it."""

    gate: PathGate
    tools: ToolMap
    judge: Judge
    permits: Permits


@dataclass(frozen=True, slots=True)
class Depot:
    """Where the equipment of one conversation comes from."""

    conversation: ConversationRow
    folder: DataFolder
    machine: Machine
    confinement: Confinement
    results: StoredResults
    keep_picture: KeepPicture
    engine: Callable[[], SearchEngine | None] = nobody_searches
    """Who searches the web; None for who needs no key."""
    artist: Artist | None = None
    """Who draws; None where no model is chosen for that."""
    judges: Mapping[str, Judge] = field(default_factory=dict)
    """Those of tools that come from elsewhere."""
    made: Callable[[str], bool] = lambda _: False
    """Whether the conversation made that file or folder, and all in it. It may look at the disk."""

    def equip(self) -> Equipment:
        """For one turn. Looks at the disk, so it is called in a thread."""
        gate = path_gate(self.folder, self.conversation)
        permits = Permits()
        ledger = ReadLedger()
        web, where = self._web(permits)
        tools = {
            **self._files(gate, ledger, permits),
            **self._commands(gate, permits),
            **web,
            **self._pictures(gate, ledger),
            **result_tools(self.results),
        }
        judges: dict[str, Judge] = {
            **dict.fromkeys(_FILES, FileQuestions(gate, self.made)),
            **dict.fromkeys(where, WebQuestions(where)),
            **self._picture_questions(),
            "bash": self._command_questions(gate),
            "job_write": InputQuestions(self.machine.jobs),
            **self.judges,
        }
        return Equipment(gate, tools, Judges(judges), permits)

    def _files(self, gate: PathGate, ledger: ReadLedger, permits: Permits) -> ToolMap:
        def make(name: str, permit: Permit) -> Tool:
            redact = self.machine.redact if permit.secrets else self.machine.redact_known
            return file_tools(gate.widened(permit), ledger, self.keep_picture, redact, deleting=True)[name]

        tools = file_tools(gate, ledger, self.keep_picture, self.machine.redact_known, deleting=True)
        return {name: PermittedTool(tool, permits, partial(make, name)) for name, tool in tools.items()}

    def _commands(self, gate: PathGate, permits: Permits) -> ToolMap:
        temporary = temporary_folder(self.folder, self.conversation)
        executor = Executor(gate, temporary, self.confinement, self.machine.environment)
        shell = Shell(
            executor, self.results, self.machine.jobs, self.conversation.id, self.machine.redact, permits
        )
        bash = shell_tool(shell)
        return {bash.name: bash, **job_tools(self.machine.jobs, self.conversation.id)}

    def _command_questions(self, gate: PathGate) -> CommandQuestions:
        return CommandQuestions(
            gate,
            temporary_folder(self.folder, self.conversation),
            self.confinement,
            find_bash(self.machine.environment) is not None,
            self.made,
        )

    def _pictures(self, gate: PathGate, ledger: ReadLedger) -> ToolMap:
        if self.artist is None:
            return {}
        model = self.artist.goes_to.model
        tool = image_tool(gate, ledger, self.keep_picture, self.artist.draw, model=model)
        return {tool.name: MaskedTool(tool, self.machine.redact)}

    def _picture_questions(self) -> Mapping[str, Judge]:
        if self.artist is None:
            return {}
        there = self.artist.goes_to
        judge = PictureQuestions(there.model, there.host, there.is_here)
        return {"generate_image": judge}

    def _web(self, permits: Permits) -> tuple[ToolMap, Mapping[str, Callable[[Arguments], WebAddress]]]:
        """Its tools, and where a call of each would go. Brings in httpx, so it is imported when it is needed."""
        from app.hands.web import web_addresses, web_tools

        engine = self.engine()
        tools = web_tools(engine, ask=AllowedHosts(permits).ask, has_proxy=bool(getproxies()))
        masked = {name: MaskedTool(tool, self.machine.redact) for name, tool in tools.items()}
        return masked, web_addresses(engine)


_FILES = (
    *("read_file", "stat_file", "list_files", "search_files", "grep_files"),
    *("write_file", "edit_file", "delete_file"),
)
