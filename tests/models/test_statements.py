"""Statements built once: they do what the query would have done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.models.database import Database, open_database
from app.models.statements import HOLE
from app.models.tables import Setting
from tests.models.stands import HandClock, fresh_folder

BY_KEY = Setting.select().where(Setting.key == HOLE)
IN_ORDER = Setting.select().where(Setting.key > HOLE, Setting.key < HOLE).order_by(Setting.key)


@dataclass(frozen=True, slots=True)
class Pair:
    key: str
    value: object


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(fresh_folder(tmp_path), HandClock())
    for key in "abcd":
        database.insert(Setting, Pair(key, {"is": [key, True, None]}))
    yield database
    database.close()


def test_a_hole_is_filled_anew_each_time(database: Database) -> None:
    assert database.find(Pair, BY_KEY, "b") == Pair("b", {"is": ["b", True, None]})
    assert database.find(Pair, BY_KEY, "c") == Pair("c", {"is": ["c", True, None]})
    assert database.find(Pair, BY_KEY, "z") is None


def test_holes_are_filled_in_their_order(database: Database) -> None:
    assert [pair.key for pair in database.rows(Pair, IN_ORDER, "a", "d")] == ["b", "c"]
    assert database.rows(Pair, IN_ORDER, "d", "a") == []


def test_what_fills_a_hole_is_never_read_as_sql(database: Database) -> None:
    assert database.find(Pair, BY_KEY, "a' OR '1'='1") is None


def test_a_hole_beside_a_value_is_a_mistake_of_ours(database: Database) -> None:
    mixed = Setting.select().where(Setting.key == HOLE, Setting.key == "a")
    with pytest.raises(ValueError, match="all holes"):
        database.find(Pair, mixed, "a")


def test_one_row_is_changed_in_what_is_given(database: Database) -> None:
    database.update(Setting, "b", {"value": "new\0"})
    database.update(Setting, "none", {"value": "nowhere"})
    assert database.find(Pair, BY_KEY, "b") == Pair("b", "new")
    assert database.find(Pair, BY_KEY, "a") == Pair("a", {"is": ["a", True, None]})


def test_a_query_is_for_whole_rows_or_for_plain_values(database: Database) -> None:
    keys = Setting.select(Setting.key).where(Setting.key.in_(["a", "d"])).order_by(Setting.key)
    assert database.values(keys) == [("a",), ("d",)]
    assert database.values(BY_KEY, "a") == [("a", '{"is":["a",true,null]}')]
