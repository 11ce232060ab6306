"""Addresses of the web: a URL as it is asked for, and which numbers on the network are public. Pure.

The registry behind the tables is IANA's of special-purpose addresses; it stands here and not in ``ipaddress``, whose
answers differ between releases of Python.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx

from app.hands.errors import Refused

LONGEST_URL = 8_000
PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_SLASH = re.compile(r"[/?#]")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")

_NOT_PUBLIC_4 = (
    ("127.0.0.0/8", "this machine"),
    ("0.0.0.0/8", "this machine"),
    ("10.0.0.0/8", "a private network"),
    ("172.16.0.0/12", "a private network"),
    ("192.168.0.0/16", "a private network"),
    ("100.64.0.0/10", "a provider's inner network"),
    ("169.254.0.0/16", "a local link, where clouds keep their metadata"),
    ("168.63.129.16/32", "a cloud's inner service"),
    ("192.0.0.0/24", "a protocol"),
    ("192.88.99.0/24", "a protocol"),
    ("192.0.2.0/24", "examples"),
    ("198.51.100.0/24", "examples"),
    ("203.0.113.0/24", "examples"),
    ("198.18.0.0/15", "measurements"),
    ("224.0.0.0/4", "many receivers"),
    ("240.0.0.0/4", "a reserved range"),
)
_NOT_PUBLIC_6 = (
    ("::1/128", "this machine"),
    ("::/128", "this machine"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "a local link"),
    ("fec0::/10", "a private network"),
    ("ff00::/8", "many receivers"),
    ("2001:db8::/32", "examples"),
    ("3fff::/20", "examples"),
    ("2001::/23", "a protocol"),
    ("2002::/16", "a tunnel, which may lead anywhere"),
)
_TABLE_4 = tuple((IPv4Network(network), whose) for network, whose in _NOT_PUBLIC_4)
_TABLE_6 = tuple((IPv6Network(network), whose) for network, whose in _NOT_PUBLIC_6)
_GLOBAL_6 = IPv6Network("2000::/3")
_HOLD_A_4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""Spellings of an IPv4 address: mapped, and as NAT64 writes it."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """Where a request goes. ``str`` gives the URL as it is asked for, without a fragment."""

    scheme: str
    host: str
    """ASCII, lower case, and a number in its usual spelling: what a person has to be shown."""
    port: int
    target: str
    """Path and query, percent-encoded."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def authority(self) -> str:
        """The host as the header ``Host`` names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def public_address(url: str) -> WebAddress:
    """Raises ``Refused`` for what is no address of a public web server, as far as the words tell.

    Where a name leads is looked at when it is connected to.
    """
    address = web_address(url)
    if address.host == "localhost" or address.host.endswith(".localhost"):
        raise not_public(address, "this machine")
    number = find_number(address.host)
    owner = number and whose(number)
    if owner:
        raise not_public(address, owner)
    return address


def web_address(url: str) -> WebAddress:
    """The address of any web server. Raises ``Refused`` for what is none."""
    if len(url) > LONGEST_URL:
        raise Refused("E_BAD_INPUT", f"The URL has more than {LONGEST_URL:,} characters. Use a shorter one.")
    try:
        parsed = httpx.URL(url.strip())
        host = parsed.raw_host.decode("ascii").lower()
    except (httpx.InvalidURL, UnicodeError):
        raise _bad(url, "it is no URL") from None
    if parsed.scheme not in PORTS:
        raise _bad(url, "only http and https addresses can")
    if "@" in _SLASH.split(url.partition("://")[2])[0]:
        raise Refused(
            "E_BAD_INPUT", "The URL holds a user name or a password, which are never sent. Leave them out."
        )
    port = PORTS[parsed.scheme] if parsed.port is None else parsed.port
    if not 0 < port < 65_536:
        raise _bad(url, f"there is no port {port}")
    return WebAddress(parsed.scheme, _plain(host, url), port, parsed.raw_path.decode("ascii"))


def find_number(host: str) -> IPv4Address | IPv6Address | None:
    """The number that a host is written as; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def whose(address: IPv4Address | IPv6Address) -> str | None:
    """Whose an address is, in words, that is not public; None for a public one."""
    if isinstance(address, IPv4Address):
        return next((owner for network, owner in _TABLE_4 if address in network), None)
    if any(address in network for network in _HOLD_A_4):
        return whose(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address.scope_id is not None:
        return "a local link"
    special = next((owner for network, owner in _TABLE_6 if address in network), None)
    return special or (None if address in _GLOBAL_6 else "a reserved range")


def not_public(address: WebAddress, owner: str, number: IPv4Address | IPv6Address | None = None) -> Refused:
    """That an address is refused, and why."""
    leads = f"{address.host} leads to {number}, which" if number else address.host
    return Refused(
        "E_DENIED",
        f"{leads} belongs to {owner}. Only public addresses can be fetched: use another one, or ask the user "
        "for what is there.",
    )


def _plain(host: str, url: str) -> str:
    """The host in the one spelling in which it is shown, looked up and connected to."""
    host = host.removesuffix(".")
    if ":" in host:
        try:
            return str(IPv6Address(host))
        except ValueError:
            raise _bad(url, f"{host} is no address") from None
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return str(ip_address(socket.inet_aton(host)))
        except (OSError, ValueError):
            raise _bad(url, f"{host} is no address") from None
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise _bad(url, "it names no host" if not host else f"{host!a} is no name of a host")
    return host


def _bad(url: str, why: str) -> Refused:
    shown = url if len(url) <= 200 else f"{url[:200]}…"
    return Refused(
        "E_BAD_INPUT", f"{shown!r} cannot be fetched: {why}. Write it like https://example.com/page."
    )
