"""A wire that speaks HTTP to a model server itself: what all of them share, whatever the server's language.

write the request → ask, and write it anew where its form is refused → read the answer → say in words what failed
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack

import httpx

from app.engine.errors import ProviderError
from app.engine.outline import Writer
from app.engine.pictures import LoadImage, load_nothing
from app.engine.provider import AuthCheck, LeftOut, ModelRequest, StreamBatch
from app.engine.retry import retry_after
from app.infra.clock import Clock, SystemClock
from app.infra.redaction import Redactor
from app.providers.answer_reader import AnswerEvents, Framing, read_answer
from app.providers.bodies import Bodies, Draft, Options
from app.providers.classify import Symptom
from app.providers.errors import AnswerFailed, WireError
from app.providers.failures import read_exception, read_payload
from app.providers.model_list import read_model_names, read_windows
from app.providers.model_server import ModelServer, read_refusal
from app.providers.payloads import decode
from app.providers.sentences import Callee, provider_error
from app.providers.stream_limits import StreamLimits, TimedBody, limits_for
from app.providers.wires import CHECK_SECONDS

T = TypeVar("T")

_NO_SUCH_PATH = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Language:
    """How a family of servers is spoken to. Paths stand below ``root``."""

    root: str
    ask: str
    """Where models are asked."""
    models: str
    """Where they are listed."""
    auth: str
    """A cheap question that only a right key can ask."""
    credentials: Callable[[str], Mapping[str, str]]
    """The headers that go with a key; an empty one where there is none."""
    writer: Writer
    options: Options
    framing: Callable[[], Framing]
    events: Callable[[], AnswerEvents]


class Surroundings(TypedDict, total=False):
    """What a wire is given beside its server."""

    limits: StreamLimits | None
    clock: Clock | None
    load_image: LoadImage


class DirectWire:
    """One server and one key. Safe to share between conversations; it keeps what it learns about the server."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: str | None,
        client: httpx.AsyncClient,
        language: Language,
        **given: Unpack[Surroundings],
    ) -> None:
        """``client`` is shared and closed by its owner; ``base_url`` is what answers carry as their endpoint."""
        key = key.strip() if key else ""
        self.id = id
        self._has_key = bool(key)
        self._redactor = Redactor([key] if key else [])
        self._language = language
        self._limits = given.get("limits") or limits_for(base_url)
        self._clock = given.get("clock") or SystemClock()
        self._server = ModelServer(client, language.root, language.credentials(key), self._limits.connect)
        load_image = given.get("load_image", load_nothing)
        self._bodies = Bodies(id, base_url, language.writer, language.options, load_image)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """See ``Provider``: a batch holds everything that one read of the network brought."""
        with self._failing_in_words(request.model):
            asked_at = asyncio.get_running_loop().time()
            draft = await self._bodies.draft(request)
            language = self._language
            async with aclosing(await self._ask(draft, request.model)) as response:
                if draft.left_out:
                    yield (LeftOut(tuple(draft.left_out)),)
                answer = read_answer(response, language.framing(), language.events(), self._limits, asked_at)
                async with aclosing(answer) as batches:
                    async for batch in batches:
                        yield batch

    async def complete(self, request: ModelRequest) -> StreamBatch:
        """See ``Provider``."""
        return tuple([event async for batch in self.stream(request) for event in batch])

    async def list_models(self) -> tuple[str, ...]:
        """What the server says it has, sorted, at most 1,000 names. Raises ``ProviderError``."""
        return read_model_names(await self._get(self._language.models))

    async def list_windows(self) -> dict[str, int]:
        """How many tokens its models hold, where the server says so. Raises ``ProviderError``."""
        return read_windows(await self._get(self._language.models))

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

    async def post(self, path: str, body: bytes, media_type: str, model: str, read: Callable[[Any], T]) -> T:
        """What ``read`` makes of the JSON that answers as a whole, within the limits of an answer.

        ``read`` may raise ``WireError``. Raises ``ProviderError``.
        """
        with self._failing_in_words(model):
            asked_at, limits = asyncio.get_running_loop().time(), self._limits
            response = await self._server.send("POST", path, body, limits.first_token, media_type)
            if response.status_code != httpx.codes.OK:
                raise self._error(await read_refusal(response), model, response)
            answer = await _read_whole(response, limits, asked_at)
            if isinstance(answer, dict) and (symptom := read_payload(answer)):
                raise AnswerFailed(symptom)
            return read(answer)

    async def _check(self) -> tuple[str, ...]:
        """The models, where the key is right. Raises ``ProviderError``."""
        if self._language.auth != self._language.models:
            await self._get(self._language.auth)
        try:
            return await self.list_models()
        except ProviderError as error:
            if error.status not in _NO_SUCH_PATH:
                raise
            await self._knock()
            return ()

    async def _knock(self) -> None:
        """Ask for nothing, and so learn from the refusal whether there is a model server that takes the key."""
        with self._failing_in_words(""):
            response = await self._server.send("POST", self._language.ask, b"{}", CHECK_SECONDS)
            symptom = await read_refusal(response)
            if response.status_code not in (200, 400, 422):
                raise self._error(symptom, "", response)

    async def _ask(self, draft: Draft, model: str) -> httpx.Response:
        """The response that holds the answer. Raises ``ProviderError`` where there is none to be had."""
        while True:
            path, patience = self._language.ask, self._limits.first_token
            response = await self._server.send("POST", path, draft.body, patience)
            if response.status_code == httpx.codes.OK:
                return response
            symptom = await read_refusal(response)
            if not draft.revise(symptom):
                raise self._error(symptom, model, response)

    async def _get(self, path: str) -> Any:
        """The JSON at a path. Raises ``ProviderError``."""
        with self._failing_in_words(""):
            asked_at = asyncio.get_running_loop().time()
            response = await self._server.send("GET", path, None, CHECK_SECONDS)
            if response.status_code != httpx.codes.OK:
                raise self._error(await read_refusal(response), "", response)
            async with asyncio.timeout(CHECK_SECONDS):
                return await _read_whole(response, self._limits, asked_at)

    @contextmanager
    def _failing_in_words(self, model: str) -> Iterator[None]:
        """Whatever the network, the stream or the server's words throw leaves as ``ProviderError``."""
        try:
            yield
        except AnswerFailed as error:
            raise self._error(error.symptom, model) from None
        except (httpx.HTTPError, httpx.InvalidURL, WireError, OSError, UnicodeError) as error:
            raise self._error(read_exception(error), model) from error

    def _error(self, symptom: Symptom, model: str, response: httpx.Response | None = None) -> ProviderError:
        callee = Callee(self.id, model, self._language.root, self._has_key, self._redactor)
        wait = None if response is None else retry_after(response.headers, self._clock.now())
        return provider_error(symptom, callee, wait)

    def _since(self, began: float) -> int:
        return round((self._clock.monotonic() - began) * 1000)


async def _read_whole(response: httpx.Response, limits: StreamLimits, asked_at: float) -> Any:
    """The JSON of a body, within the limits of an answer; closes the response. Raises ``WireError``."""
    async with aclosing(response):
        pieces = TimedBody(response.aiter_bytes(), limits, asked_at)
        return decode(b"".join([piece async for piece in pieces]))
