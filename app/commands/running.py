"""The note that a server leaves in its data folder while it is ready: where it is, and how to get in."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from urllib.parse import quote

from app.infra.errors import DataFolderError, FolderInUse
from app.infra.files import write_atomic
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder, in_words


@dataclass(frozen=True, slots=True)
class Running:
    """One server that was ready."""

    url: str
    token: str
    pid: int

    @property
    def login(self) -> str:
        """The address that lets a browser in."""
        return f"{self.url}/?token={quote(self.token, safe='')}"

    @property
    def is_alive(self) -> bool:
        """Its process is there; after a crash the note outlives it."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def remember(folder: DataFolder, running: Running) -> None:
    """Readable by this user alone. Raises ``DataFolderError``."""
    try:
        write_atomic(folder.server, json.dumps(asdict(running)).encode(), mode=0o600)
    except OSError as error:
        raise DataFolderError(in_words(error, folder.root)) from error


def forget(folder: DataFolder) -> None:
    folder.server.unlink(missing_ok=True)


def find_note(folder: DataFolder) -> Running | None:
    """What the last server wrote, alive or not; None where there is nothing that can be read."""
    try:
        note = json.loads(folder.server.read_bytes())
        return Running(str(note["url"]), str(note["token"]), int(note["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_owner(folder: DataFolder) -> FolderInUse | None:
    """Whoever has the folder now; None where it is free. Raises ``DataFolderError``."""
    if not folder.lock.exists():
        return None
    try:
        with FolderLock(folder):
            return None
    except FolderInUse as owner:
        return owner
