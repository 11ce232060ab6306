"""What goes beside the history in a request to the Responses API; left out for good where a server refuses it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from app.engine.provider import ModelRequest
from app.providers.bodies import Body
from app.providers.chat_options import cache_key
from app.providers.classify import Symptom

SEALED = ["reasoning.encrypted_content"]
"""Thinking comes along sealed, to be sent back: the server keeps nothing."""

CACHE_LIMIT = 64
"""Characters of a cache key."""

_REFUSALS = frozenset({400, 404, 422})
_REFUSED = {
    "summary": re.compile(r"reasoning\.summary|reasoning summar", re.IGNORECASE),
    "reasoning": re.compile(r"reasoning\.effort|parameter: .?reasoning\b(?!\.)", re.IGNORECASE),
    "include": re.compile(
        r"encrypted content is not supported|reasoning\.encrypted_content|\binclude\b", re.IGNORECASE
    ),
    "prompt_cache_key": re.compile("prompt_cache_key"),
    "store": re.compile(r"parameter: .?store\b"),
    "tool_choice": re.compile("tool_choice"),
}


class ResponsesOptions:
    """See ``Options``."""

    def __init__(self) -> None:
        self._dropped: defaultdict[str, set[str]] = defaultdict(set)

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        options: dict[str, Any] = {"store": False, "include": SEALED}
        if request.session_id:
            options["prompt_cache_key"] = cache_key(request.session_id, CACHE_LIMIT)
        dropped = self._dropped[request.model]
        if request.reasoning != "off":
            summary = {} if "summary" in dropped else {"summary": "auto"}
            options["reasoning"] = {"effort": request.reasoning, **summary}
        return {name: value for name, value in {**body, **options}.items() if name not in dropped}

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        if symptom.status not in _REFUSALS:
            return False
        asked = sent.keys() | sent.get("reasoning", {}).keys()
        refused = {name for name in asked & _REFUSED.keys() if _REFUSED[name].search(symptom.message)}
        self._dropped[sent["model"]] |= refused
        return bool(refused)
