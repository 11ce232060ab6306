"""Where the hands of one conversation may reach: its folder, its own temporary and attached files, granted folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.infra.paths import DataFolder
from app.workspace.rows import ConversationRow


def path_gate(folder: DataFolder, conversation: ConversationRow, granted: Iterable[Path] = ()) -> PathGate:
    """The gate of one conversation. What lies in the data folder is closed to it, but for the conversation's own."""
    own = (temporary_folder(folder, conversation), folder.attachments / conversation.id)
    closed = ClosedPlaces(Path.home(), own=(folder.root,), opened=own)
    there = [place for place in own if place.is_dir()]
    return PathGate(Path(conversation.workspace), (*there, *granted), closed=closed)


def temporary_folder(folder: DataFolder, conversation: ConversationRow) -> Path:
    """``TMPDIR`` of its commands."""
    return folder.temporary / conversation.id
