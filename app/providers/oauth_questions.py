"""Questions to a login service: small JSON answers within limits of size and time, redirects never followed."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec

from app import __version__
from app.infra.redaction import Redactor
from app.providers import oauth_refusals as refusals
from app.providers.failures import read_exception
from app.providers.sentences import Callee, provider_error

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0
"""For a whole question: a new refresh token that comes too late is lost."""

_LONGEST = 256 * 1024
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": f"plancia/{__version__}",
}


@dataclass(frozen=True, slots=True)
class Questions:
    """``source`` is who is named where the network fails; ``client`` is closed by its owner."""

    source: str
    client: Callable[[], httpx.AsyncClient]

    async def get(self, url: str) -> Mapping[str, Any] | None:
        """The JSON object there, None where there is none. Raises ``ProviderError`` for the network."""
        status, answer = await self._send("GET", url, {}, None)
        return answer if status == 200 and answer else None

    async def post_form(
        self, url: str, fields: Mapping[str, str], headers: Mapping[str, str] = {}
    ) -> tuple[int, Mapping[str, Any]]:
        """Status and JSON object, an empty one where it is none. Raises ``ProviderError`` for the network."""
        form = {"content-type": "application/x-www-form-urlencoded", **headers}
        return await self._send("POST", url, form, urlencode(fields).encode())

    async def post_json(self, url: str, value: Any) -> tuple[int, Mapping[str, Any]]:
        """As ``post_form``."""
        return await self._send("POST", url, {"content-type": "application/json"}, msgspec.json.encode(value))

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, Mapping[str, Any]]:
        import httpx

        try:
            request = httpx.Request(method, url, headers={**_HEADERS, **headers}, content=body)
            request.extensions["timeout"] = httpx.Timeout(SECONDS).as_dict()
            async with asyncio.timeout(SECONDS):
                response = await self.client().send(request, stream=True, follow_redirects=False)
                try:
                    return response.status_code, _object(await _read(response))
                finally:
                    await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            callee = Callee(self.source, "", url, True, Redactor())
            raise provider_error(read_exception(error), callee) from error


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine, whatever a resolver may say."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_address(source: str, what: str, url: Any, *, near: bool) -> str:
    """An address to which secrets may go: https, or plain http on this machine where ``near``.

    Raises ``ProviderError`` (local).
    """
    text = url if isinstance(url, str) else ""
    parts = _parts(text)
    safe = parts is not None and (parts.scheme == "https" or (parts.scheme == "http" and near))
    if parts is None or not safe or (parts.scheme == "http" and not is_loopback(text)):
        raise refusals.unsafe_address(source, what, text)
    return text


def _parts(url: str) -> SplitResult | None:
    """None for what is no plain address of a host."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url or len(url) > 2000:
        return None
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if named and parts.username is None and not parts.fragment else None


async def _read(response: httpx.Response) -> bytes:
    """The body, or nothing of one that is too long."""
    kept = b""
    async for piece in response.aiter_bytes():
        kept += piece
        if len(kept) > _LONGEST:
            return b""
    return kept


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        return {}
    return value if isinstance(value, dict) else {}
