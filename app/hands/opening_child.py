"""What programs have in common that open what others made: limits before anything is read, one answer at the end.

The answer is one JSON line, and bytes behind it. Knows nothing but the standard library.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

MEMORY = 1024 * 1024 * 1024
"""Bytes of addresses that the program may have, where the system can limit them."""

_LONGEST = 300

Answer = tuple[dict[str, Any], bytes]


def answer(look: Callable[[bytes], Answer], processor_seconds: int) -> None:
    """Look at what comes on standard input and say it; what takes more than it may is ended by the system."""
    limit(resource.RLIMIT_AS, MEMORY)
    limit(resource.RLIMIT_CPU, processor_seconds)
    rest = b""
    try:
        told, rest = look(sys.stdin.buffer.read())
    except MemoryError:
        told = {"failed": "it takes too much memory"}
    except Exception as error:  # noqa: BLE001 - a decoder meets any bytes, and raises what it likes
        told = {"failed": in_words(error)}
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + rest)


def in_words(error: Exception) -> str:
    """What a library says, which may quote what it read."""
    return (str(error) or type(error).__name__)[:_LONGEST]


def limit(what: int, most: int) -> None:
    """Of this very process; ``what`` is one of ``resource``'s."""
    try:
        resource.setrlimit(what, (most, most))
    except (OSError, ValueError):
        pass  # this system has no such limit
