"""Opening what others made, pictures and documents: one at a time, each in a program of its own that can be ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
from anyio.lowlevel import RunVar

from app.hands.children import answer_of, of_ours
from app.hands.errors import Refused

EXTRA = 'pip install "plancia[documents]"'
"""What adds the libraries that open them."""


def folder_of(package: str) -> Path | None:
    """The folder that a package is imported from; None where it is not installed. Nothing is imported."""
    found = find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parents[1]


async def opened(
    module: str, folders: Sequence[Path], data: bytes, *, label: str, seconds: float, most: int
) -> tuple[Any, bytes]:
    """What ``main`` of a module of ours says of ``data``, and the bytes behind it; see ``opening_child.py``.

    None and no bytes where it broke off or said more than ``most`` bytes. Raises ``Refused`` where it takes too
    long or cannot be started.
    """
    command = of_ours(module, *folders)
    async with _one_at_a_time():
        try:
            with anyio.fail_after(seconds):
                return await _answer(command, data, most)
        except TimeoutError:
            raise Refused("E_TIMEOUT", f"{label} took too long to be opened. Try a smaller one.") from None
        except OSError as error:
            raise Refused("E_FAILED", f"{label} could not be opened: {error}.", transient=True) from error


async def _answer(command: Sequence[str], data: bytes, most: int) -> tuple[Any, bytes]:
    told, _, rest = (await answer_of(command, data, most) or b"").partition(b"\n")
    try:
        return json.loads(told), rest
    except ValueError:
        return None, b""


_turn: RunVar[anyio.Lock] = RunVar("turn")


def _one_at_a_time() -> anyio.Lock:
    """The lock of this event loop: one of them may take much memory, and many may be asked for side by side."""
    lock = _turn.get(None)
    if lock is None:
        lock = anyio.Lock()
        _turn.set(lock)
    return lock
