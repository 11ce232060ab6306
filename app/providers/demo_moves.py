"""What the demo model can answer with: text, and calls behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Move:
    """One answer: text, and the calls of its step."""

    text: str
    calls: tuple[Call, ...] = ()


def call(tool: str, /, **arguments: Any) -> tuple[Call, ...]:
    """A step with one call."""
    return ((tool, arguments),)
