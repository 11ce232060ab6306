"""What goes beside the history in a request to Anthropic's Messages: marks for the cache, and room for the answer."""

from __future__ import annotations

import re
from typing import Any

from app.engine.provider import ModelRequest
from app.providers.bodies import Body
from app.providers.classify import Symptom

_LEAST_ROOM = 1_024
_TOO_MUCH = re.compile(r"max_tokens\D{0,20}\d+ > (\d+)")
_NO_ROOM = re.compile(r"context limit: (\d+) \+ \d+ > (\d+)")
_MARK = {"cache_control": {"type": "ephemeral"}}


class AnthropicOptions:
    """See ``Options``. The system prompt and the end of the history are marked, so that the next call finds them."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}
        self._room: dict[str, int] = {}
        self._marks = True

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        model = request.model
        room = self._room.pop(model, body["max_tokens"])
        body["max_tokens"] = min(body["max_tokens"], self._most.get(model, room), room)
        if self._marks:
            *before, last = body["messages"]
            body["messages"] = [*before, {**last, "content": _marked(last["content"])}]
            if "system" in body:
                body["system"] = _marked(body["system"])
        return body

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        """Learn from the refusal how long an answer of this model may be, for ever or for this once.

        A limit that the refused request kept to is no news.
        """
        if symptom.status not in (400, 422):
            return False
        model, asked = sent["model"], sent["max_tokens"]
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


def _marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*blocks[:-1], {**blocks[-1], **_MARK}]
