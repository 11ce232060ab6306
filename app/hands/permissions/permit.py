"""What one call may do beyond what every call may: found by who judges it, kept with its id until it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Permit:
    """What was allowed for one call."""

    network: bool = False
    """A command may reach the network."""
    folders: tuple[Path, ...] = ()
    """Opened beside the workspace."""
    secrets: bool = False
    """Files whose names ask (``.env``) may be read."""
    hosts: frozenset[str] | None = frozenset()
    """Of the web; None for any."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of a command."""


NOTHING_MORE = Permit()


class Permits:
    """Those of one turn, by call."""

    def __init__(self) -> None:
        self._by_call: dict[str, Permit] = {}

    def allow(self, call_id: str, permit: Permit) -> None:
        self._by_call[call_id] = permit

    def find(self, call_id: str) -> Permit:
        return self._by_call.get(call_id, NOTHING_MORE)
