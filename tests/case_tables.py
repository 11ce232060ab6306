"""Loads the case tables of ``tests/cases``: what goes in and what must come out, as data.

TSV: one row a line, the first names the columns; cells are split by one tab, nothing is quoted, and line ends,
tabs, backslashes and invisible code points are written as escapes. JSONL: one object a line; the object whose
only key is ``_doc`` describes the fields.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"


def load_tsv(name: str) -> list[dict[str, str]]:
    """All rows of ``tests/cases/NAME``, cells decoded. Raises ``ValueError`` for a row of the wrong width."""
    head, *rows = _lines(name)
    columns = head.split("\t")
    return [dict(zip(columns, map(_decode, row.split("\t")), strict=True)) for row in rows]


def load_jsonl(name: str) -> list[dict[str, Any]]:
    """All objects of ``tests/cases/NAME`` but the one that describes the table."""
    return [row for row in map(json.loads, _lines(name)) if row.keys() != {"_doc"}]


def _lines(name: str) -> list[str]:
    # Only a line feed ends a line: str.splitlines would also break at U+2028 and its like.
    return [line for line in (CASES / name).read_bytes().decode().split("\n") if line]


def _decode(cell: str) -> str:
    return cell.encode("latin-1", "backslashreplace").decode("unicode_escape")
