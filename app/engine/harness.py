"""What a run is given from outside: models, time, ids, chance, a place for large results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.engine.approval import Gate, OpenGate
from app.engine.large_results import MemoryResults, ResultStore
from app.engine.provider import ModelSource
from app.engine.watchdog import IDLE_LIMIT
from app.infra.clock import Clock
from app.infra.ids import NewId


@dataclass(frozen=True, slots=True)
class Harness:
    """``random`` gives 0 to 1. A tool that shows no progress for ``tool_idle_limit`` seconds is ended."""

    models: ModelSource
    clock: Clock
    new_id: NewId
    random: Callable[[], float]
    results: ResultStore = field(default_factory=MemoryResults)
    gate: Gate = field(default_factory=OpenGate)
    tool_idle_limit: float = IDLE_LIMIT
    factors: dict[tuple[str, str], float] = field(default_factory=dict)
    """What was learnt, by session and model, of the tokens that a text really takes."""
    summarising: Callable[[], None] = lambda: None
    """Called whenever a model is about to be asked for a summary, which may take a minute."""
