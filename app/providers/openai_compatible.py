"""The wire to any OpenAI-compatible server: chat completions, which all of them
speak, unless a model needs another; and pictures."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Unpack

import httpx

from app.engine.chat_writer import ChatWriter
from app.engine.provider import ModelRequest, StreamBatch
from app.providers.chat_events import ChatEvents
from app.providers.chat_options import ChatOptions
from app.providers.dialects import Dialect, dialect_of, root_of
from app.providers.direct import DirectWire, Language, Surroundings
from app.providers.errors import SpokenElsewhere
from app.providers.images import Drawn, ImageRequest
from app.providers.model_server import bearer
from app.providers.openai_images import OpenAIImages
from app.providers.openai_responses import OpenAIResponses
from app.providers.sse import SseReader


class OpenAICompatible(DirectWire):
    """See ``DirectWire``. ``base_url`` may come with or without its ``/v1``."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: str | None,
        client: httpx.AsyncClient,
        *,
        dialect: Dialect | None = None,
        **given: Unpack[Surroundings],
    ) -> None:
        dialect = dialect or dialect_of(base_url)
        root = root_of(base_url, dialect)
        language = Language(
            root=root,
            ask="chat/completions",
            models=dialect.models_path,
            auth=dialect.auth_path,
            credentials=bearer,
            writer=ChatWriter(dialect.reasoning, dialect.unsigned),
            options=ChatOptions(dialect),
            framing=SseReader,
            events=partial(ChatEvents, dialect),
        )
        super().__init__(id, base_url, key, client, language, **given)
        self._elsewhere = OpenAIResponses(id, base_url, key, client, root, **given)
        self._images = OpenAIImages(id, self.post)
        self._through_responses = dialect.responses
        self._sent_on: set[str] = set()
        """Models of which the server said that they answer there alone."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        if not self._is_elsewhere(request.model):
            try:
                async with aclosing(super().stream(request)) as batches:
                    async for batch in batches:
                        yield batch
                return
            except SpokenElsewhere:
                self._sent_on.add(request.model)
        async with aclosing(self._elsewhere.stream(request)) as batches:
            async for batch in batches:
                yield batch

    async def paint(self, request: ImageRequest) -> Drawn:
        """See ``Painter``."""
        return await self._images.paint(request)

    def _is_elsewhere(self, model: str) -> bool:
        known = self._through_responses is not None and re.match(self._through_responses, model) is not None
        return known or model in self._sent_on
