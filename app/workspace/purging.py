"""Deleted conversations leave the disk once nobody takes a delete back any more: the files first, then the rows.

Files that were chosen for a message and never sent leave it too.

Where a start is cut off between the two, the next one finds the rows and does it again.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

from app.hands.jobs import Jobs
from app.hands.undo.pruning import forget
from app.infra.logs import failure, note
from app.infra.paths import DataFolder
from app.infra.threads import to_the_end
from app.models.errors import StorageError
from app.workspace.attachments import WAITING, sweep
from app.workspace.conversations import Expired, list_expired, purge
from app.workspace.store import Store

KEPT = timedelta(days=7)
"""How long a delete can be taken back."""


async def purge_expired(store: Store, folder: DataFolder, jobs: Jobs) -> None:
    """What cannot be removed now is noted and stays for the next start. Background jobs are ended first."""
    try:
        for each in list_expired(store, KEPT):
            await jobs.forget(each.conversation)
    except StorageError as error:
        failure("purge_failed", error)
        return
    await to_the_end(partial(_purge, store, folder))


def _purge(store: Store, folder: DataFolder) -> None:
    """Blocks; for a thread."""
    try:
        gone = [each.conversation for each in list_expired(store, KEPT) if _remove_files(folder, each)]
        if gone:
            purge(store, gone)
            note("purged", count=len(gone))
    except StorageError as error:
        failure("purge_failed", error)
    sweep(folder, store.clock)


def _remove_files(folder: DataFolder, expired: Expired) -> bool:
    try:
        for path in expired.session_paths:
            for file in folder.sessions.glob(f"{Path(path).stem}.*"):
                file.unlink()
        forget(folder.snapshots, expired.conversation)
        kept_in = (folder.results, folder.attachments, folder.attachments / WAITING, folder.temporary)
        for kept in kept_in:
            with suppress(FileNotFoundError):
                shutil.rmtree(kept / expired.conversation)
    except OSError as error:
        failure("purge_failed", error)
        return False
    return True
