"""Who runs: a name, a system prompt, a model string, tools, limits. A value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.engine.compaction import THRESHOLD
from app.engine.tools import ToolMap


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    system_prompt: Callable[[], str]
    """Composed anew at every step, so that tools and memory are those of the moment."""
    tools: ToolMap = field(default_factory=dict)
    model: str | None = None
    """``provider/model``, a bare name, or None for the default."""
    auxiliary: str | None = None
    """Which model writes summaries, named alike; None for the one that answers."""
    step_limit: int = 100
    compact_at: float = THRESHOLD
    """Share of the model's window from which the history is compacted."""
    open_steps: Callable[[], str] = str
    """What is left of the agent's plan, word for word; empty without one. A compaction tells it again."""
