"""Places no tool may enter, whatever was granted; names that ask first; names that are never written.

The lists stand in ``lists.py``; here they meet one machine, one user and one walk. ``Standing`` follows the walk
down, one name at a time, so that nothing behind a closed name is even looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path

from app.hands.permissions import lists
from app.hands.permissions.names import folded, matches

Names = dict[str, "Names"]
"""Closed places as a tree of folded name patterns from ``/`` down; an empty one is closed."""

FileId = tuple[int, int]
"""Device and inode: what two hard links of one file have in common."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a walk stands: what may still be closed further down."""

    below: tuple[Names, ...]

    def enter(self, name: str) -> Standing | None:
        """Go down by one name; None where that is closed."""
        if not self.below:
            return self
        ahead = tuple(
            deeper for names in self.below for pattern, deeper in names.items() if matches(pattern, name)
        )
        return Standing(ahead) if all(ahead) else None


@dataclass(frozen=True, slots=True)
class ClosedPlaces:
    """All that is closed on this machine to the agents of this user."""

    home: Path
    own: tuple[Path, ...] = ()
    """Plancia's own folders."""
    opened: tuple[Path, ...] = ()
    """Where a walk may start although it lies in one of ``own``: a conversation's attachments."""
    _given: Names = field(init=False, repr=False, compare=False, default_factory=dict)
    _own: Names = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for place in self._given_places():
            _add(self._given, place)
        for place in self.own:
            for spelt in _spellings(place):
                _add(self._own, spelt)

    def standing(self, folder: Path, *, start: Path | None = None) -> Standing | None:
        """Where a walk that began at ``start`` (else here) stands at ``folder``; None where that is closed.

        Both are absolute; links in them are not looked at.
        """
        trees = (self._given,) if self._is_opened(start or folder) else (self._given, self._own)
        at: Standing | None = Standing(tuple(tree for tree in trees if tree))
        for name in folder.parts[1:]:
            at = at.enter(name) if at else None
        return at

    def may_be_granted(self, folder: Path) -> bool:
        """Whether a folder may be opened to tools: it is neither closed nor the system's, and holds no home."""
        home = self.home.resolve()
        held = (home, *(own.resolve() for own in self.own))
        is_system = any(folder.is_relative_to(place) for place in lists.SYSTEM_FOLDERS)
        return (
            self.standing(folder) is not None
            and not any(place.is_relative_to(folder) for place in held)
            and (not is_system or folder.is_relative_to(home))
        )

    def linked_files(self, at_most: int = 20_000) -> frozenset[FileId]:
        """The closed files that have a second name somewhere; ``at_most`` files of each place are looked at."""
        places = (*self._existing(), *self.own)
        return frozenset(file for place in places for file in islice(_files_below(place), at_most) if file)

    def hidden_from_commands(self) -> tuple[Path, ...]:
        """The closed places that are there and can be read, links resolved, none in another.

        Less what no program runs without.
        """
        system = (name for name in lists.SYSTEM_PLACES if name not in lists.NEEDED_BY_PROGRAMS)
        there = {place for name in system for place in Path("/").glob(name)}
        apart = {place for place in there if not self.home.resolve().is_relative_to(place)}
        own = {place for place in self.own if place.exists()}
        found = {place.resolve() for place in (*apart, *self._existing(), *own)}
        return tuple(
            place
            for place in sorted(found)
            if os.access(place, os.R_OK) and not any(above in found for above in place.parents)
        )

    def _given_places(self) -> Iterator[Path]:
        homes = _spellings(self.home)
        yield from (home / place for home in homes for place in lists.HOME_PLACES)
        for place in (Path("/", name) for name in lists.SYSTEM_PLACES):
            if not any(home.is_relative_to(place) for home in homes):
                yield place
        # Where ~/.ssh is a link into a folder of dotfiles, that folder is as closed as the link.
        yield from (place.resolve() for place in self._existing())

    def _existing(self) -> Iterator[Path]:
        for pattern in lists.HOME_PLACES:
            yield from self.home.glob(pattern)
        yield from (
            place for pattern in lists.SYSTEM_PLACES if "etc/" in pattern for place in Path("/").glob(pattern)
        )

    def _is_opened(self, folder: Path) -> bool:
        return any(folder.is_relative_to(spelt) for place in self.opened for spelt in _spellings(place))


@lru_cache(8192)
def asks(name: str) -> bool:
    """Whether a file of this name often holds a secret, so that reading it is the user's decision."""
    if any(matches(pattern, name) for pattern in lists.FREE):
        return False
    form = folded(name)
    return (form.startswith("id_") and "." not in form) or any(
        matches(pattern, name) for pattern in lists.ASK
    )


def never_written(parts: Sequence[str]) -> bool:
    """Whether a path runs through a name that makes other programs run or trust what stands there."""
    if any(matches(pattern, part) for part in parts for pattern in lists.NEVER_WRITTEN):
        return True
    steps = list(pairwise(parts))
    return any(
        matches(a, above) and matches(b, part) for above, part in steps for a, b in lists.NEVER_WRITTEN_PAIRS
    )


def _add(tree: Names, place: Path) -> None:
    *folders, last = (folded(name) for name in place.parts[1:])
    for name in folders:
        if tree.get(name) == {}:
            return  # it lies in a place that is closed already
        tree = tree.setdefault(name, {})
    tree[last] = {}


def _spellings(place: Path) -> frozenset[Path]:
    return frozenset({place.absolute(), place.resolve()})


def _files_below(place: Path) -> Iterator[FileId | None]:
    """One item for each thing looked at: its identity where it is a file with several names."""
    try:
        here = place.lstat()
        inside = list(place.iterdir()) if stat.S_ISDIR(here.st_mode) else []
    except OSError:
        return
    yield (here.st_dev, here.st_ino) if stat.S_ISREG(here.st_mode) and here.st_nlink > 1 else None
    for thing in inside:
        yield from _files_below(thing)
