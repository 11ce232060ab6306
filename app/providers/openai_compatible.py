"""The wire to any OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Unpack

import httpx

from app.engine.chat_writer import ChatWriter
from app.providers.chat_events import ChatEvents
from app.providers.chat_options import ChatOptions
from app.providers.dialects import Dialect, dialect_of, root_of
from app.providers.direct import DirectWire, Language, Surroundings
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
        language = Language(
            root=root_of(base_url, dialect),
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


def bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}
