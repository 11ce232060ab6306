"""A stage for the demo model: a history that grows, and file tools over a dictionary."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from app.engine.messages import Marker, Message, Text, ToolCall, ToolResult
from app.engine.provider import CallFragment, ModelRequest, Stop, StreamEvent, TextChunk, ToolDefinition
from app.providers.demo import NAME, Demo
from tests.fakes.clock import FakeClock

ALL_TOOLS = ("read_file", "list_files", "write_file")


@dataclass
class Stage:
    """Plays turns: asks the model, runs its calls on ``files``, asks again, until it answers without a call."""

    files: dict[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ALL_TOOLS
    denied: bool = False
    messages: list[Message] = field(default_factory=list)
    clock: FakeClock = field(default_factory=FakeClock)
    read: set[str] = field(default_factory=set)

    async def say(self, text: str) -> str:
        self.hear(text)
        return await self.play()

    def hear(self, text: str) -> None:
        self._append("user", Text(text))

    def stop(self) -> None:
        self._append("assistant", Marker("stopped_by_user"))

    async def play(self) -> str:
        """To the closing answer, which is returned."""
        while True:
            call = await self.ask()
            if call is None:
                return self.messages[-1].text
            self.act(call)

    async def ask(self) -> ToolCall | None:
        """One answer of the model, appended; its call, if it made one."""
        events = await self.answer()
        text = "".join(event.text for event in events if isinstance(event, TextChunk))
        call = called(events)
        self._append("assistant", *([Text(text)] if text else []), *([call] if call else []))
        return call

    async def answer(self) -> tuple[StreamEvent, ...]:
        tools = tuple(ToolDefinition(name, "", {"type": "object"}) for name in self.tools)
        return await Demo(self.clock).complete(ModelRequest(NAME, "", tuple(self.messages), tools))

    def act(self, call: ToolCall) -> None:
        self.result(self._run(call))

    def result(self, result: ToolResult) -> None:
        self._append("tool", result)

    @property
    def acts(self) -> list[str]:
        return [
            f"{call.name} {call.arguments['path']}" for message in self.messages for call in message.calls
        ]

    def _run(self, call: ToolCall) -> ToolResult:
        path = str(call.arguments["path"])
        if self.denied and call.name == "write_file":
            return ToolResult(call.id, "E_DENIED: the user said no.", "error", "E_DENIED")
        if call.name == "list_files":
            return ToolResult(call.id, "\n".join(f"- {name} (12 bytes)" for name in sorted(self.files)))
        if call.name == "read_file":
            return self._read(call.id, path)
        if path in self.files and path not in self.read:
            return ToolResult(call.id, f"E_NOT_READ: read {path} first.", "error", "E_NOT_READ")
        self.files[path] = str(call.arguments["content"])
        return ToolResult(call.id, f"Wrote {path}.")

    def _read(self, call_id: str, path: str) -> ToolResult:
        if path not in self.files:
            return ToolResult(call_id, f"E_NOT_FOUND: there is no {path}.", "error", "E_NOT_FOUND")
        self.read.add(path)
        numbered = (f"{n}\t{line}" for n, line in enumerate(self.files[path].splitlines(), 1))
        return ToolResult(call_id, "\n".join(numbered))

    def _append(self, role: str, *blocks: object) -> None:
        self.messages.append(Message(role, blocks, f"msg_{len(self.messages)}", "2026-01-01T00:00:00.000Z"))  # type: ignore[arg-type]


def called(events: tuple[StreamEvent, ...]) -> ToolCall | None:
    """The one call among the events, put together as any assembler would."""
    fragments = [event for event in events if isinstance(event, CallFragment)]
    stops = [event.reason for event in events if isinstance(event, Stop)]
    assert stops == ["tool_calls" if fragments else "end"]
    if not fragments:
        return None
    assert fragments[0].id
    assert fragments[0].name
    arguments = json.loads("".join(fragment.arguments or "" for fragment in fragments))
    return ToolCall(fragments[0].id, fragments[0].name, arguments)
