"""From the events of one run to the articles of the chat.

One contiguous piece of text is one article, each call is one, each trouble is one. The text that is still
being written lives in memory; its row is saved when it ends and at most once a second before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, assert_never

from app.engine import events as engine
from app.group_chat.company_tools import SILENT
from app.group_chat.keeping import KeepingBoard
from app.group_chat.others import others
from app.infra.clock import iso
from app.providers.resting import Resting
from app.workspace.rows import MessageKind, MessageState

SAVE_EVERY = 1.0
"""Seconds between two saves of a text that is still growing; also the longest time for which a word is not saved."""

OUTPUT_KEPT = 16_000
"""Characters, of the end of what a tool has said while it runs; its result has the rest."""


@dataclass(slots=True)
class Growing:
    """The article that the model is writing right now."""

    row_id: str
    began: float
    saved_at: float
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    thought_until: float = 0.0
    is_saved: bool = True

    def stored(self) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if self.reasoning:
            thought_ms = round((self.thought_until - self.began) * 1000)
            data = {"reasoning": "".join(self.reasoning), "thought_ms": thought_ms}
        return {"text": "".join(self.text), "data": data}


@dataclass(slots=True)
class _OpenCall:
    row_id: str
    data: dict[str, Any]
    output: str = ""
    """What it has said while it runs: the end of it."""

    def say(self, text: str) -> None:
        self.output += text
        if len(self.output) > OUTPUT_KEPT:
            ending = self.output[-OUTPUT_KEPT:]
            self.output = ending[ending.find("\n") + 1 :]

    def stored(self) -> dict[str, Any]:
        """Its colours are nowhere else: a result is plain text."""
        return {**self.data, "progress": self.output} if self.output else self.data


class Segments:
    """Takes the events of one run, in order, and keeps the chat true to them."""

    def __init__(
        self,
        board: KeepingBoard,
        turn: str,
        member: str,
        resting: Callable[[], Iterable[Resting]] = tuple,
        task: str | None = None,
    ) -> None:
        """``resting`` tells whose keys are passed over, for an error to say. ``task``: what the turn is taken for."""
        self._board = board
        self._turn = turn
        self._member = member
        self._task = {"task": task} if task else {}
        self._resting = resting
        self._tried: dict[str, str] = {}
        """The models that gave up their place in this turn, and why."""
        self._growing: Growing | None = None
        self._written: Growing | None = None
        self._calls: dict[str, _OpenCall] = {}
        self._asks: dict[str, dict[str, Any]] = {}
        """What waits for the user."""
        self._retry_row: str | None = None
        self._model = ""
        """``provider/model`` that was asked last."""
        self._missing: dict[tuple[str, tuple[str, ...]], str] = {}
        """The articles that say what a model did not get: each is said once a turn."""
        self._circling = ""
        """The tool whose call was not run any more, because the run went in circles."""

    def take(self, event: engine.Event) -> engine.Event:
        """Draw one event and return it. The rows are written before the event is published.

        Where the store did not take all of the run, its ``Done`` becomes one that says so.
        """
        row_id: str | None = None
        match event:
            case engine.TextDelta() | engine.ReasoningDelta():
                row_id = self._grow(event)
            case engine.Approval():
                row_id = self._asked(event)
            case engine.ToolDelta() | engine.ToolStart() | engine.ToolProgress() | engine.ToolEnd():
                row_id = self._called(event)
            case engine.Retry():
                row_id = self._retrying(event)
            case engine.Steer():
                row_id = event.message_id
            case engine.Usage():
                self._model = f"{event.provider}/{event.model}"
                self._board.count(event, turn=self._turn, member=self._member)
            case engine.Compaction() | engine.Fallback() | engine.LoopWarning():
                row_id = self._noticed(event)
            case engine.Omission():
                row_id = self._missed(event)
            case engine.Done():
                event = self._closed(event)
            case _:
                assert_never(event)
        self._board.publish(event, member=self._member, turn=self._turn, message_id=row_id)
        return event

    @property
    def growing(self) -> Growing | None:
        """The article that is being written, with all of its text so far."""
        return self._growing

    def output_of(self, row_id: str) -> str:
        """What a tool that runs has said by now; nothing for every other article."""
        return next((call.output for call in self._calls.values() if call.row_id == row_id), "")

    def _grow(self, event: engine.TextDelta | engine.ReasoningDelta) -> str:
        growing = self._growing
        if growing is None or growing.row_id != event.message_id:
            growing = self._open(event.message_id)
        now = self._board.monotonic()
        if isinstance(event, engine.TextDelta):
            growing.text.append(event.text)
        else:
            growing.reasoning.append(event.text)
            growing.thought_until = now
        growing.is_saved = False
        if now - growing.saved_at >= SAVE_EVERY:
            self.save_growing()
        return growing.row_id

    def save_growing(self) -> None:
        """Store what has been written so far of the article that is being written."""
        growing = self._growing
        if growing is not None and not growing.is_saved:
            growing.is_saved, growing.saved_at = True, self._board.monotonic()
            self._board.save(growing.row_id, **growing.stored())

    def _open(self, row_id: str) -> Growing:
        """A new article, or the one of this answer again where the model writes on after naming a call."""
        self._end_text("done")
        self._end_retry()
        if self._written is not None and self._written.row_id == row_id:
            self._growing = self._written
            self._board.change(row_id, state="streaming")
        else:
            now = self._board.monotonic()
            self._growing = Growing(row_id, now, now)
            self._add("assistant", id=row_id, state="streaming")
        return self._growing

    def _end_text(self, state: MessageState) -> None:
        growing = self._growing
        if growing is not None:
            self._board.change(growing.row_id, state=state, **growing.stored())
            self._growing, self._written = None, growing

    def _called(
        self, event: engine.ToolDelta | engine.ToolStart | engine.ToolProgress | engine.ToolEnd
    ) -> str | None:
        """The article of the call; those that members work together with have none of their own, unless refused."""
        match event:
            case engine.ToolDelta() | engine.ToolStart() if event.name in SILENT:
                self._end_text("done")
                self._end_retry()
                return None
            case engine.ToolDelta() if event.call_id not in self._calls and _may_be_silent(event.name):
                return None
            case engine.ToolEnd() if event.name in SILENT and event.call_id not in self._calls:
                return self._refused(event)
            case engine.ToolProgress() if event.call_id not in self._calls:
                return None
            case engine.ToolDelta():
                return self._call_row(event.call_id, event.name)
            case engine.ToolStart():
                return self._call_started(event)
            case engine.ToolProgress():
                call = self._calls[event.call_id]
                call.say(event.text or "")
                return call.row_id
            case engine.ToolEnd():
                return self._call_ended(event)
            case _:
                assert_never(event)

    def _call_row(self, call_id: str, name: str) -> str:
        call = self._calls.get(call_id)
        if call is None:
            self._end_text("done")
            self._end_retry()
            data = {"call_id": call_id, "name": name, "arguments": {}}
            row_id = self._add("tool_call", state="streaming", data=data)
            call = self._calls[call_id] = _OpenCall(row_id, data)
        return call.row_id

    def _call_started(self, event: engine.ToolStart) -> str:
        row_id = self._call_row(event.call_id, event.name)
        call = self._calls[event.call_id]
        call.data |= {"name": event.name, "arguments": dict(event.arguments)}
        self._board.change(row_id, data=call.data)
        return row_id

    def _refused(self, event: engine.ToolEnd) -> str | None:
        if not event.is_error or event.error_code == "E_TASK":
            return None
        self._call_row(event.call_id, event.name)
        return self._call_ended(event)

    def _asked(self, event: engine.Approval) -> str:
        data = self._asks[event.id] = {"call_id": event.call_id, "approval": event.kind, **event.subject}
        self._waits(event.call_id, True)
        return self._add("approval", id=event.id, state="streaming", data=data)

    def _waits(self, call_id: str, for_user: bool) -> None:
        """The article of a call says whether it runs already."""
        if call := self._calls.get(call_id):
            call.data["asks"] = for_user
            self._board.change(call.row_id, data=call.data)

    def decided(self, approval_id: str, decision: str, reason: str) -> None:
        """The user has answered: the question becomes a line that says how."""
        decided = {"decision": decision, "reason": reason, "decided_at": self._board.store.now()}
        asked = self._asks.pop(approval_id)
        self._board.change(approval_id, state="done", data=asked | decided)
        self._waits(asked["call_id"], False)

    def _call_ended(self, event: engine.ToolEnd) -> str:
        call = self._calls.pop(event.call_id)
        if event.error_code == "E_LOOP":
            self._circling = self._circling or event.name
        call.data |= {
            "result": event.result,
            "is_error": event.is_error,
            "error_code": event.error_code,
            "duration_ms": event.duration_ms,
        }
        if pictures := [image.ref for image in event.images if image.ref]:
            call.data["pictures"] = pictures
        self._board.change(call.row_id, state="failed" if event.is_error else "done", data=call.stored())
        return call.row_id

    def _retrying(self, event: engine.Retry) -> str:
        """One line for a row of retries, rewritten as the attempts go up."""
        self._end_text("done")
        until = self._board.store.clock.now() + timedelta(milliseconds=event.wait_ms)
        data = {
            "notice": "retry",
            "attempt": event.attempt,
            "wait_ms": event.wait_ms,
            "until": iso(until),
            "reason": event.reason,
        }
        if self._retry_row is None:
            self._retry_row = self._add("notice", text=event.reason, state="streaming", data=data)
        else:
            self._board.change(self._retry_row, text=event.reason, data=data)
        return self._retry_row

    def _end_retry(self) -> None:
        if self._retry_row is not None:
            self._board.change(self._retry_row, state="done")
            self._retry_row = None

    def _noticed(self, event: engine.Compaction | engine.Fallback | engine.LoopWarning) -> str:
        data: dict[str, Any]
        match event:
            case engine.Compaction():
                data = {
                    "notice": "compaction",
                    "before": event.tokens_before,
                    "after": event.tokens_after,
                    "summary": event.message_id,
                }
            case engine.Fallback():
                self._tried[event.from_model] = event.reason
                data = {
                    "notice": "fallback",
                    "from": event.from_model,
                    "to": event.to_model,
                    "reason": event.reason,
                }
            case engine.LoopWarning():
                data = {"notice": "loop_warning", "name": event.name, "count": event.count}
            case _:
                assert_never(event)
        return self._add("notice", data=data)

    def _missed(self, event: engine.Omission) -> str:
        what = event.model, event.parts
        if what not in self._missing:
            data = {"notice": "omission", "model": event.model, "parts": list(event.parts)}
            self._missing[what] = self._add("notice", text=event.reason, data=data)
        return self._missing[what]

    def _closed(self, done: engine.Done) -> engine.Done:
        """Leave nothing spinning, and say in the chat how the run ended where it did not simply end."""
        self._end_retry()
        self._end_text("done" if done.status in ("completed", "limit") else "interrupted")
        for call in self._calls.values():
            self._board.change(call.row_id, state="interrupted", data=call.stored())
        self._calls.clear()
        for approval_id in self._asks:
            self._board.change(approval_id, state="interrupted")
        self._asks.clear()
        if trouble := self._board.trouble:
            done = replace(done, status="failed", reason=None, error=engine.Failure("storage", str(trouble)))
        match done.status:
            case "completed":
                pass
            case "failed":
                error = done.error or engine.Failure("defect", "Something went wrong inside Plancia.")
                why: dict[str, Any] = {"kind": error.kind, "model": self._model, **self._task}
                if also := others(error.kind, self._model, self._tried, self._resting):
                    why["others"] = also
                self._add("error", text=error.message, state="failed", data=why)
            case "aborted":
                self._add("notice", data={"notice": "stopped", **self._task})
            case "interrupted":
                cut = {"notice": "interrupted", "reason": done.reason, **self._task}
                self._add("notice", data=cut, text=_why(done))
            case "limit":
                data = {"notice": "limit", "reason": done.reason, "steps": done.steps, "name": self._circling}
                self._add("notice", data=data | self._task, text=_why(done))
            case _:
                assert_never(done.status)
        return done

    def _add(self, kind: MessageKind, **row: Any) -> str:
        return self._board.add(kind, member=self._member, turn=self._turn, **row).id


def _may_be_silent(name: str) -> bool:
    """Of a name that is still being written."""
    return any(silent.startswith(name) for silent in SILENT)


def _why(done: engine.Done) -> str:
    return done.error.message if done.error is not None else ""
