"""The folders that may be used, and how a path is written that lies in one of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.hands.errors import Refused
from app.hands.permissions.closed_places import ClosedPlaces, Standing
from app.hands.permissions.names import shown


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that may be used: all links resolved, and the ways it may be spelt."""

    path: Path
    spellings: frozenset[tuple[str, ...]]
    standing: Standing | None
    """None where it lies in a closed place: then it opens nothing."""
    is_read_only: bool = False


class Roots:
    """The workspace and what was granted beside it, deepest first."""

    def __init__(
        self, workspace: Path, *extra: Path, closed: ClosedPlaces, read_only: Iterable[Path] = ()
    ) -> None:
        self.closed = closed
        self.workspace = _root(workspace, closed)
        given = (_root(folder, closed) for folder in extra)
        looked_at = (_root(folder, closed, is_read_only=True) for folder in read_only)
        roots = (self.workspace, *given, *looked_at)
        self._all = sorted(roots, key=lambda root: -len(root.path.parts))

    def split(self, absolute: str) -> tuple[Root, deque[str]]:
        """The root an absolute path begins with and the names below it. Raises ``Refused`` for any other path."""
        names = names_of(absolute)
        for root in self._all:
            for spelt in root.spellings:
                if tuple(names)[: len(spelt)] == spelt:
                    return root, deque(list(names)[len(spelt) :])
        raise Refused(
            "E_OUTSIDE",
            f"{shown(absolute)} lies outside the workspace, where no tool may go. "
            "Use a path inside it, written from the workspace.",
        )

    def label(self, path: Path) -> str:
        """A resolved path as a model should write it: from the workspace where it lies there."""
        home = self.workspace.path
        return shown(str(path.relative_to(home) if path.is_relative_to(home) else path))


def names_of(path: str) -> deque[str]:
    """The names a path is made of, less those that say nothing; ``..`` stays."""
    return deque(name for name in path.split("/") if name not in ("", "."))


def _root(folder: Path, closed: ClosedPlaces, *, is_read_only: bool = False) -> Root:
    path = folder.resolve()
    spellings = frozenset({path.parts[1:], folder.absolute().parts[1:]})
    return Root(path, spellings, closed.standing(path), is_read_only)
