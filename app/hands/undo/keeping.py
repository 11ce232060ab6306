"""Tools whose calls can be undone: what the workspace holds is kept before each call and after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from app.engine.tools import ProgressFn, Tool, ToolContext, ToolMap, ToolOutput
from app.hands.errors import SnapshotTrouble, Stopped
from app.hands.threads import CheckStop, in_thread
from app.hands.undo.history import History
from app.hands.undo.tally import Tally, tally
from app.hands.undo.values import Origin, Snapshot, Step
from app.hands.wrapped import WrappedTool
from app.infra.logs import failure
from app.infra.threads import to_the_end

SILENT_SECONDS = 1.0
"""So long a look before a call may take without a word."""

LOOK_BACK_SECONDS = 300.0
"""For the look after a call."""

LOOK_BACK_WHEN_STOPPED = 10.0
"""The same where the user waits for the end of the run."""

_LOOKING = "Keeping what the workspace holds, so that this can be undone…\n"


class Steps(Protocol):
    """Where the steps of one turn are kept. What cannot be kept there is its own trouble: nothing is raised."""

    async def begin(self, call_id: str, tool: str, before: Snapshot) -> str | None:
        """The id of the step; None where it cannot be kept."""
        ...

    def end(self, id: str, step: Step, tally: Tally) -> None:
        """``tally`` is what all steps of the turn have come to."""
        ...

    def not_kept(self, sentence: str) -> None:
        """What follows cannot be undone, and why; said to the user."""
        ...


def undoable(tools: ToolMap, history: History, origin: Origin, steps: Steps) -> dict[str, Tool]:
    """The tools of one turn; those that only read are as they were."""
    keeping = Keeping(history, origin, steps)
    return {name: tool if tool.read_only else UndoableTool(tool, keeping) for name, tool in tools.items()}


@dataclass(slots=True)
class Keeping:
    """The looks at the workspace of one turn."""

    history: History
    origin: Origin
    steps: Steps
    _done: list[Step] = field(default_factory=list)
    _tally: Tally | None = None

    async def look_before(self, call_id: str, tool: str, progress: ProgressFn) -> tuple[str, Snapshot] | None:
        """Id and beginning of a step; None where what the call does cannot be undone, which is said."""
        patience = _Patience(progress, asyncio.get_running_loop())
        try:
            before = await in_thread(lambda stop: self.history.take(self.origin, patience.over(stop)))
        except SnapshotTrouble as trouble:
            self.steps.not_kept(trouble.sentence)
            return None
        except Exception as defect:  # noqa: BLE001 - undo never keeps a tool from its work
            self._broke(defect)
            return None
        id = await self.steps.begin(call_id, tool, before)
        return (id, before) if id else None

    async def look_after(self, id: str, before: Snapshot) -> None:
        """Also for a call that failed or was cancelled. A step without this is ended by whoever looks next."""
        try:
            await to_the_end(partial(self._look_back, before, _bounded()), partial(self._end, id))
        except Stopped:
            pass
        except SnapshotTrouble as trouble:
            self.steps.not_kept(trouble.sentence)
        except Exception as defect:  # noqa: BLE001 - undo never keeps a tool from its work
            self._broke(defect)

    def _look_back(self, before: Snapshot, check_stop: CheckStop) -> tuple[Step, Tally]:
        step = Step(before, self.history.take(self.origin, check_stop))
        if step.before.tree == step.after.tree:
            return step, self._tally or Tally()
        return step, tally(self.history, [*self._done, step], self._tally)

    def _end(self, id: str, ended: tuple[Step, Tally]) -> None:
        step, self._tally = ended
        self._done.append(step)
        self.steps.end(id, step, self._tally)

    def _broke(self, defect: Exception) -> None:
        failure("snapshot_broke", defect)
        self.steps.not_kept("Something went wrong inside Plancia while it kept what the workspace holds.")


class UndoableTool(WrappedTool):
    """A tool as it was, with a look at the workspace before and after each call."""

    def __init__(self, tool: Tool, keeping: Keeping) -> None:
        super().__init__(tool)
        self._keeping = keeping

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        step = await self._keeping.look_before(context.call_id, self.name, context.progress)
        try:
            return await self.tool.execute(arguments, context)
        finally:
            if step is not None:
                await self._keeping.look_after(*step)


class _Patience:
    """Says that a look takes long, and that it goes on."""

    def __init__(self, progress: ProgressFn, loop: asyncio.AbstractEventLoop) -> None:
        self._progress = progress
        self._loop = loop
        self._due = time.monotonic() + SILENT_SECONDS
        self._text: str | None = _LOOKING
        self._looked_at = 0

    def over(self, check_stop: CheckStop) -> CheckStop:
        def check() -> None:
            check_stop()
            self._looked_at += 1
            if time.monotonic() >= self._due:
                self._due = time.monotonic() + SILENT_SECONDS
                self._loop.call_soon_threadsafe(self._progress, self._text, self._looked_at, None)
                self._text = None

        return check


def _bounded() -> Callable[[], None]:
    """Ends a look that takes too long, and sooner where its call was cancelled."""
    task, began = asyncio.current_task(), time.monotonic()

    def check() -> None:
        is_stopped = task is not None and task.cancelling() > 0
        if time.monotonic() - began > (LOOK_BACK_WHEN_STOPPED if is_stopped else LOOK_BACK_SECONDS):
            raise Stopped

    return check
