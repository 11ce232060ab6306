"""The events of a turn as ``run --json`` prints them: one object per line, the names of the contract.

A field that has nothing to say is left out, but for ``cost``, whose null says "unknown".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, assert_never

from app.commands.terminal import Terminal
from app.engine import events as engine
from app.group_chat.events import FormShown, PlanChanged, RoomEvent, TaskChanged

Told = engine.Event | FormShown | TaskChanged | PlanChanged
"""What of a room is told to whoever follows it from outside."""


class EventLines:
    """Prints every event as one line. ``seq`` counts the lines."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._seq = 0

    def take(self, place: RoomEvent, event: Told) -> None:
        self._seq += 1
        line = {
            "type": event.type,
            "seq": self._seq,
            "time": place.time,
            "conversation": place.conversation,
            "member": place.member,
            "turn": place.turn,
            **fields_of(event),
        }
        text = json.dumps(line, ensure_ascii=not self._terminal.speaks_unicode)
        self._terminal.stdout.write(text + "\n")

    aside = take
    """Every line says whose it is."""


def fields_of(event: Told) -> dict[str, Any]:
    """What an event says beside its place."""
    match event:
        case engine.TextDelta() | engine.ReasoningDelta() | engine.Steer():
            return {"text": event.text}
        case engine.ToolDelta():
            return {"call_id": event.call_id, "name": event.name, "text": event.text}
        case engine.ToolStart():
            return {"call_id": event.call_id, "name": event.name, "arguments": dict(event.arguments)}
        case engine.ToolProgress() | engine.LoopWarning() | engine.ToolEnd():
            return {name: value for name, value in _given(asdict(event)).items() if name != "images"}
        case engine.Compaction():
            return {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after}
        case engine.Retry() | engine.Approval() | FormShown():
            return asdict(event)
        case TaskChanged(task=row) | PlanChanged(plan=row):
            return asdict(row)
        case engine.Fallback():
            return {"from": event.from_model, "to": event.to_model, "reason": event.reason}
        case engine.Omission():
            return {"model": event.model, "parts": list(event.parts), "reason": event.reason}
        case engine.Usage():
            return _usage(event)
        case engine.Done():
            return _done(event)
        case _:
            assert_never(event)


def _usage(event: engine.Usage) -> dict[str, Any]:
    return {
        "provider": event.provider,
        "model": event.model,
        "input_tokens": event.input_tokens,
        "output_tokens": event.output_tokens,
        "cache_read_tokens": event.cache_read_tokens,
        "cache_write_tokens": event.cache_write_tokens,
        "cost": event.cost,
        "estimated": event.estimated,
    }


def _done(event: engine.Done) -> dict[str, Any]:
    ending = {"reason": event.reason, "error": asdict(event.error) if event.error else None}
    return {
        "status": event.status,
        **_given(ending),
        "text": event.text,
        "usage": asdict(event.usage),
        "steps": event.steps,
        "tool_errors": asdict(event.tool_errors),
    }


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
