"""The names in a server's list of models, however it lays the list out."""

from __future__ import annotations

from typing import Any

MOST = 1_000


def read_model_names(answer: Any) -> tuple[str, ...]:
    """Sorted, each once, at most 1,000; empty where the answer lists nothing."""
    listed = answer
    if isinstance(answer, dict):
        listed = next((answer[key] for key in ("data", "models") if isinstance(answer.get(key), list)), [])
    names = {_name(one) for one in listed} if isinstance(listed, list) else set()
    return tuple(sorted(names - {""})[:MOST])


def _name(entry: Any) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in ("id", "name", "model") if isinstance(entry.get(key), str)), "")
    return entry if isinstance(entry, str) else ""
