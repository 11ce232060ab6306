"""The wire to Anthropic, and to servers that speak like it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Unpack

import httpx

from app.engine.anthropic_writer import AnthropicWriter
from app.providers.anthropic_events import AnthropicEvents
from app.providers.anthropic_options import AnthropicOptions
from app.providers.direct import DirectWire, Language, Surroundings
from app.providers.sse import SseReader

VERSION = "2023-06-01"
"""Of the API, as its header names it."""


class AnthropicCompatible(DirectWire):
    """See ``DirectWire``. ``base_url`` may come with or without its ``/v1``."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: str | None,
        client: httpx.AsyncClient,
        **given: Unpack[Surroundings],
    ) -> None:
        language = Language(
            root=root_of(base_url),
            ask="messages",
            models="models",
            auth="models",
            credentials=credentials,
            writer=AnthropicWriter(),
            options=AnthropicOptions(),
            framing=SseReader,
            events=AnthropicEvents,
        )
        super().__init__(id, base_url, key, client, language, **given)


def root_of(base_url: str) -> str:
    """The address under which the paths stand, without one that was pasted along."""
    root = re.sub(r"/(messages|models)$", "", base_url.strip().rstrip("/"))
    return root if root.endswith("/v1") else f"{root}/v1"


def credentials(key: str) -> Mapping[str, str]:
    version = {"anthropic-version": VERSION}
    return {**version, "x-api-key": key} if key else version
