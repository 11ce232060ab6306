"""What a snapshot holds, and what happened between two of them. All frozen; read straight from their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from msgspec import Struct

Why = Literal["budget", "changing", "closed", "history", "large", "special", "unreadable"]
"""Why something that is there is not held."""


class _Entry(Struct, frozen=True, array_like=True, gc=False):
    """What stands at one path."""


class File(_Entry, frozen=True, tag="f"):
    """A regular file. ``content`` is the digest by which its bytes are found; ``mode`` the nine bits of ``rwx``."""

    mode: int
    size: int
    content: bytes


class Link(_Entry, frozen=True, tag="l"):
    """A symbolic link: its text, never what it leads to."""

    target: bytes


class Folder(_Entry, frozen=True, tag="d"):
    """``mode`` has twelve bits: a shared folder needs its set-group and sticky bit."""

    mode: int


class Unheld(_Entry, frozen=True, tag="u"):
    """There, but without its content; of a folder also without all below it."""

    why: Why
    size: int = 0
    mark: str = ""
    """Differs where the thing differs, as far as that can be told without reading it."""


Entry = File | Link | Folder | Unheld

Contents = Mapping[str, Entry]
"""Every path from the workspace, with ``/`` between names, and what stands there. Bytes that are no UTF-8 stand in a
path as lone surrogates; ``permissions.names.shown`` makes it printable."""


class Snapshot(Struct, frozen=True):
    """The workspace at one moment."""

    id: str
    workspace: str
    conversation: str
    turn: str
    made_at: datetime
    tree: bytes
    """Digest of its root folder."""
    files: int
    size: int
    """Bytes of all its files."""


@dataclass(frozen=True, slots=True)
class Origin:
    """For whom a snapshot is taken. The snapshots of a conversation's newest turn are the last to be given up."""

    conversation: str
    turn: str


@dataclass(frozen=True, slots=True)
class Step:
    """Two snapshots, and whatever happened between them."""

    before: Snapshot
    after: Snapshot


@dataclass(frozen=True, slots=True)
class Change:
    """One path that is not what it was. ``before`` or ``after`` is None where nothing stood there."""

    path: str
    before: Entry | None
    after: Entry | None

    @property
    def kind(self) -> Literal["added", "changed", "removed"]:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that the user has changed too, so that they have to choose. Nothing was done to it."""

    path: str
    ours: Entry | None
    """What stands there now."""
    theirs: Entry | None
    """What stood there before."""
    why: str


@dataclass(frozen=True, slots=True)
class Left:
    """A path that could not be brought back and was left as it is."""

    path: str
    why: str


Choice = Literal["mine", "before"]
"""At a conflict: keep what stands there now, or bring back what stood there before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a restore comes to."""

    changes: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    left: tuple[Left, ...]


@dataclass(frozen=True, slots=True)
class Restored(Outcome):
    """What a restore did. ``step`` undone gives back what was there before it."""

    step: Step


def parent_of(path: str) -> str:
    """The folder a path lies in; an empty text for the workspace itself."""
    return path.rpartition("/")[0]


def folders_above(path: str) -> tuple[str, ...]:
    """From the nearest one up, without the workspace."""
    above = []
    while path := parent_of(path):
        above.append(path)
    return tuple(above)
