"""The ground floor's errors, as a map.

InfraError
├── DataFolderError      The data folder cannot be used; the text says why and what to do.
│   └── FolderInUse      Another process owns it; ``pid`` says which, where that is known.
├── AssetsMissing        The installation lacks its templates or static files.
└── SecretsError         Keys cannot be kept or read.
    └── SecretsUnreadable  The secrets file or its key is damaged; nothing was overwritten.
"""

from __future__ import annotations

from pathlib import Path


class InfraError(Exception):
    """Something of the machine itself stands in the way. The text is a sentence for the user."""


class DataFolderError(InfraError):
    """The data folder cannot be used; the text says why and what to do."""


class FolderInUse(DataFolderError):
    """Another process owns the data folder; ``has_page``: it is a server that answers."""

    def __init__(self, root: Path, pid: int | None, *, has_page: bool) -> None:
        owner = f"process {pid}" if pid else "another process"
        way = (
            "Use `plancia open` to open its page, stop that process,"
            if has_page
            else "Wait for its end, stop it,"
        )
        super().__init__(
            f"Plancia is already running on {root} ({owner}{'' if has_page else ', without a page'}). "
            f"{way} or choose another folder with --data-dir."
        )
        self.pid = pid
        self.has_page = has_page


class AssetsMissing(InfraError):
    """The installation lacks its templates or static files."""


class SecretsError(InfraError):
    """Keys cannot be kept or read."""


class SecretsUnreadable(SecretsError):
    """The secrets file or its key is damaged; nothing was overwritten."""
