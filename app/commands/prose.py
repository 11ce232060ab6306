"""A turn as somebody reads it in a terminal: the answer on stdout, everything about it on stderr."""

from __future__ import annotations

import json

from app.commands.event_lines import Told
from app.commands.terminal import Terminal, shown
from app.engine import events as engine
from app.engine.loop_guard import IDLE_WARN_AT
from app.group_chat.events import RoomEvent, TaskChanged

_LONGEST = 100
"""Characters of a line about a tool call."""


class Prose:
    """Streams the text of the turn's member; tools, retries and sums are whispered to whoever watches."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._message: str | None = None
        self._ends_line = True
        self._is_demo = False

    def take(self, place: RoomEvent, event: Told) -> None:
        match event:
            case engine.TextDelta():
                self._write(event)
            case engine.ToolStart():
                self._aside(
                    f"· {event.name} {_one_line(json.dumps(dict(event.arguments), ensure_ascii=False))}"
                )
            case engine.ToolEnd() if event.is_error:
                self._aside(f"  {_one_line(event.result)}")
            case engine.Retry():
                self._aside(f"{event.reason} Trying again in {event.wait_ms / 1000:.0f} s.")
            case engine.Fallback():
                self._aside(f"{event.to_model} answers instead of {event.from_model}: {event.reason}")
            case engine.Omission():
                self._aside(event.reason)
            case engine.Compaction():
                self._aside(
                    f"Conversation organised: {event.tokens_before:,} → {event.tokens_after:,} tokens. The model goes "
                    "on with a summary of the older part."
                )
            case engine.LoopWarning():
                self._aside(f"{_circles(event)} brought nothing new. The model was told.")
            case engine.Usage():
                self._is_demo = event.provider == "demo"
            case engine.Done():
                self._close(place.conversation, event)
            case _:
                pass

    def aside(self, place: RoomEvent, event: Told) -> None:
        """Of a member that was sent: that it works, and the first line of what came of it."""
        match event:
            case TaskChanged(task=row) if row.state == "running":
                self._aside(f"· {row.member}: {_one_line(row.job)}")
            case engine.Done():
                ended = _one_line(event.text) if event.status == "completed" else trouble(event)
                self._aside(f"  {place.member}: {ended}")
            case _:
                pass

    def _write(self, event: engine.TextDelta) -> None:
        """The same message goes on where it stood; a new one begins after an empty line."""
        out = self._terminal.stdout
        if event.message_id != self._message:
            if self._message is not None:
                out.write("\n" if self._ends_line else "\n\n")
            self._message = event.message_id
        out.write(shown(event.text) if out.isatty() else event.text)
        self._ends_line = event.text.endswith("\n")

    def _aside(self, line: str) -> None:
        if self._terminal.is_watched:
            self._end_line()
            self._terminal.whisper(line)

    def _end_line(self) -> None:
        if not self._ends_line:
            self._terminal.stdout.write("\n")
            self._terminal.stdout.flush()
            self._ends_line = True

    def _close(self, conversation: str, done: engine.Done) -> None:
        self._end_line()
        self._terminal.stdout.flush()
        if self._is_demo:
            self._terminal.tell(
                "Demo model: scripted, not an AI. Add a real one: `plancia help provider add`."
            )
        if done.status != "completed":
            self._terminal.tell(trouble(done))
        tokens = done.usage.input_tokens + done.usage.cache_read_tokens + done.usage.cache_write_tokens
        cost = "cost unknown" if done.usage.cost is None else f"${done.usage.cost:.4f}"
        self._terminal.whisper(
            f"{done.steps} steps, {tokens:,} tokens read, {done.usage.output_tokens:,} written, {cost}. "
            f'Go on with: plancia run --conversation {conversation} "…"'
        )


def trouble(done: engine.Done) -> str:
    """How a turn ended that did not simply end, and what to do."""
    kept = "What was written so far is kept."
    match done.status:
        case "failed":
            return done.error.message if done.error else f"The turn failed. {kept}"
        case "aborted":
            return f"Stopped. {kept}"
        case "interrupted":
            return f"{_cut_off(done)} {kept}"
        case "limit" if done.reason == "loop":
            return f"Stopped: the run went in circles. {kept} Say what to do differently."
        case "limit":
            return (
                f"Stopped after {done.steps} steps, as many as a turn may take. {kept} Say how to go on, and it takes "
                "as many again."
            )
        case "completed":
            return ""


def _cut_off(done: engine.Done) -> str:
    why = done.error.message if done.error else ""
    if done.reason == "output_limit":
        why = why or "It was written on once and cut off again."
        return f"The answer reached the model's output limit. {why}"
    return why or "The answer was cut off before its end."


def _circles(event: engine.LoopWarning) -> str:
    if event.count >= IDLE_WARN_AT:
        return f"The last {event.count} steps"
    return f"{event.count} rounds of the same call of {event.name}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
