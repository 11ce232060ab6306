"""From a look at the workspace to its contents: what did not change is known, the rest is read."""

from __future__ import annotations

import io
import os
import stat
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import msgspec

from app.hands.errors import Refused
from app.hands.permissions.closed_places import Standing
from app.hands.permissions.places import open_regular
from app.hands.threads import CheckStop
from app.hands.undo.limits import Limits
from app.hands.undo.memory import BELIEVED_AFTER_NS, Known, Memory
from app.hands.undo.packs import PackWriter
from app.hands.undo.scan import Seen, Stamp, look_at, opened
from app.hands.undo.trees import write_tree
from app.hands.undo.values import Entry, File, Folder, Link, Unheld, parent_of

_TRIES = 3
"""At a file that changes while it is read."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """An open workspace folder, and what of it is closed to tools."""

    root: int
    standing: Standing
    is_closed_file: Callable[[os.stat_result], bool]


def take_stock(
    workspace: Workspace,
    last: Memory,
    writer: PackWriter,
    limits: Limits,
    now_ns: int,
    check_stop: CheckStop,
    *,
    is_kept: bool,
) -> Memory:
    """Keep all that is new in the workspace; ``is_kept`` says that a snapshot holds all of the ``last`` one.

    Raises ``OSError``, ``Stopped``.
    """
    look = look_at(workspace.root, workspace.standing, limits, check_stop)
    known = {path: Known(entry) for path, entry in look.unheld.items()}
    unread: dict[str, list[str]] = defaultdict(list)
    for path, seen in look.seen.items():
        if not stat.S_ISREG(seen.stamp.mode):
            known[path] = Known(_without_content(seen), seen.stamp)
        elif (before := _still_known(last.known.get(path), seen.stamp, writer)) is not None:
            known[path] = before
        else:
            unread[parent_of(path)].append(path)
    reader = _Reader(workspace, last, writer, limits.file_bytes, now_ns - BELIEVED_AFTER_NS)
    for folder, paths in unread.items():
        known |= reader.read(folder, paths, check_stop)
    now = Memory(last.tree, known)
    if not is_kept or now.contents() != last.contents():
        now.tree = write_tree(now.contents(), writer.put)
    return now


def _still_known(before: Known | None, stamp: Stamp, writer: PackWriter) -> Known | None:
    if before is None or not before.is_old or before.stamp != stamp:
        return None
    return before if isinstance(before.entry, File) and before.entry.content in writer.packs else None


def _without_content(seen: Seen) -> Entry:
    return Link(seen.link) if seen.link else Folder(stat.S_IMODE(seen.stamp.mode))


@dataclass(frozen=True, slots=True)
class _Reader:
    workspace: Workspace
    last: Memory
    writer: PackWriter
    most: int
    believed_before_ns: int

    def read(self, folder: str, paths: list[str], check_stop: CheckStop) -> dict[str, Known]:
        """The files of one folder, less those that are gone by now."""
        known = {}
        with ExitStack() as open_:
            try:
                descriptor = open_.enter_context(opened(self.workspace.root, folder))
            except OSError:
                return {}  # gone since it was listed
            for path in paths:
                check_stop()
                found = self._find(path, descriptor)
                if found is not None:
                    known[path] = self._keep(*found) if isinstance(found, tuple) else found
        return known

    def _keep(self, stamp: Stamp, data: bytes) -> Known:
        entry = File(_mode(stamp), len(data), self.writer.put(data))
        return Known(entry, stamp, stamp.ctime_ns < self.believed_before_ns)

    def _find(self, path: str, folder: int) -> tuple[Stamp, bytes] | Known | None:
        """A file's stamp and bytes; what is known of it where it cannot be read; None where it is gone."""
        name = path.rpartition("/")[2]
        try:
            with open_regular(name, folder, self.workspace.is_closed_file) as file:
                found = read_steady(file, self.most)
                return Known(found) if isinstance(found, Unheld) else found
        except FileNotFoundError:
            return None
        except Refused:
            return Known(Unheld("closed"))
        except PermissionError:
            return self._locked(path, Stamp.of(os.stat(name, dir_fd=folder, follow_symlinks=False)))
        except OSError:
            return Known(Unheld("changing"))  # it is no file any more, or its disk fails

    def _locked(self, path: str, stamp: Stamp) -> Known:
        """A file that may not be read: what it held before, where nothing but its mode has changed."""
        before = self.last.known.get(path)
        if (
            before is not None
            and isinstance(before.entry, File)
            and before.entry.content in self.writer.packs
            and before.stamp is not None
            and before.stamp._replace(mode=0, ctime_ns=0) == stamp._replace(mode=0, ctime_ns=0)
        ):
            return Known(msgspec.structs.replace(before.entry, mode=_mode(stamp)), stamp)
        return Known(Unheld("unreadable", stamp.size, str(stamp.ctime_ns)))


def _mode(stamp: Stamp) -> int:
    return stat.S_IMODE(stamp.mode) & 0o777


def read_steady(file: io.FileIO, most: int) -> tuple[Stamp, bytes] | Unheld:
    """A file's bytes as they were at one moment: its stamp is the same before and after. Raises ``OSError``."""
    stamp = Stamp.of(os.fstat(file.fileno()))
    for _ in range(_TRIES):
        if stamp.size > most:
            return Unheld("large", stamp.size, str(stamp.ctime_ns))
        file.seek(0)
        data = _read(file, stamp.size)
        before, stamp = stamp, Stamp.of(os.fstat(file.fileno()))
        if before == stamp and len(data) == stamp.size:
            return stamp, data
    return Unheld("changing", stamp.size, str(stamp.ctime_ns))


def _read(file: io.FileIO, size: int) -> bytes:
    """At most ``size`` bytes from where the file stands."""
    data = bytearray()
    while len(data) < size and (piece := file.read(size - len(data))):
        data += piece
    return bytes(data)
