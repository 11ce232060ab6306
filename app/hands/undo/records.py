"""The snapshots of one workspace, each a small file beside the packs that hold its contents."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.hands.undo.values import Snapshot
from app.infra.files import Disk, write_atomic

_SUFFIX = ".snapshot"
_DECODER = msgspec.json.Decoder(Snapshot)


def store_record(folder: Path, snapshot: Snapshot, disk: Disk) -> None:
    """Raises ``OSError``; then the snapshot does not exist."""
    write_atomic(_path(folder, snapshot.id), msgspec.json.encode(snapshot), disk=disk)


def list_records(folder: Path) -> tuple[Snapshot, ...]:
    """The oldest first; what cannot be read is no snapshot."""
    found = (find_record(folder, path.stem) for path in folder.glob(f"*{_SUFFIX}"))
    return tuple(sorted((one for one in found if one), key=lambda snapshot: snapshot.made_at))


def find_record(folder: Path, id: str) -> Snapshot | None:
    """None also for one that cannot be read."""
    try:
        return _DECODER.decode(_path(folder, id).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def has_record(folder: Path, id: str) -> bool:
    return _path(folder, id).exists()


def remove_record(folder: Path, id: str) -> None:
    _path(folder, id).unlink(missing_ok=True)


def _path(folder: Path, id: str) -> Path:
    return folder / f"{id}{_SUFFIX}"
