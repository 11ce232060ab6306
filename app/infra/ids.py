"""Ids: sortable by time, unguessable in their tail, safe in a URL and a file name."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

NewId = Callable[[str], str]
"""Makes a fresh id from a prefix; passed in where a test needs to foresee ids."""


def new_id(prefix: str) -> str:
    """``conv_`` + 10 characters of milliseconds + 10 random ones, Crockford base 32, lower case."""
    millis = time.time_ns() // 1_000_000
    return f"{prefix}_{_base32(millis, 10)}{_base32(secrets.randbits(50), 10)}"


def _base32(number: int, width: int) -> str:
    return "".join(_ALPHABET[(number >> (5 * place)) & 31] for place in reversed(range(width)))
