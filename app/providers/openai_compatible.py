"""The wire to any OpenAI-compatible server, spoken to directly over httpx.

write the request → ask, and write it anew where its form is refused → read the answer → say in words what failed
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx

from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck, ModelRequest, StreamBatch
from app.engine.retry import retry_after
from app.infra.clock import Clock, SystemClock
from app.infra.redaction import Redactor
from app.providers.chat_answer import read_answer
from app.providers.chat_bodies import ChatBodies
from app.providers.chat_events import decode
from app.providers.classify import Symptom
from app.providers.dialects import Dialect, dialect_of, root_of
from app.providers.errors import AnswerFailed, WireError
from app.providers.failures import read_exception
from app.providers.model_list import read_model_names, read_windows
from app.providers.model_server import ModelServer, read_refusal
from app.providers.sentences import Callee, provider_error
from app.providers.stream_limits import StreamLimits, limits_for
from app.providers.wires import CHECK_SECONDS

_CHAT = "chat/completions"
_NO_SUCH_PATH = frozenset({404, 405, 501})


class OpenAICompatible:
    """One server and one key. Safe to share between conversations; it keeps what it learns about the server."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: str | None,
        client: httpx.AsyncClient,
        *,
        limits: StreamLimits | None = None,
        dialect: Dialect | None = None,
        clock: Clock | None = None,
    ) -> None:
        """``base_url`` with or without its ``/v1``. ``client`` is shared and closed by its owner."""
        key = key.strip() if key else None
        self.id = id
        self._has_key = bool(key)
        self._redactor = Redactor([key] if key else [])
        self._dialect = dialect or dialect_of(base_url)
        self._root = root_of(base_url, self._dialect)
        self._limits = limits or limits_for(base_url)
        self._clock = clock or SystemClock()
        self._server = ModelServer(client, self._root, key, self._limits.connect)
        self._bodies = ChatBodies(id, base_url, self._dialect)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """See ``Provider``: a batch holds everything that one read of the network brought."""
        async with self._failing_in_words(request.model):
            asked_at = asyncio.get_running_loop().time()
            response = await self._ask(request)
            answer = read_answer(response, self._dialect, self._limits, asked_at)
            async with aclosing(answer) as batches:
                async for batch in batches:
                    yield batch

    async def complete(self, request: ModelRequest) -> StreamBatch:
        """See ``Provider``."""
        return tuple([event async for batch in self.stream(request) for event in batch])

    async def list_models(self) -> tuple[str, ...]:
        """What the server says it has, sorted, at most 1,000 names. Raises ``ProviderError``."""
        return read_model_names(await self._get(self._dialect.models_path))

    async def list_windows(self) -> dict[str, int]:
        """How many tokens its models hold, where the server says so. Raises ``ProviderError``."""
        return read_windows(await self._get(self._dialect.models_path))

    async def validate_auth(self) -> AuthCheck:
        """See ``Provider``."""
        began = self._clock.monotonic()
        try:
            models = await self._check()
        except ProviderError as error:
            return AuthCheck(False, error.message, latency_ms=self._since(began), failure=error.kind)
        words = f"{self.id} answers and lists {len(models)} {'model' if len(models) == 1 else 'models'}."
        if not models:
            words = f"{self.id} answers, but lists no models: enter the name of one yourself."
        return AuthCheck(True, words, models, self._since(began))

    async def _check(self) -> tuple[str, ...]:
        """The models, where the key is right. Raises ``ProviderError``."""
        if self._dialect.auth_path != self._dialect.models_path:
            await self._get(self._dialect.auth_path)
        try:
            return await self.list_models()
        except ProviderError as error:
            if error.status not in _NO_SUCH_PATH:
                raise
            await self._knock()
            return ()

    async def _knock(self) -> None:
        """Ask for nothing, and so learn from the refusal whether there is a model server that takes the key."""
        async with self._failing_in_words(""):
            response = await self._server.send("POST", _CHAT, b"{}", CHECK_SECONDS)
            symptom = await read_refusal(response)
            if response.status_code not in (200, 400, 422):
                raise self._error(symptom, "", response)

    async def _ask(self, request: ModelRequest) -> httpx.Response:
        """The response that holds the answer. Raises ``ProviderError`` where there is none to be had."""
        draft = self._bodies.draft(request)
        while True:
            response = await self._server.send("POST", _CHAT, draft.body, self._limits.first_token)
            if response.status_code == httpx.codes.OK:
                return response
            symptom = await read_refusal(response)
            if not draft.revise(symptom):
                raise self._error(symptom, request.model, response)

    async def _get(self, path: str) -> Any:
        """The JSON at a path. Raises ``ProviderError``."""
        async with self._failing_in_words(""):
            response = await self._server.send("GET", path, None, CHECK_SECONDS)
            if response.status_code != httpx.codes.OK:
                raise self._error(await read_refusal(response), "", response)
            async with asyncio.timeout(CHECK_SECONDS):
                return decode(await response.aread())

    @asynccontextmanager
    async def _failing_in_words(self, model: str) -> AsyncIterator[None]:
        """Whatever the network, the stream or the server's words throw leaves as ``ProviderError``."""
        try:
            yield
        except AnswerFailed as error:
            raise self._error(error.symptom, model) from None
        except (httpx.HTTPError, httpx.InvalidURL, WireError, OSError, UnicodeError) as error:
            raise self._error(read_exception(error), model) from error

    def _error(self, symptom: Symptom, model: str, response: httpx.Response | None = None) -> ProviderError:
        callee = Callee(self.id, model, self._root, self._has_key, self._redactor)
        wait = None if response is None else retry_after(response.headers, self._clock.now())
        return provider_error(symptom, callee, wait)

    def _since(self, began: float) -> int:
        return round((self._clock.monotonic() - began) * 1000)
