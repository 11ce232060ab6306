"""The wire to any OpenAI-compatible server: one request over httpx, its answer as batches of stream events.

ask → look at the head of the answer → read events, a batch for each read of the network → close
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import msgspec

from app import __version__
from app.engine.compiler import ChatCompiler
from app.engine.errors import ProviderError
from app.engine.messages import Origin
from app.engine.provider import AuthCheck, ModelRequest, StreamBatch, StreamEvent
from app.engine.retry import retry_after
from app.infra.clock import Clock, SystemClock
from app.infra.redaction import Redactor
from app.providers.chat_events import ChatEvents, decode
from app.providers.classify import Symptom
from app.providers.dialects import Dialect, dialect_of, root_of
from app.providers.errors import AnswerFailed, PageInstead, StreamSilent, StreamUnreadable, WireError
from app.providers.failures import read_body, read_exception, read_payload
from app.providers.model_list import read_model_names, read_windows
from app.providers.request_options import Options
from app.providers.sentences import Callee, provider_error
from app.providers.sse import SseReader
from app.providers.stream_limits import StreamLimits, TimedBody, limits_for

_KEPT_HISTORIES = 16
_LONGEST_ERROR = 64 * 1024
_LIST_LIMIT = 30.0


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
        self.id = id
        self._base_url = base_url
        self._key = key.strip() if key else None
        self._client = client
        self._dialect = dialect or dialect_of(base_url)
        self._root = root_of(base_url, self._dialect)
        self._limits = limits or limits_for(base_url)
        self._clock = clock or SystemClock()
        self._redactor = Redactor([key] if key else [])
        self._options = Options(self._dialect)
        self._compilers: OrderedDict[tuple[str, str], ChatCompiler] = OrderedDict()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """See ``Provider``: a batch holds everything that one read of the network brought."""
        callee = self._callee(request.model)
        async with self._failures(callee):
            async with aclosing(self._answer(request, callee)) as batches:
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
            if self._dialect.auth_path != self._dialect.models_path:
                await self._get(self._dialect.auth_path)
            models = await self.list_models()
        except ProviderError as error:
            return AuthCheck(False, error.message, latency_ms=self._since(began))
        count = f"{len(models)} models" if len(models) != 1 else "1 model"
        words = (
            f"{self.id} answers and lists {count}." if models else f"{self.id} answers, but lists no models."
        )
        return AuthCheck(True, words, models, self._since(began))

    async def _answer(self, request: ModelRequest, callee: Callee) -> AsyncGenerator[StreamBatch, None]:
        asked_at = asyncio.get_running_loop().time()
        response = await self._ask(request, callee)
        try:
            body = TimedBody(_pieces(response), self._limits, asked_at)
            if "json" in response.headers.get("content-type", ""):
                yield await self._whole_answer(body)
                return
            async with aclosing(self._events(body)) as batches:
                async for batch in batches:
                    yield batch
        finally:
            await response.aclose()

    async def _events(self, body: TimedBody) -> AsyncGenerator[StreamBatch, None]:
        """Batch after batch until the closing mark, the end of the body, or silence after a finish reason."""
        reader, chat = SseReader(), ChatEvents(self._dialect)
        seen = False
        while not chat.done:
            try:
                piece = await body.next()
            except StreamSilent:
                if chat.stopped:
                    return
                raise
            events: list[StreamEvent] = []
            failure: WireError | None = None
            try:
                for data in reader.finish() if piece is None else reader.feed(piece):
                    seen = True
                    if not chat.done:
                        events.extend(chat.read(data))
            except WireError as error:
                failure = error
            if events:
                body.heard(stopped=chat.stopped)
                yield tuple(events)
            if failure is not None:
                raise failure
            if piece is None:
                if not seen and reader.skipped:
                    raise StreamUnreadable("no event in the whole answer")
                return
        await body.drain()

    async def _whole_answer(self, body: TimedBody) -> StreamBatch:
        """A server that does not stream, or that reports an error in a 200."""
        pieces = [piece async for piece in body]
        payload = decode(b"".join(pieces))
        if not isinstance(payload, dict):
            raise StreamUnreadable("the answer is no object")
        failure = read_payload(payload)
        if failure is not None:
            raise AnswerFailed(failure)
        return tuple(ChatEvents(self._dialect).take(payload))

    async def _ask(self, request: ModelRequest, callee: Callee) -> httpx.Response:
        """The response, its head seen to be that of an answer. Raises ``ProviderError``."""
        while True:
            body = self._body(request)
            response = await self._send("POST", "chat/completions", body, self._limits.first_token)
            if response.status_code == 200:
                return response
            symptom = await _read_refusal(response)
            if not self._options.give_way(request.model, symptom):
                raise provider_error(symptom, callee, self._wait_asked(response))

    def _body(self, request: ModelRequest) -> bytes:
        body = self._compiler(request).compile(request)
        body["stream"] = True
        return encode(self._options.apply(body, request))

    def _compiler(self, request: ModelRequest) -> ChatCompiler:
        """The compiler that knows this history, where a session keeps coming back with it."""
        wanted = (request.session_id or "", request.model)
        compiler = self._compilers.pop(wanted, None)
        if compiler is None:
            origin = Origin(self.id, request.model, self._base_url)
            compiler = ChatCompiler(origin, self._dialect.reasoning)
        if request.session_id:
            self._compilers[wanted] = compiler
            if len(self._compilers) > _KEPT_HISTORIES:
                self._compilers.popitem(last=False)
        return compiler

    async def _get(self, path: str) -> Any:
        """The JSON at a path. Raises ``ProviderError``."""
        callee = self._callee("")
        async with self._failures(callee):
            response = await self._send("GET", path, None, _LIST_LIMIT)
            if response.status_code != 200:
                raise provider_error(await _read_refusal(response), callee, self._wait_asked(response))
            async with asyncio.timeout(_LIST_LIMIT):
                data = await response.aread()
            return decode(data)

    async def _send(self, method: str, path: str, body: bytes | None, patience: float) -> httpx.Response:
        headers = {"accept": "text/event-stream, application/json", "user-agent": f"plancia/{__version__}"}
        headers["accept-encoding"] = "identity"
        if body is not None:
            headers["content-type"] = "application/json"
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        # Reads are timed here, by what they bring; httpx would take a comment for a sign of life.
        timeout = httpx.Timeout(None, connect=self._limits.connect, pool=self._limits.connect)
        http = self._client.build_request(
            method, f"{self._root}/{path}", content=body, headers=headers, timeout=timeout
        )
        try:
            async with asyncio.timeout(patience):
                response = await self._client.send(http, stream=True, follow_redirects=False)
        except TimeoutError:
            raise StreamSilent("first token", patience) from None
        if response.status_code == 200 and "html" in response.headers.get("content-type", ""):
            await response.aclose()
            raise PageInstead("text/html")
        return response

    def _wait_asked(self, response: httpx.Response) -> float | None:
        return retry_after(response.headers, self._clock.now())

    @asynccontextmanager
    async def _failures(self, callee: Callee) -> AsyncIterator[None]:
        """Whatever the network, the stream or the server's words throw leaves as ``ProviderError``."""
        try:
            yield
        except AnswerFailed as error:
            raise provider_error(error.symptom, callee) from None
        except (httpx.HTTPError, httpx.InvalidURL, WireError, OSError, UnicodeError) as error:
            raise provider_error(read_exception(error), callee) from error

    def _callee(self, model: str) -> Callee:
        return Callee(self.id, model, self._root, bool(self._key), self._redactor)

    def _since(self, began: float) -> int:
        return round((self._clock.monotonic() - began) * 1000)


def encode(body: dict[str, Any]) -> bytes:
    """JSON in UTF-8. The compiler has seen to it that there is nothing in it that UTF-8 refuses."""
    return msgspec.json.encode(body)


def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()


async def _read_refusal(response: httpx.Response) -> Symptom:
    """What an answer that is none says, as far as it says it soon."""
    kept = b""
    try:
        async with asyncio.timeout(10):
            async for piece in response.aiter_bytes():
                kept += piece
                if len(kept) > _LONGEST_ERROR:
                    break
    except (TimeoutError, httpx.HTTPError):
        pass
    finally:
        await response.aclose()
    return read_body(response.status_code, kept)
