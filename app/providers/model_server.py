"""One HTTP server with one key: requests with their headers and limits, and the reading of refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httpx

from app import __version__
from app.providers.classify import Symptom
from app.providers.errors import PageInstead, StreamSilent, StreamUnreadable
from app.providers.failures import read_body

_HEADERS = {
    "accept": "text/event-stream, application/json",
    "accept-encoding": "identity",
    "user-agent": f"plancia/{__version__}",
}
JSON = "application/json"
_LONGEST_REFUSAL = 64 * 1024
_REFUSAL_SECONDS = 10.0

_PACKED_ONCE = frozenset({"", "identity", "gzip", "deflate"})
"""None is asked for, yet some send one. One layer holds at most a thousand times its size, two a million times."""


class ModelServer:
    """Sends; what comes back is open and closed by the caller."""

    def __init__(
        self, client: httpx.AsyncClient, root: str, credentials: Mapping[str, str], connect: float
    ) -> None:
        """``credentials`` are headers; ``connect``: seconds to reach it. ``client`` is closed by its owner."""
        self._client = client
        self._root = root
        self._headers = {**_HEADERS, **credentials}
        # Reads are timed by what they bring; httpx would take any byte for a sign of life.
        self._extensions = {"timeout": httpx.Timeout(None, connect=connect, pool=connect).as_dict()}
        self._heads: dict[tuple[str, str | None], tuple[httpx.URL, httpx.Headers]] = {}
        """By path and media type; None for a request without a body."""

    async def send(
        self, method: str, path: str, body: bytes | None, patience: float, media_type: str = JSON
    ) -> httpx.Response:
        """The response when its head is there, whatever its status; redirects are not followed.

        Raises ``StreamSilent`` after ``patience`` seconds, ``PageInstead`` for a web page with status 200,
        ``StreamUnreadable`` for a body that is packed otherwise than once, and what httpx raises.
        """
        request = self._request(method, path, body, media_type)
        try:
            async with asyncio.timeout(patience):
                response = await self._client.send(request, stream=True, follow_redirects=False)
        except TimeoutError:
            raise StreamSilent("first token", patience) from None
        if response.headers.get("content-encoding", "").strip().lower() not in _PACKED_ONCE:
            await response.aclose()
            raise StreamUnreadable("packed in a way that was not asked for")
        if response.status_code == httpx.codes.OK and "html" in response.headers.get("content-type", ""):
            await response.aclose()
            raise PageInstead("text/html")
        return response

    def _request(self, method: str, path: str, body: bytes | None, media_type: str) -> httpx.Request:
        """Built here, as httpx would merge and parse again at every call what never changes."""
        kind = media_type if body is not None else None
        url, headers = self._heads.get((path, kind)) or self._head(path, kind)
        content = httpx.ByteStream(body or b"")
        request = httpx.Request(method, url, headers=headers, stream=content, extensions=self._extensions)
        if body is not None:
            request.headers["content-length"] = str(len(body))
        return request

    def _head(self, path: str, media_type: str | None) -> tuple[httpx.URL, httpx.Headers]:
        """Only once there is a request: an address may be none, and a key may hold signs that no header has."""
        url = httpx.URL(f"{self._root}/{path}")
        headers = httpx.Headers({"host": url.netloc.decode("ascii"), **self._headers})
        if media_type is not None:
            headers["content-type"] = media_type
        return self._heads.setdefault((path, media_type), (url, headers))


async def read_refusal(response: httpx.Response) -> Symptom:
    """What a response that is no answer says, as far as it says it soon; closes the response."""
    kept = b""
    try:
        async with asyncio.timeout(_REFUSAL_SECONDS):
            async for piece in response.aiter_bytes():
                kept += piece
                if len(kept) > _LONGEST_REFUSAL:
                    break
    except (TimeoutError, httpx.HTTPError):
        pass
    finally:
        await response.aclose()
    return read_body(response.status_code, kept)


def bearer(key: str) -> Mapping[str, str]:
    """The header that goes with a key, as most servers want it."""
    return {"authorization": f"Bearer {key}"} if key else {}
