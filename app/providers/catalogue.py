"""What is known about models: window, output limit, prices, abilities.

Source: the model map that litellm carries, read as a data file without importing litellm, only when first
asked; where litellm is not installed, a few families by name. What nobody knows says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DEFAULT_WINDOW = 32_768
"""Tokens assumed for a model that nothing is known about."""

_MAP = "model_prices_and_context_window_backup.json"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Sizes in tokens, prices in US dollars per million tokens; None = unknown."""

    context_window: int = DEFAULT_WINDOW
    max_output: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    images: bool | None = None
    reasoning: bool | None = None
    tools: bool | None = None
    known: bool = False
    """False: the window is our assumption, and the user is told."""


_FAMILIES: tuple[tuple[str, ModelFacts], ...] = (
    ("gpt-6", ModelFacts(922_000, 128_000, images=True, reasoning=True, known=True)),
    ("gpt-5", ModelFacts(272_000, 128_000, images=True, reasoning=True, known=True)),
    ("gpt-4.1", ModelFacts(1_047_576, 32_768, images=True, known=True)),
    ("gpt-4o", ModelFacts(128_000, 16_384, images=True, known=True)),
    ("gpt-oss", ModelFacts(131_072, 32_768, reasoning=True, known=True)),
    ("o3", ModelFacts(200_000, 100_000, images=True, reasoning=True, known=True)),
    ("o4", ModelFacts(200_000, 100_000, images=True, reasoning=True, known=True)),
    ("claude-", ModelFacts(200_000, 64_000, images=True, reasoning=True, known=True)),
    ("gemini-", ModelFacts(1_048_576, 65_536, images=True, reasoning=True, known=True)),
    ("deepseek-", ModelFacts(131_072, 8_192, known=True)),
    ("mistral-", ModelFacts(131_072, known=True)),
    ("grok-", ModelFacts(256_000, reasoning=True, known=True)),
    ("llama-3.1", ModelFacts(131_072, known=True)),
    ("llama-3.3", ModelFacts(131_072, known=True)),
)
"""The least of each family, for installations without the map. The first prefix that fits counts."""


class Catalogue:
    """Facts by vendor and model. ``path`` None = no map on this machine."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[tuple[str, str], ModelFacts] = {}

    @classmethod
    def installed(cls) -> Catalogue:
        """The map of the installed litellm, found without running any of its code."""
        spec = find_spec("litellm")
        return cls(Path(spec.origin).with_name(_MAP) if spec and spec.origin else None)

    def facts(self, vendor: str, model: str) -> ModelFacts:
        """``vendor`` is litellm's name of the host (``openai``, ``gemini``, …) or empty for any other server.

        A model that is listed for another host lends its sizes and abilities, never its prices.
        """
        key = (vendor, model)
        if key not in self._found:
            self._found[key] = self._look_up(vendor, model)
        return self._found[key]

    @cached_property
    def vendors(self) -> frozenset[str]:
        """Every host that litellm can reach, by its own names; empty without the map."""
        return frozenset(re.findall(r'"litellm_provider"\s*:\s*"(\w[\w-]*)"', self._text()))

    def _look_up(self, vendor: str, model: str) -> ModelFacts:
        text = self._text()
        for name in _names(vendor, model):
            row = _row(text, name)
            if row is not None and (facts := _facts(row)) != ModelFacts():
                same_host = str(row.get("litellm_provider", "")).removesuffix("_chat") == vendor
                return facts if same_host else replace(facts, price_in=None, price_out=None)
        return _family(model)

    def _text(self) -> str:
        """Three megabytes, read in milliseconds, searched and let go: cheaper than keeping objects."""
        try:
            return self._path.read_text("utf-8") if self._path else ""
        except (OSError, UnicodeDecodeError):
            return ""


def _names(vendor: str, model: str) -> Iterator[str]:
    """Under which names the map may hold the model, the surest first."""
    tail = model.rpartition("/")[2]
    if vendor:
        yield f"{vendor}/{model}"
    yield model
    yield tail
    yield re.sub(r"(:latest|:free|-latest)$", "", tail)
    yield re.sub(r"[-@]20\d\d-?\d\d-?\d\d$", "", tail)


def _row(text: str, name: str) -> Mapping[str, Any] | None:
    place = re.search(rf'"{re.escape(json.dumps(name)[1:-1])}"\s*:\s*(?=\{{)', text)
    if place is None:
        return None
    try:
        row, _ = json.JSONDecoder().raw_decode(text, place.end())
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _facts(row: Mapping[str, Any]) -> ModelFacts:
    price_in, price_out = _dearest(row, "input"), _dearest(row, "output")
    window = _count(row.get("max_input_tokens")) or _count(row.get("max_tokens"))
    if window is None:
        return ModelFacts(price_in=price_in, price_out=price_out) if _draws(row) else ModelFacts()
    return ModelFacts(
        context_window=window,
        max_output=_count(row.get("max_output_tokens")),
        price_in=price_in,
        price_out=price_out,
        images=row.get("supports_vision") is True,
        reasoning=row.get("supports_reasoning") is True,
        tools=row.get("supports_function_calling") is True,
        known=True,
    )


def _family(model: str) -> ModelFacts:
    tail = model.rpartition("/")[2].lower()
    return next((facts for prefix, facts in _FAMILIES if tail.startswith(prefix)), ModelFacts())


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and value > 0 else None


def _dearest(row: Mapping[str, Any], side: str) -> float | None:
    """The price of a token; of a model that draws, that of a picture's, for nobody says which of them it was."""
    names = (f"{side}_cost_per_token", *((f"{side}_cost_per_image_token",) if _draws(row) else ()))
    prices = [price for name in names if (price := _price(row.get(name))) is not None]
    return max(prices, default=None)


def _draws(row: Mapping[str, Any]) -> bool:
    return row.get("mode") in ("image_generation", "image_edit")


def _price(value: Any) -> float | None:
    return round(value * _MILLION, 6) if isinstance(value, (int, float)) else None
