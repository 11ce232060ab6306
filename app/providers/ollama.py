"""The wire to Ollama by its own chat, where it can be told how much of a conversation it has to hold."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Unpack

import httpx
from anyio.to_thread import run_sync

from app.engine.errors import ProviderError
from app.engine.ollama_writer import OllamaWriter
from app.engine.provider import LeftOut, ModelRequest, StreamBatch, StreamEvent, UsageReport
from app.providers.bodies import Body
from app.providers.classify import Symptom
from app.providers.direct import DirectWire, Language, Surroundings
from app.providers.model_server import bearer
from app.providers.ndjson import LineReader
from app.providers.ollama_events import OllamaEvents
from app.providers.ollama_window import is_doubtful, least_sent, lost_beginning, read_window


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
        self._context = context

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """See ``Provider``. Where the server dropped the beginning by itself, that is said after the answer."""
        read = 0
        async with aclosing(super().stream(request)) as batches:
            async for batch in batches:
                yield batch
                read += sum(_read(event) for event in batch)
        lost = await self._lost_beginning(request, read)
        if lost is not None:
            yield (lost,)

    async def _lost_beginning(self, request: ModelRequest, read: int) -> LeftOut | None:
        sent = await run_sync(least_sent, request, abandon_on_cancel=True) if read else 0
        if not is_doubtful(sent, read):
            return None
        try:
            loaded = read_window(await self._get("ps"), request.model)
        except ProviderError:
            loaded = None
        if not lost_beginning(sent, read, asked=self._context, loaded=loaded):
            return None
        return LeftOut(("beginning",), sent, read, loaded)


_BY_EFFORT = re.compile(r"(^|/)gpt-oss\b")
"""Models that are told how much to think. Of the others an effort is refused, or passed over in silence."""
_NO_EFFORT = re.compile(r"\bthink value\b")
_NO_THINKING = re.compile(r"does not support thinking")


class OllamaOptions:
    """See ``Options``. A conversation beyond the window is refused in words, not cut at its beginning in silence."""

    def __init__(self, context: int | None) -> None:
        self._context = context
        self._only_switched: set[str] = set()
        self._unthinking: set[str] = set()

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        window = {} if self._context is None else {"num_ctx": self._context}
        body["options"] = {**body.get("options", {}), **window}
        body["truncate"] = False
        if request.reasoning != "off" and request.model not in self._unthinking:
            by_effort = _BY_EFFORT.search(request.model) and request.model not in self._only_switched
            body["think"] = request.reasoning if by_effort else True
        return body

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        """Whether the model cannot think, or not so much and no more: it leaves out all else that it does not know."""
        if "think" not in sent or symptom.status != 400:
            return False
        if isinstance(sent["think"], str) and _NO_EFFORT.search(symptom.message):
            self._only_switched.add(sent["model"])
            return True
        if _NO_THINKING.search(symptom.message):
            self._unthinking.add(sent["model"])
            return True
        return False


def _read(event: StreamEvent) -> int:
    """Tokens of the prompt that a report counts."""
    return event.input_tokens + event.cache_read_tokens if isinstance(event, UsageReport) else 0


def root_of(base_url: str) -> str:
    """The address under which the paths stand, without one that was pasted along."""
    return re.sub(r"/(v1|api)(/[a-z/]*)?$", "", base_url.strip().rstrip("/")) + "/api"
