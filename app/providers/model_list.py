"""What a server's list of models says, however it lays the list out: names, and how much each model holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from app.providers.sentences import SETTINGS

MOST = 1_000

_SHOWN = 5
_SHOWN_LETTERS = 80
_SAME = ("{}", "{}:latest", "models/{}")
"""How a list may have a model of a name: Ollama and Google call it more than it answers to."""

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


def unlisted(models: Iterable[str], listed: Sequence[str]) -> Iterator[str]:
    """A sentence on each of ``models`` that a server's list has not, with near names; none where it lists nothing."""
    for model in models if listed else ():
        if any(form.format(model) in listed for form in _SAME):
            continue
        near = get_close_matches(model, listed, n=3, cutoff=0.5)
        others = [name[:_SHOWN_LETTERS] for name in near or listed[:_SHOWN]]
        more = "" if near or len(listed) <= _SHOWN else f" and {len(listed) - _SHOWN} more"
        said = f" Did you mean {' or '.join(others)}?" if near else f" It lists {', '.join(others)}{more}."
        yield (
            f'The server does not list "{model}".{said} Where its calls fail, correct the name under {SETTINGS}: some '
            "servers take names that they do not list."
        )


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
