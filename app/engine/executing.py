"""One call of a tool: brought to the gate, then run to an output, whatever the gate or the tool does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from app.engine.approval import AskFn, Gate
from app.engine.events import ToolProgress
from app.engine.harness import Harness
from app.engine.large_results import fit
from app.engine.loop_guard import Loop
from app.engine.messages import ToolCall
from app.engine.tools import MOST_TOKENS, HandsOver, Tool, ToolContext, ToolOutput
from app.engine.watchdog import Stalled, Watchdog
from app.infra.logs import failure


@dataclass(frozen=True, slots=True)
class Finished:
    """A call and what it came to."""

    call: ToolCall
    output: ToolOutput
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may run, or the output that refuses it."""

    call: ToolCall
    tool: Tool | None
    refusal: ToolOutput | None = None

    @property
    def read_only(self) -> bool:
        return self.tool is None or self.tool.read_only

    @property
    def lane(self) -> Literal["looks", "hands over"] | None:
        """Adjacent calls of one lane run side by side; one without is a barrier."""
        if self.read_only:
            return "looks"
        return "hands over" if isinstance(self.tool, HandsOver) else None


async def admit(prepared: Prepared, gate: Gate, ask: AskFn) -> Prepared:
    """Bring one call to the gate; it comes back as it was, or refused. A gate that breaks lets nothing pass."""
    call, tool = prepared.call, prepared.tool
    if tool is None or prepared.refusal is not None:
        return prepared
    try:
        refusal = await gate.admit(call, tool, ask)
    except asyncio.CancelledError as lost:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        refusal = crashed(call, lost)
    except Exception as defect:  # noqa: BLE001 - a gate that breaks lets nothing pass
        refusal = crashed(call, defect)
    return prepared if refusal is None else replace(prepared, refusal=refusal)


async def execute(
    prepared: Prepared,
    happened: Callable[[ToolProgress | Finished], None],
    harness: Harness,
    most_tokens: int = MOST_TOKENS,
) -> None:
    """Run one call and report how it ended; only the cancellation of this very task leaves it unreported."""
    began = harness.clock.monotonic()
    try:
        output = await _output(prepared, happened, harness, most_tokens)
        output = await fit(output, harness.results, most_tokens)
    except asyncio.CancelledError as lost:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        output = crashed(prepared.call, lost)  # something inside the tool was cancelled, but not this call
    except (Exception, BaseExceptionGroup) as defect:  # noqa: BLE001 - a defect of one tool must not end the turn
        output = crashed(prepared.call, defect)
    happened(Finished(prepared.call, output, round((harness.clock.monotonic() - began) * 1000)))


async def _output(
    prepared: Prepared,
    happened: Callable[[ToolProgress | Finished], None],
    harness: Harness,
    most_tokens: int,
) -> ToolOutput:
    if prepared.refusal is not None:
        return prepared.refusal
    call, tool = prepared.call, prepared.tool
    assert tool is not None
    watchdog = Watchdog(harness.tool_idle_limit)

    def progress(text: str | None = None, done: int | None = None, total: int | None = None) -> None:
        watchdog.progress(text, done, total)
        happened(ToolProgress(call.id, text, done, total))

    context = ToolContext(call.id, progress, most_tokens)
    if isinstance(tool, HandsOver):
        return await tool.execute(call.arguments, context)
    try:
        async with watchdog.watch():
            return await tool.execute(call.arguments, context)
    except Stalled:
        return _stalled(tool, watchdog.limit)


def in_circles(loop: Loop) -> ToolOutput:
    return ToolOutput.failed(
        "E_LOOP",
        f"Not run, because the run goes in circles ({loop.name}). Say what was found and what stands in the way; the"
        " user decides how to go on.",
    )


def _stalled(tool: Tool, limit: float) -> ToolOutput:
    state = "" if tool.read_only else " It may have changed something: check before you go on."
    return ToolOutput.failed(
        "E_TIMEOUT",
        f"{tool.name} showed no progress for {limit / 60:g} minutes and was ended.{state}",
        transient=True,
    )


def crashed(call: ToolCall, defect: BaseException) -> ToolOutput:
    failure("tool_crashed", defect, tool=call.name)
    return ToolOutput.failed(
        "E_TOOL_CRASHED", f"{call.name} failed unexpectedly ({type(defect).__name__}). Try another way."
    )
