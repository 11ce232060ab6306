"""How servers of one shape differ, as data. A new peculiarity is a new field or a new row, not a branch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an OpenAI-shaped server wants to be told, and where it says things."""

    versioned: bool = True
    """Its paths stand under ``/v1``; an address without a version gets it."""
    models_path: str = "models"
    auth_path: str = "models"
    """A cheap question that only a right key can ask."""
    limit_field: str = "max_tokens"
    cache_field: str | None = None
    """Where the session id goes as a cache key."""
    cache_limit: int = 64
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning", "reasoning_details")
    """Fields in which thinking comes, and goes back to the model that thought it; the first one present counts."""
    owed: str | None = None
    """The field of thinking that every answer of a history has to have, those of other models included."""
    responses: str | None = None
    """A pattern: which of its models are asked through the Responses API, which alone has their thinking."""
    unsigned: Mapping[str, Any] | None = None
    """What stands for the signature of a call that another model made, where each step has to have one."""


DEFAULT = Dialect()

_BY_HOST: dict[str, Dialect] = {
    "api.deepseek.com": Dialect(owed="reasoning_content"),
    "api.moonshot.ai": Dialect(owed="reasoning_content"),
    "api.openai.com": Dialect(
        limit_field="max_completion_tokens",
        cache_field="prompt_cache_key",
        responses=r"gpt-([5-9]|\d\d)|o\d|codex-",
    ),
    "openrouter.ai": Dialect(
        auth_path="key", reasoning=("reasoning", "reasoning_content", "reasoning_details")
    ),
    "api.perplexity.ai": Dialect(versioned=False),
    "generativelanguage.googleapis.com": Dialect(
        unsigned={"extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}}
    ),
    "models.github.ai": Dialect(versioned=False),
}


def dialect_of(base_url: str) -> Dialect:
    """By the host of the address, its subdomains included."""
    host = urlsplit(base_url).hostname or ""
    return next((one for name, one in _BY_HOST.items() if host == name or host.endswith(f".{name}")), DEFAULT)


def root_of(base_url: str, dialect: Dialect) -> str:
    """The address under which the paths stand: with its version, without a path that was pasted along."""
    root = re.sub(r"/(chat/completions|completions|models)$", "", base_url.strip().rstrip("/"))
    path = urlsplit(root).path
    return root if not dialect.versioned or re.search(r"/v\d", path) else f"{root}/v1"
