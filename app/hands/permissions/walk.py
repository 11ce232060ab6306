"""The walk from an open root to a place: one name at a time, nothing trusted that was not looked at here.

Each folder is opened from the one above it with O_NOFOLLOW, so that nobody can swap a folder for a link behind
the walk's back. Links are followed by their text, as long as they stay inside the roots. Each name, typed or
found behind a link, is held against the closed places before it is looked at.
"""

from __future__ import annotations

import difflib
import os
import posixpath
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import TracebackType

from app.hands.errors import Refused
from app.hands.permissions.closed_places import Standing, asks, never_written
from app.hands.permissions.names import shown
from app.hands.permissions.places import FOLDER, Place, Purpose, failed
from app.hands.permissions.roots import Root, Roots, names_of

_CHANGES = frozenset[Purpose]({"write", "edit", "mkdir", "delete"})
_CREATES = frozenset[Purpose]({"write", "mkdir"})
_REVEALS = frozenset[Purpose]({"read", "search", "edit", "write"})
_MOST_LINKS = 40
_MOST_LOOKED_AT = 5_000


class Walk:
    """The folders from a root down to where the walk stands, all of them open; ``with`` closes them."""

    def __init__(
        self,
        roots: Roots,
        root: Root,
        ahead: deque[str],
        purpose: Purpose,
        is_closed_file: Callable[[os.stat_result], bool],
        asks: Callable[[str], bool] = asks,
    ) -> None:
        self._roots = roots
        self._is_closed_file = is_closed_file
        self._asks = asks
        self._purpose = purpose
        self._links = 0
        self._open: list[int] = []
        self._begin(root, ahead)

    def __enter__(self) -> Walk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def to_place(self) -> Place:
        while self._ahead:
            name = self._ahead.popleft()
            if name == "..":
                self._up()
                continue
            standing = self._guard(name, self._names, self._standing[-1])
            link = _link_text(name, self._open[-1])
            if link is not None and (self._ahead or self._purpose not in _CHANGES):
                self._follow(name, link)
            elif link is not None and self._purpose != "delete":
                raise self._refuse_link(name, link)
            elif not self._ahead:
                return self._last(name, standing)
            elif not self._enter(name, standing):
                return self._missing(name)
        return self._here()

    # Steps

    def _begin(self, root: Root, ahead: deque[str]) -> None:
        if root.standing is None:
            raise Refused(
                "E_DENIED", f"{shown(str(root.path))} is closed to tools. Ask the user for another folder."
            )
        if root.is_read_only and self._purpose in _CHANGES:
            raise Refused(
                "E_DENIED",
                f"{shown('/'.join((str(root.path), *ahead)))} is what the user attached, and is only read. "
                "Write a copy in the workspace, and change that.",
            )
        self._check_spelling(root, ahead)
        self._close()
        try:
            self._open.append(os.open(root.path, FOLDER))
        except OSError as error:
            raise Refused(
                "E_NOT_FOUND",
                f"The folder {shown(str(root.path))} cannot be opened: {error.strerror}. Tell the user.",
            ) from error
        self._root = root
        self._names: list[str] = []
        self._standing = [root.standing]
        self._ahead = ahead

    def _up(self) -> None:
        if self._names:
            os.close(self._open.pop())
            self._names.pop()
            self._standing.pop()
        else:
            self._begin(*self._roots.split("/".join((str(self._root.path.parent), *self._ahead))))

    def _follow(self, name: str, link: str) -> None:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise Refused(
                "E_BAD_INPUT", f"{self._label(name)} is a link that leads in a circle. Use another path."
            )
        if not self._ahead and self._purpose in _REVEALS and self._asks(name):
            raise _refuse_secret(self._label(name))
        ahead = names_of(link) + self._ahead
        if link.startswith("/"):
            self._begin(*self._roots.split("/".join((link, *self._ahead))))
        else:
            self._check_spelling(self._root, deque((*self._names, *ahead)))
            self._ahead = ahead

    def _enter(self, name: str, standing: Standing) -> bool:
        """Go down into a folder; False where nothing of that name is there."""
        try:
            self._open.append(os.open(name, FOLDER, dir_fd=self._open[-1]))
        except FileNotFoundError:
            return False
        except NotADirectoryError as error:
            raise Refused(
                "E_NOT_FOUND",
                f"{self._label(name)} is a file, so nothing lies in it. Use the path without what follows.",
            ) from error
        except OSError as error:
            raise failed(self._label(name), "opened", error) from error
        self._names.append(name)
        self._standing.append(standing)
        return True

    # Ends

    def _last(self, name: str, standing: Standing) -> Place:
        try:
            status = os.stat(name, dir_fd=self._open[-1], follow_symlinks=False)
        except FileNotFoundError:
            return self._missing(name)
        except OSError as error:
            raise failed(self._label(name), "looked at", error) from error
        place = self._place((), name, status, standing)
        if not place.is_folder and self._asks(name) and self._purpose in _REVEALS:
            os.close(place.folder)
            raise _refuse_secret(place.label)
        return place

    def _missing(self, name: str) -> Place:
        if self._purpose not in _CREATES or ".." in self._ahead:
            raise self._not_found(name)
        names, standing = list(self._names), self._standing[-1]
        for part in (name, *self._ahead):
            if "\\" in part:
                raise Refused("E_BAD_INPUT", f"{shown(part)} has a backslash in it. Write / between folders.")
            standing = self._guard(part, names, standing)
            names.append(part)
        *folders, last = (name, *self._ahead)
        return self._place(tuple(folders), last, None, standing)

    def _here(self) -> Place:
        if self._purpose in _CHANGES:
            what = self._label() if self._names else "The workspace itself"
            raise Refused(
                "E_IS_FOLDER", f"{what} is a folder and is not changed as a whole. Name a file in it."
            )
        return self._place((), None, os.fstat(self._open[-1]), self._standing[-1])

    def _place(
        self, folders: tuple[str, ...], name: str | None, status: os.stat_result | None, standing: Standing
    ) -> Place:
        path = self._root.path.joinpath(*self._names, *folders, *(() if name is None else (name,)))
        label, here = self._roots.label(path), self._open.pop()
        return Place(path, label, here, name, folders, standing, status, self._is_closed_file)

    # Checks

    def _guard(self, name: str, above: list[str], standing: Standing) -> Standing:
        ahead = standing.enter(name)
        if ahead is None:
            raise Refused(
                "E_DENIED", f"{self._label(name)} is closed to tools, whoever asks. Go on without it."
            )
        folder = above[-1] if above else self._root.path.name
        if self._purpose in _CHANGES and never_written((folder, name)):
            raise _refuse_guarded(self._label(name))
        return ahead

    def _check_spelling(self, root: Root, ahead: deque[str]) -> None:
        """Hold the path as it is written against the closed places; the walk does it for what it leads to."""
        spelt = posixpath.normpath(posixpath.join(str(root.path), *ahead))
        if self._roots.closed.standing(Path(spelt), start=root.path) is None:
            raise Refused(
                "E_DENIED",
                f"{self._roots.label(Path(spelt))} is closed to tools, whoever asks. Go on without it.",
            )
        if self._purpose in _CHANGES and never_written(Path(spelt).parts[len(root.path.parts) - 1 :]):
            raise _refuse_guarded(self._roots.label(Path(spelt)))

    def _refuse_link(self, name: str, link: str) -> Refused:
        return Refused(
            "E_DENIED",
            f"{self._label(name)} is a link to {shown(link)}, and nothing is written through a link. "
            "Name the file itself, if it lies in the workspace.",
        )

    def _not_found(self, name: str) -> Refused:
        close = [self._label(near) for near in self._near(name)]
        there = f" Near it: {', '.join(close)}." if close else ""
        hint = " Write / between folders." if "\\" in name else " Look with list_files or search_files."
        return Refused("E_NOT_FOUND", f"{self._label(name)} does not exist.{there}{hint}")

    def _near(self, name: str) -> list[str]:
        try:
            with os.scandir(self._open[-1]) as entries:
                names = [entry.name for entry in islice(entries, _MOST_LOOKED_AT)]
        except OSError:
            return []
        forms = {found.casefold(): found for found in names if self._standing[-1].enter(found)}
        return [forms[form] for form in difflib.get_close_matches(name.casefold(), forms, n=3)]

    def _label(self, *names: str) -> str:
        return self._roots.label(self._root.path.joinpath(*self._names, *names))

    def _close(self) -> None:
        while self._open:
            os.close(self._open.pop())


def _link_text(name: str, folder: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None  # no link, or nothing there: the next step finds out which


def _refuse_secret(label: str) -> Refused:
    return Refused(
        "E_DENIED",
        f"{label} may hold secrets, so it stays closed unless the user opens it. Ask the user for what you need of it.",
    )


def _refuse_guarded(label: str) -> Refused:
    return Refused(
        "E_DENIED",
        f"{label} makes other programs run or trust what stands in it, so no tool writes it. "
        "Tell the user what should be changed there.",
    )
