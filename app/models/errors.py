"""The store's errors, as a map.

StorageError             The store cannot do what was asked; nothing of it was changed.
├── StorageFull          The disk is full.
├── StorageReadOnly      The database may not be written.
├── StorageBusy          Another program holds the database.
├── DatabaseUnreadable   The file is damaged or no database; it was left as it is.
├── DatabaseNewer        A newer Plancia wrote it.
└── MigrationFailed      It could not be brought up to date; it was left as it is.

Each text says which file, why, and what to do.
"""

from __future__ import annotations

from pathlib import Path


class StorageError(Exception):
    """The store cannot do what was asked; nothing of it was changed."""


class StorageFull(StorageError):
    """The disk is full."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"The disk with {file} is full, so the last change was not saved. "
            "Free some space and try again; nothing that was saved before is lost."
        )


class StorageReadOnly(StorageError):
    """The database may not be written."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} cannot be opened for writing: the file, its folder or its disk is read-only or not yours. "
            "Give yourself the right to write there, or choose another folder with --data-dir."
        )


class StorageBusy(StorageError):
    """Another program holds the database."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"Another program is using {file} and did not let go of it in time. Close that program and try again."
        )


class DatabaseUnreadable(StorageError):
    """The file is damaged or no database; it was left as it is."""

    def __init__(self, file: Path, detail: str, backup: Path | None) -> None:
        self.damage = f"The database {file} cannot be read ({detail})."
        self.backup = backup
        way = (
            f"The newest backup is {backup}: stop Plancia and run `plancia doctor --fix` to go on from it."
            if backup
            else "There is no backup of it: `plancia doctor` says what can be done."
        )
        super().__init__(f"{self.damage} It was left untouched. {way}")


class DatabaseNewer(StorageError):
    """A newer Plancia wrote it."""

    def __init__(self, file: Path, found: int, known: int) -> None:
        super().__init__(
            f"The database {file} was written by a newer Plancia (layout {found}, this one knows up to {known}). "
            "It was left untouched. Update Plancia, or start with another folder by --data-dir."
        )


class MigrationFailed(StorageError):
    """The database could not be brought up to date; it was left as it is."""

    def __init__(self, file: Path, migration: str, detail: str, backup: Path | None) -> None:
        kept = f" A backup from just before is {backup}." if backup else ""
        super().__init__(
            f"The database {file} could not be brought up to date ({migration}: {detail}). "
            f"It is as it was before.{kept} Go on with the older Plancia, or run `plancia doctor`."
        )
        self.backup = backup
