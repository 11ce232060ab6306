"""The folder that somebody typed for a new conversation: a whole path to a folder that is there."""

from __future__ import annotations

from pathlib import Path

from app.workbench import FolderUnusable


def chosen_folder(text: str) -> Path:
    """The folder behind ``text``; ``~`` is the user's own. Raises ``FolderUnusable``; nothing is made."""
    try:
        folder = Path(text).expanduser()
        if not folder.is_absolute():
            raise FolderUnusable(f"“{text}” is no whole path. Begin it with / or ~.")
        if not folder.is_dir():
            raise FolderUnusable(_missing(folder))
    except (OSError, RuntimeError, ValueError) as error:
        raise FolderUnusable(f"“{text}” cannot be a folder on this computer. Choose another one.") from error
    return folder


def _missing(folder: Path) -> str:
    if folder.exists():
        return f"{folder} is a file. Choose the folder it lies in, or another one."
    return f"The folder {folder} is not there. Make it first, or choose another one."
