"""What goes beside the history in a request to Anthropic: marks for the cache, room for the answer, thinking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from app.engine.provider import Effort, ModelRequest
from app.providers.bodies import Body
from app.providers.classify import Symptom

_LEAST_ROOM = 1_024
_TOO_MUCH = re.compile(r"max_tokens\D{0,20}\d+ > (\d+)")
_NO_ROOM = re.compile(r"context limit: (\d+) \+ \d+ > (\d+)")
_MARK = {"cache_control": {"type": "ephemeral"}}

_FORMS: tuple[Literal["adaptive", "enabled", "none"], ...] = ("adaptive", "enabled", "none")
"""How thinking is asked for: as newer models want it, as older ones do, not at all."""
_BUDGETS: Mapping[Effort, int] = {"low": 4_096, "medium": 10_000, "high": 24_000}
"""Tokens of thinking, for models that want a number."""
_LEAST_BUDGET = 1_024
_ABOUT_THINKING = re.compile(
    r"\badaptive\b|budget_tokens|output_config|\beffort\b|thinking\.(type|display|enabled)|support thinking|^thinking:"
)


class AnthropicOptions:
    """See ``Options``. The system prompt and the end of the history are marked, so that the next call finds them."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}
        self._room: dict[str, int] = {}
        self._marks = True
        self._form: dict[str, int] = {}

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        model = request.model
        room = self._room.pop(model, body["max_tokens"])
        body["max_tokens"] = min(body["max_tokens"], self._most.get(model, room), room)
        if self._marks:
            *before, last = body["messages"]
            body["messages"] = [*before, {**last, "content": _marked(last["content"])}]
            if "system" in body:
                body["system"] = _marked(body["system"])
        return {**body, **self._thinking(body, request)}

    def _thinking(self, body: Body, request: ModelRequest) -> dict[str, Any]:
        """The fields that ask for it."""
        if request.reasoning == "off":
            return {}
        match _FORMS[self._form.get(request.model, 0)]:
            case "adaptive":
                shown = {"type": "adaptive", "display": "summarized"}
                return {"thinking": shown, "output_config": {"effort": request.reasoning}}
            case "enabled" if _may_think(body["messages"]):
                budget = min(_BUDGETS[request.reasoning], body["max_tokens"] - _LEAST_ROOM)
                asked = {"thinking": {"type": "enabled", "budget_tokens": budget}}
                return asked if budget >= _LEAST_BUDGET else {}
            case _:
                return {}

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        """Learn from the refusal how long an answer of this model may be, for ever or for this once.

        A limit that the refused request kept to is no news.
        """
        if symptom.status not in (400, 422):
            return False
        model, asked = sent["model"], sent["max_tokens"]
        if "thinking" in sent and _ABOUT_THINKING.search(symptom.message):
            self._form[model] = self._form.get(model, 0) + 1
            return True
        if (
            _MARK.items() <= sent["messages"][-1]["content"][-1].items()
            and "cache_control" in symptom.message
        ):
            self._marks = False
            return True
        if (most := _TOO_MUCH.search(symptom.message)) and 0 < int(most[1]) < asked:
            self._most[model] = int(most[1])
            return True
        if found := _NO_ROOM.search(symptom.message):
            room = int(found[2]) - int(found[1])
            if _LEAST_ROOM <= room < asked:
                self._room[model] = room
                return True
        return False


def _may_think(messages: Sequence[Body]) -> bool:
    """A step that was begun without thinking, such as another model's, is gone on with without it."""
    *before, last = messages
    in_a_step = last["content"][0]["type"] == "tool_result"
    return not in_a_step or before[-1]["content"][0]["type"] in ("thinking", "redacted_thinking")


def _marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*blocks[:-1], {**blocks[-1], **_MARK}]
