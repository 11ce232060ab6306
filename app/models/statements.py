"""The statements that are run all day, built once per table: a row in, a row changed, a row read.

Everything else is a Peewee query. Building one takes ten times as long as running it, so those of every message
are given as constants with holes (``HOLE``), compiled at their first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from peewee import SQL, BooleanField

from app.models.fields import CleanText, JsonText
from app.models.tables import Table

HOLE = SQL("?")
"""Stands in a constant query for a value that is given each time the query is run."""

ONE = SQL("1")
"""The limit of a constant query for one row."""


@cache
def insert_into(table: type[Table], names: tuple[str, ...]) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    return f'INSERT INTO "{table._meta.table_name}" ({columns}) VALUES ({", ".join("?" for _ in names)})'


@cache
def update_of(table: type[Table], names: tuple[str, ...]) -> str:
    """Sets ``names`` in the row whose primary key comes last."""
    key: Any = table._meta.primary_key
    changed = ", ".join(f'"{name}" = ?' for name in names)
    return f'UPDATE "{table._meta.table_name}" SET {changed} WHERE "{key.column_name}" = ?'


def to_store(table: type[Table], values: Mapping[str, Any]) -> list[Any]:
    """Values as SQLite takes them, in the order given."""
    convert = _outward(table)
    return [convert[name](value) if name in convert else value for name, value in values.items()]


def from_store(table: type[Table]) -> Callable[[Iterable[Any]], list[Any]]:
    """Turns a row with all columns of the table into Python's values."""
    special = _inward(table)

    def read(row: Iterable[Any]) -> list[Any]:
        values = list(row)
        for place, convert in special:
            values[place] = convert(values[place])
        return values

    return read


@cache
def _outward(table: type[Table]) -> dict[str, Callable[[Any], Any]]:
    fields = table._meta.sorted_fields
    return {field.name: field.db_value for field in fields if isinstance(field, CleanText | JsonText)}


@cache
def _inward(table: type[Table]) -> tuple[tuple[int, Callable[[Any], Any]], ...]:
    return tuple(
        (place, field.python_value)
        for place, field in enumerate(table._meta.sorted_fields)
        if isinstance(field, BooleanField | JsonText)
    )
