"""The socket of the page: taken before anything else, and every reason why it cannot be, in words."""

from __future__ import annotations

import errno
import ipaddress
import socket
from argparse import ArgumentTypeError
from collections.abc import Mapping

from app.commands.errors import CommandError, UsageError
from app.commands.grammar import port

HOST = "127.0.0.1"
PORT = 8484

_BACKLOG = 512


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; ``port`` 0 takes a free one. Raises ``CommandError``."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise CommandError(
            f'"{host}" is no address to listen on. Use --host 127.0.0.1, or the address of this machine.'
        ) from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _refusal(error, host, port) from None
    listener.setblocking(False)
    return listener


class PortTaken(CommandError):
    """Somebody else listens there."""


def chosen_port(given: int | None, environment: Mapping[str, str]) -> int:
    """What was typed, else ``PLANCIA_PORT``, else the usual one. Raises ``UsageError``."""
    if given is not None:
        return given
    named = environment.get("PLANCIA_PORT")
    try:
        return port(named) if named else PORT
    except ArgumentTypeError as error:
        raise UsageError(f"PLANCIA_PORT: {error}.") from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it. A name counts by what it stands for."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(address[4][0]).partition("%")[0]).is_loopback for address in found)


def url_of(host: str, port: int) -> str:
    """What a browser on this machine opens for a socket's address; that of every address is reached by loopback."""
    address = ipaddress.ip_address(host.partition("%")[0])
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    return f"http://[{host}]:{port}" if address.version == 6 else f"http://{host}:{port}"


def _refusal(error: OSError, host: str, port: int) -> CommandError:
    match error.errno:
        case errno.EADDRINUSE:
            return PortTaken(
                f"Port {port} is taken by another program. Choose another one with --port, or let the system choose "
                "with `--port 0`."
            )
        case errno.EACCES | errno.EPERM:
            return CommandError(
                f"This user may not listen on port {port}. Choose one above 1023 with --port."
            )
        case errno.EADDRNOTAVAIL:
            return CommandError(
                f"{host} is not an address of this machine. Use --host 127.0.0.1, or one that it has."
            )
        case _:
            return CommandError(
                f"Plancia cannot listen on {host}, port {port} ({error.strerror}). Choose others: --host, --port."
            )
