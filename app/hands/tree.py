"""A folder to search in: all files below it that a search may see, in the order of their names.

No link is followed and nothing closed is entered. Folders that programs fill (``.git``, ``node_modules``, virtual
environments, caches) are left out, unless the search starts inside one.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType

from app.hands.errors import Refused
from app.hands.permissions.closed_places import Standing, asks
from app.hands.permissions.lists import NOISE
from app.hands.permissions.names import shown
from app.hands.permissions.places import FOLDER, Place, open_regular

_NOISE = frozenset(NOISE)
_DEEPEST = 100
"""Folders within folders: each one is held open while what lies in it is searched."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the tree; to be opened before the next one is asked for."""

    path: str
    """From the folder of the search, with ``/`` between names."""
    folder: int
    name: str
    is_closed_file: Callable[[os.stat_result], bool]

    def open(self) -> io.FileIO | None:
        """None for what cannot be read: closed, gone, not permitted, no regular file."""
        try:
            return open_regular(self.name, self.folder, self.is_closed_file)
        except (OSError, Refused):
            return None


class Tree:
    """The files below one place, or that one file; ``with`` closes it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._alone = place.is_file
        self._folder = os.dup(place.folder) if place.is_file else place.open_folder()

    def __enter__(self) -> Tree:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._folder)

    def label(self, path: str) -> str:
        """A path of the tree as a model should write it: from the workspace."""
        if self._alone:
            return self._place.label
        return shown(path) if self._place.label == "." else f"{self._place.label}/{shown(path)}"

    def files(self) -> Generator[File]:
        """All of them, sorted name by name."""
        if self._alone:
            yield self._file("", self._folder, self._place.path.name)
        else:
            yield from self._below(self._folder, self._place.standing, "", _DEEPEST)

    def named(self, paths: Iterable[str]) -> Generator[File]:
        """Those of ``paths`` that ``files`` would give, in the same order."""
        for path in sorted(paths, key=lambda path: path.split("/")):
            *above, name = path.split("/")
            if not {"", ".", ".."}.isdisjoint((*above, name)):
                continue
            with ExitStack() as open_:
                at = self._down(above, open_)
                if at is not None and _is_searched(name, at[1]):
                    yield self._file("".join(f"{part}/" for part in above), at[0], name)

    def _below(self, folder: int, standing: Standing, prefix: str, deeper: int) -> Generator[File]:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                inside = _enter(entry.name, folder, standing) if deeper else None
                if inside is not None:
                    try:
                        yield from self._below(*inside, f"{prefix}{entry.name}/", deeper - 1)
                    finally:
                        os.close(inside[0])
            elif entry.is_file(follow_symlinks=False) and _is_searched(entry.name, standing):
                yield self._file(prefix, folder, entry.name)

    def _down(self, names: list[str], open_: ExitStack) -> tuple[int, Standing] | None:
        folder, standing = self._folder, self._place.standing
        for name in names:
            inside = _enter(name, folder, standing)
            if inside is None:
                return None
            folder, standing = inside
            open_.callback(os.close, folder)
        return folder, standing

    def _file(self, prefix: str, folder: int, name: str) -> File:
        return File(prefix + name, folder, name, self._place.is_closed_file)


def _enter(name: str, folder: int, standing: Standing) -> tuple[int, Standing] | None:
    """Open a folder in an open folder; None for one that a search does not enter."""
    inside = standing.enter(name)
    if inside is None or name in _NOISE:
        return None
    try:
        return os.open(name, FOLDER, dir_fd=folder), inside
    except OSError:
        return None


def _is_searched(name: str, standing: Standing) -> bool:
    return standing.enter(name) is not None and not asks(name)
