"""Ids: sortable by time, unguessable in their tail, safe in a URL and a file name."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]

_ID = re.compile(f"[a-z]+_([{_ALPHABET}]{{10}})[{_ALPHABET}]{{10}}")

NewId = Callable[[str], str]
"""Makes a fresh id from a prefix; passed in where a test needs to foresee ids."""


def new_id(prefix: str) -> str:
    """``conv_`` + 10 characters of milliseconds + 10 random ones, Crockford base 32, lower case."""
    millis = time.time_ns() // 1_000_000
    return f"{prefix}_{_base32(millis)}{_base32(secrets.randbits(50))}"


def made_at(id: str) -> datetime | None:
    """When an id was made, in UTC; None for one that does not tell."""
    match = _ID.fullmatch(id)
    if match is None:
        return None
    millis = 0
    for digit in match[1]:
        millis = millis << 5 | _ALPHABET.index(digit)
    try:
        return datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError):
        return None


def _base32(number: int) -> str:
    """The last fifty bits as ten characters."""
    return "".join([_PAIRS[number >> place & 1023] for place in (40, 30, 20, 10, 0)])
