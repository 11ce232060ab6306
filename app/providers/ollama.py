"""The wire to Ollama by its own chat, where it can be told how much of a conversation it has to hold."""

from __future__ import annotations

import re
from typing import Any, Unpack

import httpx

from app.engine.ollama_writer import OllamaWriter
from app.engine.provider import ModelRequest
from app.providers.bodies import Body
from app.providers.classify import Symptom
from app.providers.direct import DirectWire, Language, Surroundings
from app.providers.model_server import bearer
from app.providers.ndjson import LineReader
from app.providers.ollama_events import OllamaEvents


class Ollama(DirectWire):
    """See ``DirectWire``. ``context`` is the window in tokens that its models are to be loaded with."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: str | None,
        client: httpx.AsyncClient,
        *,
        context: int | None = None,
        **given: Unpack[Surroundings],
    ) -> None:
        language = Language(
            root=root_of(base_url),
            ask="chat",
            models="tags",
            auth="tags",
            credentials=bearer,
            writer=OllamaWriter(),
            options=OllamaOptions(context),
            framing=LineReader,
            events=OllamaEvents,
        )
        super().__init__(id, base_url, key, client, language, **given)


class OllamaOptions:
    """See ``Options``. A conversation beyond the window is refused in words, not cut at its beginning in silence."""

    def __init__(self, context: int | None) -> None:
        self._context = context

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        window = {} if self._context is None else {"num_ctx": self._context}
        body["options"] = {**body.get("options", {}), **window}
        body["truncate"] = False
        return body

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        """It takes any option, and leaves out what it does not know."""
        return False


def root_of(base_url: str) -> str:
    """The address under which the paths stand, without one that was pasted along."""
    return re.sub(r"/(v1|api)(/[a-z/]*)?$", "", base_url.strip().rstrip("/")) + "/api"
