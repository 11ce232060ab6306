"""While a server runs, its database is copied once a day; where that fails it is noted and tried again."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Never

from anyio.to_thread import run_sync

from app.infra.clock import Clock
from app.infra.logs import failure, note
from app.infra.paths import DataFolder
from app.models.backups import back_up_daily
from app.models.errors import StorageError
from app.models.faults import files_in_words, in_words

_LOOK_EVERY = 3600.0
"""Seconds between two looks at whether a copy is due."""


async def keep_backups(folder: DataFolder, clock: Clock) -> Never:
    """In a thread that is left behind at the end: a copy that is not whole then never gets its name."""
    while True:
        try:
            copy = await run_sync(partial(_copy, folder, clock.now()), abandon_on_cancel=True)
            if copy is not None:
                note("backed_up", size=copy.stat().st_size)
        except StorageError as error:
            failure("backup_failed", error)
        await clock.sleep(_LOOK_EVERY)


def _copy(folder: DataFolder, now: datetime) -> Path | None:
    with in_words(folder.database, folder.backups), files_in_words(folder.backups):
        return back_up_daily(folder.database, folder.backups, now)
