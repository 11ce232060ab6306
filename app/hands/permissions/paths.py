"""One resolver for every tool: from what a model typed to a place that may be touched, or a refusal."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

from app.hands.errors import Refused
from app.hands.permissions.closed_places import ClosedPlaces, FileId, asks
from app.hands.permissions.names import shown
from app.hands.permissions.permit import Permit
from app.hands.permissions.places import Place, Purpose
from app.hands.permissions.roots import Roots, names_of
from app.hands.permissions.walk import Walk

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LONGEST_PATH = 4095
_LONGEST_NAME = 255
_LINKS_FRESH = 10.0
"""Seconds for which the hard links of closed files are remembered."""


class PathGate:
    """The workspace, the folders granted beside it, and what is closed for ever."""

    def __init__(
        self,
        workspace: Path,
        extra: Iterable[Path] = (),
        *,
        closed: ClosedPlaces,
        read_only: Iterable[Path] = (),
        opens_secrets: bool = False,
    ) -> None:
        """``read_only``: folders in which nothing is changed; one may be made later.

        ``opens_secrets``: files whose names ask (``.env``) are as open as all others.
        """
        self.closed = closed
        self.read_only = tuple(read_only)
        self.opens_secrets = opens_secrets
        self.folders = (workspace, *extra)
        self.roots = Roots(*self.folders, closed=closed, read_only=self.read_only)
        self._linked: tuple[float, frozenset[FileId]] | None = None

    @property
    def workspace(self) -> Path:
        return self.roots.workspace.path

    def widened(self, permit: Permit) -> PathGate:
        """The same gate for a call that may do more."""
        return PathGate(
            self.folders[0],
            (*self.folders[1:], *permit.folders),
            closed=self.closed,
            read_only=self.read_only,
            opens_secrets=permit.secrets,
        )

    def find(self, typed: str, purpose: Purpose) -> Place:
        """Walk to ``typed``: relative to the workspace, absolute, or ``~/…``. Raises ``Refused``.

        Whatever changes something stops at a link that is the last name; everything else follows it.
        """
        _check_text(typed, purpose)
        path = f"{self.closed.home}{typed[1:]}" if typed == "~" or typed.startswith("~/") else typed
        at = self.roots.split(path) if path.startswith("/") else (self.roots.workspace, names_of(path))
        with Walk(self.roots, *at, purpose, self.is_closed_file, self._asks) as walk:
            return walk.to_place()

    def _asks(self, name: str) -> bool:
        return not self.opens_secrets and asks(name)

    def is_closed_file(self, status: os.stat_result) -> bool:
        """Whether a file is a hard link of one that lies in a closed place."""
        if status.st_nlink < 2:
            return False
        if self._linked is None or time.monotonic() - self._linked[0] > _LINKS_FRESH:
            self._linked = (time.monotonic(), self.closed.linked_files())
        return (status.st_dev, status.st_ino) in self._linked[1]


def _check_text(typed: str, purpose: Purpose) -> None:
    if not typed.strip():
        raise Refused("E_BAD_INPUT", "The path is empty. Name a file or folder, written from the workspace.")
    if not _is_encodable(typed) or "\0" in typed:
        raise Refused("E_BAD_INPUT", "The path has a sign in it that no file name can have. Write it anew.")
    if _URL.match(typed):
        raise Refused(
            "E_BAD_INPUT", f"{shown(typed)} is an address, not a path. Use a path in the workspace."
        )
    if len(typed.encode()) > _LONGEST_PATH or any(
        len(name.encode()) > _LONGEST_NAME for name in typed.split("/")
    ):
        raise Refused("E_BAD_INPUT", "The path is too long for this system. Use a shorter one.")
    if typed.endswith("/") and purpose in ("write", "edit", "delete"):
        raise Refused("E_IS_FOLDER", f"{shown(typed)} ends like a folder. Name a file.")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
