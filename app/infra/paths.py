"""Where things lie: the data folder of one person, and the templates and static files of the installation."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from app.infra.errors import AssetsMissing, DataFolderError

_FOLDERS = (
    "sessions",
    "results",
    "attachments",
    "agents",
    "playbooks",
    "skills",
    "packages",
    "jobs",
    "temporary",
    "snapshots",
    "backups",
    "knowledge",
    "logs",
)

_PROBE_BYTES = 4096

_ELSEWHERE = "Choose another folder with --data-dir or PLANCIA_DATA_DIR."


@dataclass(frozen=True, slots=True)
class DataFolder:
    """One person's data: every path of it, by name. Nothing is made before ``create``."""

    root: Path

    @classmethod
    def at(cls, path: Path | None, environment: Mapping[str, str] = os.environ) -> Self:
        """``path``, else ``PLANCIA_DATA_DIR``, else the platform's user data folder; always absolute.

        Raises ``DataFolderError`` for the home of somebody whom this machine does not know.
        """
        chosen = Path(path or environment.get("PLANCIA_DATA_DIR") or _platform_folder())
        try:
            return cls(chosen.expanduser().absolute())
        except RuntimeError as error:
            raise DataFolderError(
                f"The data folder cannot be {chosen}: there is no such user. {_ELSEWHERE}"
            ) from error

    def create(self) -> Self:
        """Make what is missing, private to the user (0700), and try it. Raises ``DataFolderError``."""
        try:
            self._make()
            self._probe()
        except OSError as error:
            raise DataFolderError(in_words(error, self.root)) from error
        return self

    @property
    def database(self) -> Path:
        return self.root / "plancia.sqlite3"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def attachments(self) -> Path:
        return self.root / "attachments"

    @property
    def agents(self) -> Path:
        return self.root / "agents"

    @property
    def playbooks(self) -> Path:
        return self.root / "playbooks"

    @property
    def skills(self) -> Path:
        return self.root / "skills"

    @property
    def packages(self) -> Path:
        return self.root / "packages"

    @property
    def jobs(self) -> Path:
        return self.root / "jobs"

    @property
    def temporary(self) -> Path:
        """What commands put into ``TMPDIR``, by conversation."""
        return self.root / "temporary"

    @property
    def snapshots(self) -> Path:
        return self.root / "snapshots"

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    @property
    def knowledge(self) -> Path:
        return self.root / "knowledge"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def secrets(self) -> Path:
        return self.root / "secrets.json"

    @property
    def lock(self) -> Path:
        return self.root / "plancia.lock"

    @property
    def server(self) -> Path:
        """Address and token of the running server, for ``plancia open``; 0600."""
        return self.root / "server.json"

    @property
    def page_key(self) -> Path:
        """What browsers that were let in carry; 0600."""
        return self.root / "page.json"

    def _make(self) -> None:
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._is_ours():
            self.root.chmod(0o700)
        for name in _FOLDERS:
            (self.root / name).mkdir(mode=0o700, exist_ok=True)

    def _is_ours(self) -> bool:
        """Nothing but what we made; a folder that holds other things keeps the mode its owner gave it, every time."""
        own = {path.name for path in (self.database, self.lock, self.secrets, self.server, self.page_key)}
        return all(
            path.name in own or path.name in _FOLDERS or _is_side_file(path) for path in self.root.iterdir()
        )

    def _probe(self) -> None:
        """Write for real: permission bits say little on network drives, and nothing about a full disk."""
        probe = self.root / f".probe-{os.getpid()}"
        try:
            probe.write_bytes(b"\0" * _PROBE_BYTES)
        finally:
            probe.unlink(missing_ok=True)


def _is_side_file(path: Path) -> bool:
    """What SQLite, the secrets and the first trial of the disk leave beside our files."""
    return path.name.startswith(("plancia.", "secrets.", ".probe-"))


def in_words(error: OSError, root: Path) -> str:
    """Why ``root`` cannot be the data folder, and what to do."""
    where = Path(os.fsdecode(error.filename)) if error.filename else root
    match error.errno:
        case errno.EEXIST | errno.ENOTDIR:
            return f"The data folder cannot be {root}: there is a file in its place. {_ELSEWHERE}"
        case errno.EACCES | errno.EPERM:
            return (
                f"The data folder {root} is not writable for this user. Give yourself the right to write there, or: "
                f"{_ELSEWHERE}"
            )
        case errno.EROFS:
            return f"The data folder {root} lies on a read-only disk. {_ELSEWHERE}"
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk with the data folder {root} is full. Free some space, or: {_ELSEWHERE}"
        case _:
            return (
                f"The data folder {root} cannot be used ({error.strerror or error} at {where}). {_ELSEWHERE}"
            )


def asset_root(name: Literal["templates", "static"]) -> Path:
    """The folder of templates or static files, in a wheel or in a checkout. Raises ``AssetsMissing``."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_assets" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise AssetsMissing(
        f"This installation has no {name}. Install Plancia again, from its wheel or its checkout."
    )


def _platform_folder() -> str:
    from platformdirs import user_data_dir

    return user_data_dir("plancia", appauthor=False)
