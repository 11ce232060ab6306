"""What was deleted long ago leaves the disk with all its files, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.hands.jobs import Jobs
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.undo.history import History
from app.hands.undo.values import Origin
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.workspace import conversations
from app.workspace.purging import KEPT, purge_expired
from app.workspace.sessions import session_of
from app.workspace.store import Store
from tests.models.stands import HandClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def jobs(folder: DataFolder, clock: HandClock) -> Jobs:
    return Jobs(folder.jobs, clock, new_id, str)


@pytest.fixture
def folder(store: Store) -> DataFolder:
    return DataFolder(store.database.file.parent).create()


def filled(store: Store, folder: DataFolder) -> str:
    """A conversation with every kind of file that one can have."""
    chat = conversations.create_conversation(store, workspace="/").id
    session = folder.root / session_of(store, chat, "commander").path
    for suffix in (".jsonl", ".started", ".jsonl.torn-12-00c0ffee"):
        session.with_suffix(suffix).write_text("words")
    for kept in (folder.results, folder.attachments, folder.attachments / "waiting"):
        (kept / chat).mkdir(parents=True)
        (kept / chat / "one.txt").write_text("words")
    work = folder.root.parent / f"work_{chat}"
    work.mkdir()
    gate = PathGate(work, closed=ClosedPlaces(folder.root / "home", own=(folder.root,)))
    History(folder.snapshots, gate).take(Origin(chat, "turn_1"))
    job: dict[str, Any] = {
        "id": new_id("job"),
        "conversation": chat,
        "command": "make",
        "folder": "/",
        "started": "",
        "is_kept": True,
    }
    (folder.jobs / job["id"]).mkdir()
    (folder.jobs / job["id"] / "job.json").write_text(json.dumps(job))
    return chat


def files(folder: DataFolder) -> set[Path]:
    roots = (folder.sessions, folder.results, folder.attachments, folder.jobs, folder.snapshots)
    return {file for root in roots for file in root.rglob("*")}


async def test_only_what_was_deleted_long_ago_goes_and_it_goes_with_its_files(
    store: Store, folder: DataFolder, clock: HandClock, jobs: Jobs
) -> None:
    kept = filled(store, folder)
    of_kept = files(folder)
    old = filled(store, folder)
    conversations.delete(store, old)
    await purge_expired(store, folder, jobs)
    assert files(folder) > of_kept
    clock.move(days=KEPT.days, seconds=1)
    await purge_expired(store, folder, jobs)
    assert files(folder) == of_kept
    assert conversations.find_conversation(store, old) is None
    assert conversations.find_conversation(store, kept) is not None


async def test_where_files_cannot_be_removed_the_rest_still_goes_and_they_are_tried_again(
    store: Store, folder: DataFolder, clock: HandClock, jobs: Jobs
) -> None:
    stuck, easy = filled(store, folder), filled(store, folder)
    for chat in (stuck, easy):
        conversations.delete(store, chat)
    obstacle = folder.sessions / f"{session_of(store, stuck, 'commander').id}.jsonl.d"
    obstacle.mkdir()
    clock.move(days=KEPT.days, seconds=1)
    await purge_expired(store, folder, jobs)
    assert conversations.find_conversation(store, easy) is None
    assert conversations.find_conversation(store, stuck) is not None
    obstacle.rmdir()
    await purge_expired(store, folder, jobs)
    assert conversations.find_conversation(store, stuck) is None
    assert files(folder) == set()


async def test_a_database_that_takes_nothing_stops_no_start(
    store: Store, folder: DataFolder, clock: HandClock, jobs: Jobs
) -> None:
    conversations.delete(store, filled(store, folder))
    clock.move(days=KEPT.days, seconds=1)
    store.database._sqlite.sql("PRAGMA query_only = 1")
    await purge_expired(store, folder, jobs)
    store.database._sqlite.sql("PRAGMA query_only = 0")
    await purge_expired(store, folder, jobs)
    assert conversations.list_expired(store, KEPT) == ()
