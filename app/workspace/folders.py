"""Folders to work in: those that somebody typed, and those that may have to be made."""

from __future__ import annotations

from pathlib import Path

from app.workspace.errors import WorkspaceError


class FolderUnusable(WorkspaceError):
    """The folder that was named cannot be worked in. The text says why and what to do."""


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


def usable_folder(path: Path, *, make: bool = False) -> Path:
    """``path``, absolute. Raises ``FolderUnusable`` where it is no folder, or cannot be made."""
    try:
        folder = path.expanduser().absolute()
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        is_folder = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # the latter two: nobody's home, and no name at all
        raise _unusable(path, error) from error
    if not is_folder:
        there = "that is a file" if folder.exists() else "there is no such folder"
        raise FolderUnusable(f"{folder} cannot be worked in: {there}. Choose another folder.")
    return folder


def folder_to_be(path: Path) -> Path:
    """``path``, absolute: a folder, or nothing yet. Raises ``FolderUnusable`` where it can be none."""
    try:
        folder = path.expanduser().absolute()
        is_missing = not folder.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise _unusable(path, error) from error
    return folder if is_missing else usable_folder(folder)


def _missing(folder: Path) -> str:
    if folder.exists():
        return f"{folder} is a file. Choose the folder it lies in, or another one."
    return f"The folder {folder} is not there. Make it first, or choose another one."


def _unusable(path: Path, error: Exception) -> FolderUnusable:
    why = getattr(error, "strerror", None) or error
    return FolderUnusable(f"The folder {path} cannot be worked in: {why}. Choose another folder.")
