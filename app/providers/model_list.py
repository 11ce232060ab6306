"""What a server's list of models says, however it lays the list out: names, and how much each model holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST = 1_000

_WINDOW = (
    "n_ctx",
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
)
"""What servers call the window: what is really loaded goes before what the model could hold."""

_LEAST_WINDOW = 256


def read_model_names(answer: Any) -> tuple[str, ...]:
    """Sorted, each once, at most 1,000; empty where the answer lists nothing."""
    names = {_name(one) for one in _listed(answer)}
    return tuple(sorted(names - {""})[:MOST])


def read_windows(answer: Any) -> dict[str, int]:
    """Tokens by model, without those that the list says nothing of."""
    windows = ((_name(one), _window(one)) for one in _listed(answer)[:MOST])
    return {name: window for name, window in windows if name and window is not None}


def _listed(answer: Any) -> list[Any]:
    if isinstance(answer, dict):
        answer = next((answer[key] for key in ("data", "models") if isinstance(answer.get(key), list)), [])
    return answer if isinstance(answer, list) else []


def _name(entry: Any) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in ("id", "name", "model") if isinstance(entry.get(key), str)), "")
    return entry if isinstance(entry, str) else ""


def _window(entry: Any) -> int | None:
    """llama.cpp keeps it one level down, under ``meta``."""
    if not isinstance(entry, dict):
        return None
    meta = entry.get("meta")
    for place in (entry, meta if isinstance(meta, Mapping) else {}):
        for key in _WINDOW:
            value = place.get(key)
            if isinstance(value, int) and value >= _LEAST_WINDOW:
                return value
    return None
