"""A look at the workspace: every name in it with its stamp, nothing read, no link followed."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from app.hands.permissions.closed_places import Standing
from app.hands.permissions.names import folded
from app.hands.permissions.places import FOLDER
from app.hands.threads import CheckStop
from app.hands.undo.budget import too_heavy
from app.hands.undo.limits import Limits
from app.hands.undo.values import Unheld, Why, folders_above

_HISTORIES = frozenset({".git", ".hg", ".svn", ".jj"})
"""The user's own way back: never looked into, never written."""


class Stamp(NamedTuple):
    """What the system says of a thing; whoever changes the thing changes the stamp."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    def is_same_thing(self, status: os.stat_result) -> bool:
        """Whether that is still this; a folder stays the same whatever becomes of what lies in it.

        ``ctime`` is not asked: it also moves when another name of the same file is taken away.
        """
        other = Stamp.of(status)
        if stat.S_ISDIR(self.mode):
            return stat.S_ISDIR(other.mode) and self.inode == other.inode
        return self._replace(ctime_ns=0) == other._replace(ctime_ns=0)


class Seen(NamedTuple):
    stamp: Stamp
    link: bytes = b""
    """The text of a symbolic link."""


@dataclass(frozen=True, slots=True)
class Look:
    """The whole workspace at one glance: what can be held, and what cannot. No path is in both."""

    seen: dict[str, Seen]
    unheld: dict[str, Unheld]


def look_at(root: int, standing: Standing, limits: Limits, check_stop: CheckStop) -> Look:
    """Look at all that lies below the open folder ``root``, and leave out what is too much.

    Raises ``OSError``, ``Stopped``.
    """
    look = Look({}, {})
    waiting = deque([("", standing)])
    while waiting:
        check_stop()
        path, standing = waiting.popleft()
        if len(look.seen) > limits.looked_at:
            _forget(look, path, "budget")
            continue
        try:
            with opened(root, path) as folder:
                waiting.extend(_look_into(folder, path, standing, look))
        except OSError:
            if not path:
                raise
            _forget(look, path, "unreadable")
    _keep_to(limits, look)
    return look


@contextmanager
def opened(root: int, path: str) -> Iterator[int]:
    """A folder below the open ``root``, reached name by name without following a link. Raises ``OSError``."""
    folder = os.dup(root)
    try:
        for name in path.split("/") if path else ():
            above, folder = folder, os.open(name, FOLDER, dir_fd=folder)
            os.close(above)
        yield folder
    finally:
        os.close(folder)


def _look_into(folder: int, path: str, standing: Standing, look: Look) -> Iterator[tuple[str, Standing]]:
    """Note what lies in one open folder; the folders in it, in the order of their names."""
    prefix = f"{path}/" if path else ""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        below, inside = f"{prefix}{entry.name}", standing.enter(entry.name)
        if inside is None:
            look.unheld[below] = Unheld("closed")
        elif folded(entry.name) in _HISTORIES:
            look.unheld[below] = Unheld("history")
        elif _note(entry, folder, below, look):
            yield below, inside


def _note(entry: os.DirEntry[str], folder: int, path: str, look: Look) -> bool:
    """Note one thing; whether it is a folder."""
    try:
        stamp = Stamp.of(entry.stat(follow_symlinks=False))
        link = os.fsencode(os.readlink(entry.name, dir_fd=folder)) if stat.S_ISLNK(stamp.mode) else b""
    except OSError:
        return False  # gone since it was listed
    if stat.S_ISREG(stamp.mode) or stat.S_ISDIR(stamp.mode) or link:
        look.seen[path] = Seen(stamp, link)
    else:
        look.unheld[path] = Unheld("special")
    return stat.S_ISDIR(stamp.mode)


def _forget(look: Look, path: str, why: Why) -> None:
    """Note a folder that is not entered."""
    look.seen.pop(path, None)
    look.unheld[path] = Unheld(why)


def _keep_to(limits: Limits, look: Look) -> None:
    sizes = {path: seen.stamp.size for path, seen in look.seen.items() if stat.S_ISREG(seen.stamp.mode)}
    large = {path for path, size in sizes.items() if size > limits.file_bytes}
    if large:
        _leave_out(look, large, "large")
    sizes = {path: size for path, size in sizes.items() if path not in large}
    if sum(sizes.values()) > limits.workspace_bytes:
        _leave_out(look, too_heavy(sizes, limits.workspace_bytes), "budget")
    if len(look.seen) > limits.entries:
        _leave_out(look, too_heavy(dict.fromkeys(look.seen, 1), limits.entries), "budget")


def _leave_out(look: Look, paths: Set[str], why: Why) -> None:
    """Move these paths, and all below them, to what is not held."""
    for path in [path for path in look.unheld if not paths.isdisjoint(folders_above(path))]:
        del look.unheld[path]
    stamps: dict[str, list[Stamp]] = {path: [] for path in paths}
    for path in list(look.seen):
        for out in {path, *folders_above(path)} & paths:
            stamps[out].append(look.seen.pop(path).stamp)
    for path, gone in stamps.items():
        size = sum(stamp.size for stamp in gone if stat.S_ISREG(stamp.mode))
        latest = max(stamp.ctime_ns for stamp in gone)
        look.unheld[path] = Unheld(why, size, f"{len(gone)}-{size}-{latest}")
