"""All programs that are known, by name."""

from __future__ import annotations

from app.hands.permissions.programs import (
    builders,
    git,
    interpreters,
    network,
    packages,
    readers,
    system,
    text_tools,
    wrappers,
    writers,
)
from app.hands.permissions.programs.call import Handler

_FAMILIES = (readers, writers, text_tools, git, builders, packages, interpreters, wrappers, network, system)
PROGRAMS: dict[str, Handler] = {
    name: handler for family in _FAMILIES for name, handler in family.PROGRAMS.items()
}


def find_program(name: str) -> Handler | None:
    """By its bare name, without a folder."""
    if name.startswith("mkfs."):
        name = "mkfs"
    return PROGRAMS.get(name) or PROGRAMS.get(name.lower())
