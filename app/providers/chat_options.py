"""The optional parts of a request: asked for first, left out for good where a server refuses them."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from typing import Any

from app.engine.provider import ModelRequest
from app.providers.bodies import Body
from app.providers.classify import Symptom
from app.providers.dialects import Dialect
from app.providers.errors import SpokenElsewhere

_REFUSALS = frozenset({400, 404, 415, 422})
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_OWED = re.compile(r"reasoning_content\b.{0,60}(must be passed back|is missing|is required)")
NO_THINKING = " "
"""What stands for the thinking of another model, where each answer has to have some; nothing at all is refused."""


class ChatOptions:
    """See ``Options``: those of chat completions. Tools are never dropped."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._dropped: defaultdict[str, set[str]] = defaultdict(set)
        self._limit_field: dict[str, str] = {}
        self._owed: dict[str, str | None] = {}

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        """The body with its options; names follow the dialect and what was learnt."""
        dropped = self._dropped[request.model]
        if "stream_options" not in dropped:
            body["stream_options"] = {"include_usage": True}
        if "tool_choice" in dropped:
            body.pop("tool_choice", None)
        if request.reasoning != "off" and "reasoning_effort" not in dropped:
            body["reasoning_effort"] = request.reasoning
        if owed := self._owed.get(request.model, self._dialect.owed):
            body["messages"] = [_with_thinking(message, owed) for message in body["messages"]]
        field = self._dialect.cache_field
        if field and request.session_id and field not in dropped:
            body[field] = cache_key(request.session_id, self._dialect.cache_limit)
        if "max_tokens" in body:
            name = self._limit_field.get(request.model, self._dialect.limit_field)
            body[name] = body.pop("max_tokens")
        return body

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        """Whether ``sent`` was refused for an option that is done without from now on: then ask again.

        Raises ``SpokenElsewhere`` where the server names the Responses API.
        """
        if symptom.status not in _REFUSALS:
            return False
        model, words = sent["model"], symptom.message
        if "v1/responses" in words:
            raise SpokenElsewhere
        if self._learns_what_is_owed(model, words):
            return True
        for named, other in _OTHER_NAME.items():
            if named in sent and named in words and other in words:
                return self._limit_field.setdefault(model, other) == other
        if "include_usage" in words:
            words += " stream_options"
        options = ("stream_options", "tool_choice", "reasoning_effort", self._dialect.cache_field)
        refused = {option for option in options if option and option in sent and option in words}
        self._dropped[model] |= refused
        return bool(refused)

    def _learns_what_is_owed(self, model: str, words: str) -> bool:
        """Some servers want thinking in each answer, and say so; others know no such field."""
        known = self._owed.get(model, self._dialect.owed)
        missed = _OWED.search(words)
        if missed and not known:
            self._owed[model] = "reasoning_content"
            return True
        if known and known in words and not missed:
            self._owed[model] = None
            return True
        return False


def _with_thinking(message: dict[str, Any], field: str) -> dict[str, Any]:
    lacks = message["role"] == "assistant" and not message.get(field)
    return {**message, field: NO_THINKING} if lacks else message


def cache_key(session_id: str, limit: int) -> str:
    """The id itself where it fits, else its hash: the same session must hit the same cache."""
    if len(session_id) <= limit:
        return session_id
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()[:limit]
