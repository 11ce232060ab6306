"""Searching the files of a tree for lines. One generator, whoever runs it: a thread here or a bare process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from app.hands.globs import Glob
from app.hands.patterns import Matcher, Query
from app.hands.permissions.paths import PathGate
from app.hands.scan import Found, scan
from app.hands.tree import File, Tree

Mode = Literal["content", "files", "count"]

_MOST_SLOW_FILES = 3


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for, where, and how much of it to show."""

    query: Query
    root: str = "."
    glob: str | None = None
    mode: Mode = "content"
    context: int = 0
    most: int = 100
    """Matching lines in mode ``content``, files in the others."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A file that holds matching lines; None for ``found`` where the pattern was too slow for it."""

    path: str
    """As a model should write it."""
    found: Found | None

    def cost(self, mode: Mode) -> int:
        """How much of ``Search.most`` it uses up."""
        if self.found is None:
            return 0
        return sum(line.matches for line in self.found.lines) if mode == "content" else 1


class SlowPattern(Exception):
    """A pattern takes longer than it may for one block of a file."""


def grep(
    gate: PathGate,
    search: Search,
    matcher: Matcher,
    candidates: Iterable[str] | None = None,
    check_stop: Callable[[], None] = lambda: None,
) -> Iterator[Hit]:
    """The files with matching lines, sorted by name, until ``search.most`` is reached.

    With ``candidates``, paths below the root, only those are looked at. Raises ``Refused`` for the root.
    """
    keep = Glob.of(search.glob) if search.glob else None
    left, slow = search.most, 0
    with gate.find(search.root, "search") as place, Tree(place) as tree:
        with closing(tree.files() if candidates is None else tree.named(candidates)) as files:
            for file in files:
                check_stop()
                hit = (
                    None if keep and not keep.matches(file.path) else _look(file, tree, search, matcher, left)
                )
                if hit is None:
                    continue
                yield hit
                slow += hit.found is None
                left -= hit.cost(search.mode)
                if left <= 0 or slow >= _MOST_SLOW_FILES:
                    return


def _look(file: File, tree: Tree, search: Search, matcher: Matcher, left: int) -> Hit | None:
    opened = file.open()
    if opened is None:
        return None
    show = left if search.mode == "content" else 0
    with opened:
        try:
            found = scan(opened, matcher, show=show, context=search.context, count=search.mode == "count")
        except SlowPattern:
            return Hit(tree.label(file.path), None)
        except OSError:
            return None  # the disk does not give it
    return Hit(tree.label(file.path), found) if found else None
