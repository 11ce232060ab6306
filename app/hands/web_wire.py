"""One request to a web server, at an address that was checked, with a limit on what it may bring.

look the name up → check every number it leads to → connect to one of these numbers → read, unpacked, up to the limit

The number that was checked is the one in the request, so no second look-up can lead elsewhere; the name stays in the
header ``Host`` and in TLS. There are no cookies, no proxy and no redirects here: whoever follows one asks anew.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address

import anyio
import httpx

from app import __version__
from app.hands.errors import Refused
from app.hands.limits import WEB_CONNECT_SECONDS
from app.hands.unpacking import Unpacker
from app.hands.web_address import WebAddress, find_number, not_public, whose

MOST_NUMBERS = 4
"""Of a host: how many are tried before it counts as not reachable."""

USER_AGENT = f"Mozilla/5.0 (compatible; Plancia/{__version__})"

Number = IPv4Address | IPv6Address

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The numbers that a name leads to. Raises ``OSError``."""

Owner = Callable[[Number], str | None]
"""Whose an address is that may not be connected to; None for one that may."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. Headers are sent beside ``Host``, ``User-Agent`` and ``Accept-Encoding``."""

    address: WebAddress
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, unpacked."""

    address: WebAddress
    status: int
    headers: httpx.Headers
    body: bytes
    is_cut: bool
    """There is more than the limit."""

    @property
    def status_line(self) -> str:
        """``HTTP 404 Not Found``."""
        return f"HTTP {self.status} {httpx.codes.get_reason_phrase(self.status)}".rstrip()


@dataclass(frozen=True, slots=True)
class Wire:
    """How this machine speaks to web servers."""

    resolve: Resolve
    open_transport: Callable[[], httpx.AsyncBaseTransport]
    owner: Owner
    has_proxy: bool = False
    """The environment names a proxy, which is not used: where it leads could not be checked."""

    async def send(self, asked: Asked, most: int) -> Answer:
        """The answer, with ``most`` bytes of its body at most. Raises ``Refused``."""
        numbers = await self._numbers(asked.address)
        with self._failing_in_words(asked.address):
            async with self.open_transport() as transport:
                response = await _first_response(transport, asked, numbers)
                async with aclosing(response):
                    body, is_cut = await _read(response, most, asked.address)
        return Answer(asked.address, response.status_code, response.headers, body, is_cut)

    async def _numbers(self, address: WebAddress) -> list[Number]:
        """Where to connect to. Raises ``Refused`` where any of them may not be."""
        literal = find_number(address.host)
        numbers = [literal] if literal else await self._looked_up(address)
        for number in numbers:
            owner = self.owner(number)
            if owner:
                raise not_public(address, owner, None if literal else number)
        return numbers[:MOST_NUMBERS]

    async def _looked_up(self, address: WebAddress) -> list[Number]:
        try:
            found = await self.resolve(address.host, address.port)
            numbers = [ip_address(number) for number in dict.fromkeys(found)]
        except (OSError, ValueError):
            numbers = []
        if not numbers:
            raise Refused(
                "E_NOT_FOUND",
                f"The name {address.host} leads nowhere, or this machine is offline. Check the address."
                + self._about_proxy(),
                transient=True,
            )
        return numbers

    @contextmanager
    def _failing_in_words(self, address: WebAddress) -> Iterator[None]:
        try:
            yield
        except (httpx.LocalProtocolError, UnicodeError):
            # From None, and without its words: they may quote a key.
            raise Refused(
                "E_BAD_INPUT",
                f"The request to {address.host} cannot be written: a key or a header holds signs that cannot be sent. "
                "Ask the user to enter the key anew.",
            ) from None
        except httpx.TransportError as error:
            certificate = _certificate_error(error)
            if certificate:
                raise Refused(
                    "E_FAILED",
                    f"{address.host} cannot prove who it is ({certificate}). It is not fetched: use another source.",
                ) from error
            raise Refused(
                "E_FAILED",
                f"{address.host} did not answer as a web server does ({_said(error)}). Try again later, or use another "
                f"source.{self._about_proxy()}",
                transient=True,
            ) from error

    def _about_proxy(self) -> str:
        if not self.has_proxy:
            return ""
        return " The environment names a proxy. It is not used for this, because what it connects to cannot be checked."


def straight_wire(owner: Owner, *, has_proxy: bool = False) -> Wire:
    """The wire over this machine's own network."""
    return Wire(resolve, lambda: httpx.AsyncHTTPTransport(verify=_context()), owner, has_proxy)


async def resolve(host: str, port: int) -> list[str]:
    """As the system looks names up. See ``Resolve``; the look-up itself cannot be broken off."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [place[0] for *_, place in found]


def owner_for_pages(number: Number) -> str | None:
    """See ``Owner``: only what is public, and not this machine by its public address either."""
    return whose(number) or ("this machine" if _is_ours(number) else None)


def owner_for_engines(number: Number) -> str | None:
    """See ``Owner``: what the user entered may be anywhere."""
    return None


def _is_ours(number: Number) -> bool:
    """Whether this machine would reach itself there. Nothing is sent."""
    family = socket.AF_INET if number.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(number), 9))
            return ip_address(probe.getsockname()[0]) == number
    except OSError:
        return False  # there is no way there at all


async def _first_response(
    transport: httpx.AsyncBaseTransport, asked: Asked, numbers: Sequence[Number]
) -> httpx.Response:
    """From the first number that can be connected to. Nothing was sent to the others."""
    *others, last = numbers
    for number in others:
        try:
            return await transport.handle_async_request(_request(asked, number))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if _certificate_error(error):
                raise
    return await transport.handle_async_request(_request(asked, last))


def _request(asked: Asked, number: Number) -> httpx.Request:
    address = asked.address
    headers = {
        "Host": address.authority,
        "User-Agent": USER_AGENT,
        "Accept-Encoding": "gzip",
        "Connection": "close",
        **asked.headers,
    }
    host = f"[{number}]" if number.version == 6 else str(number)
    return httpx.Request(
        asked.method,
        httpx.URL(f"{address.scheme}://{host}:{address.port}{address.target}"),
        headers=headers,
        content=asked.body,
        extensions={"sni_hostname": address.host, "timeout": {"connect": WEB_CONNECT_SECONDS}},
    )


async def _read(response: httpx.Response, most: int, address: WebAddress) -> tuple[bytes, bool]:
    unpacker = Unpacker(response.headers.get("content-encoding", ""), most, address.host)
    async for piece in _pieces(response):
        unpacker.add(piece)
        if unpacker.is_full:
            break
    return unpacker.taken, unpacker.is_full


async def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)
    async for piece in stream:
        yield piece


def _certificate_error(error: BaseException | None) -> str | None:
    """What is wrong with a certificate, in OpenSSL's words, where that is what failed."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return None


def _said(error: httpx.TransportError) -> str:
    """In our words or the system's: what a server sent in place of HTTP is not quoted."""
    match error:
        case httpx.ConnectTimeout():
            return f"no connection within {WEB_CONNECT_SECONDS:g} s"
        case httpx.ConnectError():
            return str(error) or "no connection"
        case httpx.ProtocolError():
            return "what came is no HTTP, or not all of it"
        case _:
            return "the connection broke off"


@cache
def _context() -> ssl.SSLContext:
    """Verifies servers, ``SSL_CERT_FILE`` included. Made once: reading all authorities takes a while."""
    return httpx.create_ssl_context()
