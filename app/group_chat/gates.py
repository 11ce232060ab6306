"""Where the hands of one conversation may reach: its folder, its own temporary and attached files, granted folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from app.hands.errors import Refused
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.infra.paths import DataFolder
from app.workspace.rows import ConversationRow


def path_gate(folder: DataFolder, conversation: ConversationRow, granted: Iterable[Path] = ()) -> PathGate:
    """The gate of one conversation. What lies in the data folder is closed to it, but for the conversation's own."""
    temporary, attached = temporary_folder(folder, conversation), folder.attachments / conversation.id
    closed = ClosedPlaces(Path.home(), own=(folder.root,), opened=(temporary, attached))
    there = [temporary] if temporary.is_dir() else []
    return PathGate(Path(conversation.workspace), (*there, *granted), closed=closed, read_only=(attached,))


def temporary_folder(folder: DataFolder, conversation: ConversationRow) -> Path:
    """``TMPDIR`` of its commands."""
    return folder.temporary / conversation.id


def unreadable(gate: PathGate, typed: str) -> str:
    """What is wrong with a path that the user typed, in a sentence; nothing where it is a file that can be read."""
    try:
        with gate.find(typed, "read") as place:
            if place.status is None or not stat.S_ISREG(place.status.st_mode):
                return "This is no file. Name one, and not a folder."
            if place.name is None or not os.access(place.name, os.R_OK, dir_fd=place.folder):
                return "This file cannot be read. Give yourself the right to, or name another one."
    except Refused as refused:
        return _MISSING if refused.code == "E_NOT_FOUND" else refused.sentence
    return ""


_MISSING = "There is no such file. Write its path from the workspace, or all of it."
