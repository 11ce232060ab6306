"""What a verdict may depend on beside the command itself: folders, and what is known about files. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.hands.permissions.closed_places import ClosedPlaces


def _nothing(path: str) -> bool:
    return False


def _as_written(path: str) -> str:
    return path


@dataclass(frozen=True, slots=True)
class Facts:
    """Paths are absolute, without ``..`` and without a slash at the end."""

    workspace: str
    home: str
    closed: ClosedPlaces
    granted: tuple[str, ...] = ()
    """Folders that the user opened beside the workspace."""
    readable: tuple[str, ...] = ()
    """Folders that were opened for reading only."""
    temporary: str | None = None
    """This conversation's own folder for temporary files: ``TMPDIR``."""
    folder: str | None = None
    """Where the command starts; None for the workspace."""
    secret_files: frozenset[str] = frozenset()
    """The files below the workspace whose name asks (``.env``), as far as the caller knows them."""
    is_second_name: Callable[[str], bool] = _nothing
    """Whether a file is a hard link of one of those, or of a closed file."""
    has_bash: bool = True
    """False where a plain POSIX shell has to run commands; it reads some texts in other ways."""
    made: Callable[[str], bool] = _nothing
    """Whether this conversation made that file or folder, and all that is in it."""
    real: Callable[[str], str] = _as_written
    """Where a path leads once links are followed; ``os.path.realpath`` for a caller that looks at the disk."""

    @property
    def start(self) -> str:
        return self.folder or self.workspace

    @property
    def roots(self) -> tuple[str, ...]:
        return (self.workspace, *self.granted, *((self.temporary,) if self.temporary else ()))

    @property
    def own(self) -> tuple[str, ...]:
        return tuple(str(folder) for folder in self.closed.own)
