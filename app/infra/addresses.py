"""Under which names this machine is reached when a server listens on an address of it."""

from __future__ import annotations

import socket
from ipaddress import ip_address

ANYWHERE = ("0.0.0.0", "::")


def names_of(host: str) -> tuple[str, ...]:
    """What a browser may call a server that listens on ``host``: the host itself, or all names of this machine.

    Only names that this machine gives itself: one that somebody else's DNS points here is none of them.
    """
    if host not in ANYWHERE:
        return (host,)
    name = socket.gethostname().lower()
    return tuple(dict.fromkeys((name, f"{name}.local", *_addresses_of(name))))


def _addresses_of(name: str) -> list[str]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [address for *_, (address, *_) in found if isinstance(address, str) and _is_plain(address)]


def _is_plain(address: str) -> bool:
    """Not one with a zone, which no browser sends."""
    try:
        ip_address(address)
    except ValueError:
        return False
    return "%" not in address
