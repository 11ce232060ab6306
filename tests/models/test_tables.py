"""The tables that the code knows are the tables that the migrations make."""

from __future__ import annotations

import pytest
from peewee import FloatField, IntegerField

from app.models.connection import Sqlite
from app.models.database import open_database
from app.models.tables import TABLES, Table
from tests.models.stands import HandClock, fresh_folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sqlite:
    folder = fresh_folder(tmp_path_factory.mktemp("tables"))
    open_database(folder, HandClock()).close()
    return Sqlite(folder.database)


def sqlite_type(field: object) -> str:
    if isinstance(field, FloatField):
        return "REAL"
    is_number = isinstance(field, IntegerField) or type(field).__name__ == "BooleanField"
    return "INTEGER" if is_number else "TEXT"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table._meta.table_name)
def test_columns_are_as_migrated(made: Sqlite, table: type[Table]) -> None:
    meta = table._meta
    keys = {field.name for field in meta.get_primary_keys()}
    known = [
        (field.column_name, sqlite_type(field), not field.null, field.name in keys)
        for field in meta.sorted_fields
    ]
    found = [
        (name, kind, bool(required), bool(key))
        for _, name, kind, required, _, key in made.sql(f"PRAGMA table_info({meta.table_name})")
    ]
    assert sorted(known) == sorted(found)


def test_there_is_no_other_table(made: Sqlite) -> None:
    found = {name for (name,) in made.sql("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert found == {table._meta.table_name for table in TABLES}


@pytest.mark.parametrize(
    ("question", "index"),
    [
        (
            "SELECT * FROM messages WHERE conversation = 'c' ORDER BY position DESC LIMIT 100",
            "messages_in_order",
        ),
        (
            "SELECT * FROM messages WHERE conversation = 'c' AND revision > 7 ORDER BY position",
            "messages_by_revision",
        ),
        ("SELECT * FROM messages WHERE conversation = 'c' AND client_id = 'x'", "messages_sent_once"),
        ("SELECT * FROM messages WHERE turn = 't' AND state = 'streaming'", "messages_turn"),
        ("SELECT * FROM messages WHERE turn = 't' ORDER BY position", "messages_turn"),
        ("SELECT * FROM turns WHERE state = 'running' AND session = 's'", "one_live_turn_of_a_session"),
        (
            "SELECT * FROM conversations WHERE deleted_at IS NULL AND updated > '2026' ORDER BY updated",
            "conversations_by_time",
        ),
    ],
)
def test_the_questions_of_every_page_use_an_index(made: Sqlite, question: str, index: str) -> None:
    plan = " ".join(str(row[-1]) for row in made.sql(f"EXPLAIN QUERY PLAN {question}"))
    assert index in plan
