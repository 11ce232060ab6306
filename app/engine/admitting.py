"""One call at the gate: it passes, or is refused there; whatever the gate does, exactly one report of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from app.engine.approval import Gate
from app.engine.events import Approval
from app.engine.executing import Prepared, crashed


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that has passed the gate, or was refused there."""

    prepared: Prepared


async def admit(prepared: Prepared, gate: Gate, happened: Callable[[Approval | Admitted], None]) -> None:
    """Bring one call to the gate and report how it left. A gate that breaks lets nothing pass."""
    call, tool = prepared.call, prepared.tool
    if tool is not None and prepared.refusal is None:
        try:
            prepared = replace(prepared, refusal=await gate.admit(call, tool, happened))
        except asyncio.CancelledError as lost:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            prepared = replace(prepared, refusal=crashed(call, lost))
        except Exception as defect:  # noqa: BLE001 - see above
            prepared = replace(prepared, refusal=crashed(call, defect))
    happened(Admitted(prepared))
