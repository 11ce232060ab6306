"""The wire to OpenAI's Responses API, for models that show their thinking, or answer at all, only there."""

from __future__ import annotations

from typing import Unpack

import httpx

from app.engine.responses_writer import ResponsesWriter
from app.providers.direct import DirectWire, Language, Surroundings
from app.providers.model_server import bearer
from app.providers.responses_events import ResponsesEvents
from app.providers.responses_options import ResponsesOptions
from app.providers.sse import SseReader


class OpenAIResponses(DirectWire):
    """See ``DirectWire``. ``root`` is the address under which the paths stand."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: str | None,
        client: httpx.AsyncClient,
        root: str,
        **given: Unpack[Surroundings],
    ) -> None:
        language = Language(
            root=root,
            ask="responses",
            models="models",
            auth="models",
            credentials=bearer,
            writer=ResponsesWriter(),
            options=ResponsesOptions(),
            framing=SseReader,
            events=ResponsesEvents,
        )
        super().__init__(id, base_url, key, client, language, **given)
