"""What litellm raised, unwrapped: its classes mislead and its texts are wrapped, so the causes are asked.

A status is the one of the deepest answer in the chain of causes, the words are those of its body; where no answer
came at all, the first exception of the transport speaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from app.providers.classify import Symptom
from app.providers.failures import read_body

_TRANSPORT = ("httpx", "httpcore", "ssl", "socket", "anyio", "builtins", "asyncio", "aiohttp", "h11", "h2")
_WRAPPING = re.compile(
    r"^(?:\S*litellm\.\S+: |\w+(?:Error|Exception): |\w+Exception - |Original exception: )+"
)


def symptom(error: BaseException) -> Symptom:
    """The failed call as it really showed itself."""
    chain = tuple(_chain(error))
    answer = next(
        (one for one in reversed(chain) if _status(one) is not None and not _is_transport(one)), None
    )
    silent = next((one for one in chain if _is_transport(one)), None)
    if silent is not None:
        causes = dict.fromkeys(str(one) for one in chain[chain.index(silent) :] if str(one))
        return Symptom(message=" <- ".join(causes), raised=type(silent).__name__)
    if answer is None:
        return Symptom(message=_unwrapped(str(error)), raised=type(error).__name__)
    return read_body(_status(answer), _body(answer))


def headers(error: BaseException) -> Mapping[str, str]:
    """The headers of the answer, as far as litellm kept them."""
    for one in _chain(error):
        found = getattr(one, "litellm_response_headers", None) or getattr(
            getattr(one, "response", None), "headers", None
        )
        if found:
            return {str(name).lower(): str(value) for name, value in dict(found).items()}
    return {}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and whatever it says caused it, outermost first, each once."""
    waiting: list[Any] = [error]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, BaseException) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [getattr(current, "original_exception", None), current.__cause__, current.__context__]


def _is_transport(error: BaseException) -> bool:
    """Raised because no answer came; an exception about an answer has a ``response``."""
    module = type(error).__module__.partition(".")[0]
    expected = not isinstance(error, (ValueError, LookupError, TypeError, AttributeError, AssertionError))
    return module in _TRANSPORT and expected and not hasattr(error, "response")


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None) or getattr(
        getattr(error, "response", None), "status_code", None
    )
    return status if isinstance(status, int) else None


def _body(error: BaseException) -> bytes:
    """What the server wrote: kept as bytes, in a response that was read, or as the end of a text."""
    message = getattr(error, "message", None)
    if isinstance(message, bytes):
        return message
    with suppress(Exception):  # a response that was streamed and not read has no content to ask for
        if content := bytes(error.response.content):  # type: ignore[attr-defined]  # it may have one
            return content
    return _unwrapped(str(message or error)).encode("utf-8", "replace")


def _unwrapped(text: str) -> str:
    return _WRAPPING.sub("", text.strip())
