"""What goes beside the history in a request through litellm: how much the model is to think, until it cannot."""

from __future__ import annotations

import re
from typing import Any

from app.engine.provider import ModelRequest
from app.providers.bodies import Body
from app.providers.classify import Symptom

_ABOUT_THINKING = re.compile(
    r"reasoning_effort|budget_tokens|does not support (thinking|reasoning)|thinking\.type|expected `thinking`",
    re.IGNORECASE,
)
"""The last: a step that another model began cannot be gone on with by thinking."""


class LiteLLMOptions:
    """See ``Options``. litellm itself refuses an effort for models that it knows to have none."""

    def __init__(self) -> None:
        self._unthinking: set[str] = set()

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        if request.reasoning != "off" and request.model not in self._unthinking:
            body["reasoning_effort"] = request.reasoning
        return body

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        if "reasoning_effort" not in sent or symptom.status not in (400, 422):
            return False
        if not _ABOUT_THINKING.search(symptom.message):
            return False
        self._unthinking.add(sent["model"])
        return True
