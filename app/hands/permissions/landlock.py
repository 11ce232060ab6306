"""Confinement by Landlock, which every newer Linux kernel has: an allow-list of folders, and no sockets.

Landlock cannot close a folder inside an open one. Where something closed lies in a folder, what else lies there is
opened one by one: the folder itself then cannot be listed, and in a writable one nothing new can be made right there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.hands.children import of_ours
from app.hands.permissions import seccomp
from app.hands.permissions.confinement import Access, Badge
from app.hands.permissions.landlock_child import abi

_OLDEST = 3
"""Of its versions: before it a file outside could be cut to nothing."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")


_BADGE = Badge(
    "landlock",
    "Commands are confined by Landlock: they write only to the workspace and granted folders, cannot read credential "
    "folders, cannot signal other programs and have no network unless it was allowed.",
    (
        "hooks and settings in .git, and names such as .envrc or .vscode, in the workspace",
        "names, sizes and dates of files elsewhere, and the right to change their modes and dates",
        "seeing which other programs run",
        "all hosts, once the network was allowed for a command",
    ),
)


@dataclass(frozen=True, slots=True)
class Landlock:
    """Needs no program and no rights."""

    badge: Badge = _BADGE

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        """See ``Mechanism``."""
        if sys.platform != "linux" or not seccomp.is_known():
            raise OSError("it is not known on this kind of machine")
        if abi() < _OLDEST:
            raise OSError("this kernel has none, or an old one")
        order = {"network": access.network, **rules(access)}
        return (*of_ours("app.hands.permissions.landlock_child"), json.dumps(order), *argv)


def rules(access: Access) -> dict[str, list[str]]:
    """What is opened: to read and run, to write as well, and which devices."""
    hidden = set(access.hidden)
    readable = [*_around(Path("/"), hidden | {Path("/dev")}), *access.opened]
    writable = [place for root in access.writable for place in _around(root, hidden)]
    return {
        "readable": _texts(readable),
        "writable": _texts(writable),
        "devices": [f"/dev/{name}" for name in _DEVICES if Path("/dev", name).exists()],
    }


def _around(root: Path, closed: set[Path]) -> Iterator[Path]:
    """``root``, or where something closed lies in it, all that is beside it. Links lead to what has its own rule."""
    if root in closed:
        return
    if not any(place.is_relative_to(root) for place in closed):
        yield root
        return
    try:
        inside = [Path(entry.path) for entry in os.scandir(root) if not entry.is_symlink()]
    except OSError:
        return  # who cannot look into it cannot read what is there either
    for place in inside:
        yield from _around(place, closed)


def _texts(places: Iterable[Path]) -> list[str]:
    return [os.fspath(place) for place in places]
