"""The copies that a server makes while it runs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import anyio
import pytest

from app.commands.daily_backup import keep_backups
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.workspace.conversations import create_conversation
from app.workspace.store import Store

pytestmark = pytest.mark.anyio


class Alarm(SystemClock):
    """A clock that wakes its sleepers so many times; then ``asleep`` is set."""

    def __init__(self, wakes: int = 0) -> None:
        self._wakes = wakes
        self.asleep = anyio.Event()

    async def sleep(self, seconds: float) -> None:
        if self._wakes == 0:
            self.asleep.set()
            await anyio.sleep_forever()
        self._wakes -= 1


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data").create()
    with closing(open_database(folder, SystemClock())) as database:
        create_conversation(Store(database, SystemClock(), new_id), workspace="/")
    return folder


async def watched(folder: DataFolder, clock: Alarm) -> list[Path]:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_backups, folder, clock)
            await clock.asleep.wait()
            tasks.cancel_scope.cancel()
    return list(folder.backups.iterdir()) if folder.backups.is_dir() else []


async def test_a_copy_is_made_at_the_start_and_no_second_one_an_hour_later(folder: DataFolder) -> None:
    (copy,) = await watched(folder, Alarm(wakes=3))
    assert copy.name.endswith("-daily.sqlite3")


async def test_a_copy_that_cannot_be_made_stops_nobody(folder: DataFolder) -> None:
    folder.backups.rmdir()
    folder.backups.write_bytes(b"a file in its place")
    assert await watched(folder, Alarm(wakes=1)) == []


async def test_nor_does_a_damaged_database(folder: DataFolder) -> None:
    folder.database.write_bytes(b"rubbish" * 1000)
    assert await watched(folder, Alarm(wakes=1)) == []
