"""A store on a fresh database, with a clock set by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.models.database import open_database
from app.workspace.conversations import create_conversation
from app.workspace.store import Store
from tests.models.stands import HandClock, counted_ids, fresh_folder


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store(tmp_path: Path, clock: HandClock) -> Iterator[Store]:
    database = open_database(fresh_folder(tmp_path), clock)
    yield Store(database, clock, counted_ids())
    database.close()


@pytest.fixture
def chat(store: Store) -> str:
    """The id of an empty conversation."""
    return create_conversation(store, workspace="/home/ada").id
