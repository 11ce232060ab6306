"""Every host without a wire of its own, reached through litellm.

litellm only carries: it does not retry, drop parameters, log or report. What it raises is unwrapped, what it
streams becomes our events; thinking that comes with a signature is kept whole and given back to the same model.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

import anyio
import msgspec

from app.engine.chat_writer import ChatWriter
from app.engine.errors import ProviderError
from app.engine.pictures import LoadImage, load_nothing
from app.engine.provider import AuthCheck, LeftOut, ModelRequest, StreamBatch
from app.engine.retry import retry_after
from app.infra.clock import Clock
from app.infra.redaction import Redactor
from app.providers import litellm_errors, litellm_images
from app.providers.bodies import Bodies, Draft
from app.providers.images import Drawn, ImageRequest
from app.providers.litellm_chunks import ChunkReader
from app.providers.litellm_module import beside, load
from app.providers.litellm_options import LiteLLMOptions
from app.providers.litellm_silence import Silence
from app.providers.sentences import Callee, provider_error
from app.providers.stream_limits import StreamLimits, limits_for
from app.providers.wires import CHECK_SECONDS


class LiteLLM:
    """One host. ``prefix`` is litellm's name of it; empty where the model's own name begins with one."""

    def __init__(
        self,
        id: str,
        *,
        prefix: str,
        key: str | None,
        base_url: str | None,
        clock: Clock,
        limits: StreamLimits | None = None,
        load_image: LoadImage = load_nothing,
    ) -> None:
        self._id = id
        self._prefix = prefix
        self._key = key
        self._base_url = base_url
        self._clock = clock
        self._limits = limits or limits_for(base_url or "")
        self._bodies = Bodies(id, base_url, ChatWriter(("thinking_blocks",)), LiteLLMOptions(), load_image)

    @property
    def id(self) -> str:
        return self._id

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        draft = await self._bodies.draft(request)
        try:
            silence = Silence(self._limits)
            answer = await self._ask(draft, silence)
            try:
                if draft.left_out:
                    yield (LeftOut(tuple(draft.left_out)),)
                reader = ChunkReader()
                chunks = aiter(answer)
                while (chunk := await silence.bounded(anext(chunks, None))) is not None:
                    if batch := tuple(reader.read(chunk)):
                        silence.broken()
                        yield batch
                yield tuple(reader.end(answer))
            finally:
                await answer.aclose()
        except Exception as error:
            raise self._refusal(error, request.model) from error

    async def _ask(self, draft: Draft, silence: Silence) -> Any:
        """The stream of chunks. Each question gets a body of its own: litellm changes what it is given."""
        litellm = await load()
        while True:
            arguments = self._arguments(msgspec.json.decode(draft.body))
            try:
                return await silence.bounded(litellm.acompletion(**arguments))
            except Exception as error:
                if not draft.revise(litellm_errors.symptom(error)):
                    raise

    async def complete(self, request: ModelRequest) -> StreamBatch:
        async with aclosing(self.stream(request)) as batches:
            return tuple([event async for batch in batches for event in batch])

    async def paint(self, request: ImageRequest) -> Drawn:
        """See ``Painter``."""
        try:
            return await litellm_images.paint(request, self._callee(request.model), self._limits)
        except Exception as error:
            raise self._refusal(error, request.model) from error

    async def validate_auth(self) -> AuthCheck:
        began = self._clock.monotonic()
        try:
            litellm = await load()
            with anyio.fail_after(CHECK_SECONDS):
                models = await beside(partial(self._list_models, litellm))
        except Exception as error:  # noqa: BLE001 - a Test button says what went wrong, whatever it was
            refusal = self._refusal(error, "any model")
            return AuthCheck(False, refusal.message, failure=refusal.kind)
        took = round((self._clock.monotonic() - began) * 1000)
        if not models:
            return AuthCheck(
                True, "This host can only be tested by asking a model: the first message will tell."
            )
        return AuthCheck(True, f"The key works; {len(models)} models are offered.", models, took)

    @property
    def _sent_key(self) -> str | None:
        """Never none for an address of one's own: litellm would send it the key of another host."""
        return self._key or ("none" if self._base_url else None)

    def _arguments(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **body,
            **self._callee(body["model"]),
            "stream": True,
            "stream_options": {"include_usage": True},
            "drop_params": False,
        }

    def _callee(self, model: str) -> dict[str, Any]:
        """Who is asked, once, in litellm's words."""
        return {
            "model": f"{self._prefix}/{model}" if self._prefix else model,
            "api_key": self._sent_key,
            "api_base": self._base_url,
            "num_retries": 0,
            "max_retries": 0,
        }

    def _list_models(self, litellm: Any) -> tuple[str, ...]:
        """What the host lists, as it names them; empty where litellm cannot ask. Blocks, and raises as it likes."""
        if self._prefix not in {one.value for one in litellm.LlmProviders}:
            return ()
        host = litellm.LlmProviders(self._prefix)
        about = litellm.utils.ProviderConfigManager.get_provider_model_info(None, host)
        if about is None:
            return ()
        names = about.get_models(api_key=self._sent_key, api_base=self._base_url)
        return tuple(name.removeprefix(f"{self._prefix}/") for name in names)

    def _refusal(self, error: Exception, model: str) -> ProviderError:
        host = self._base_url or self._prefix or self._id
        callee = Callee(self._id, model, host, self._key is not None, Redactor([self._key or ""]))
        wait = retry_after(litellm_errors.headers(error), self._clock.now())
        return provider_error(litellm_errors.symptom(error), callee, wait)
