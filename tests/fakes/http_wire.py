"""HTTP/1.1 on a bare asyncio transport: whole requests in, every byte of a response under our control.

A library would send well-formed responses only; here a response can stop, be torn down or be nonsense.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import struct
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    connection: int = 0
    """The number of the connection it came on."""


class ConnectionGone(Exception):
    """The response ended early because the script wanted it so."""


class Reply:
    """One response. ``start`` and ``chunk`` stream it, ``whole`` sends it at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.started = False

    def start(self, status: int, headers: Mapping[str, str]) -> None:
        self.started = True
        fields = {"transfer-encoding": "chunked", **headers}
        self._connection.write(_head(status, fields))

    async def chunk(self, data: bytes) -> None:
        self._connection.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self._connection.drained()

    def end(self) -> None:
        self._connection.write(b"0\r\n\r\n")

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.started = True
        self._connection.write(_head(status, {"content-length": str(len(body)), **headers}) + body)

    def json(self, status: int, value: Any) -> None:
        self.whole(status, {"content-type": "application/json"}, json.dumps(value).encode())

    def cut(self) -> None:
        """Close without the end of the body."""
        self._connection.close()
        raise ConnectionGone("cut")

    def reset(self) -> None:
        """Tear the connection down with RST, what was not yet sent is lost."""
        self._connection.reset()
        raise ConnectionGone("reset")


_numbers = itertools.count(1)

Handler = Callable[[Request, Reply], Awaitable[None]]


class Connection(asyncio.Protocol):
    """One client: its requests are answered one after the other; a client that leaves cancels the answer."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._number = next(_numbers)
        self._buffer = bytearray()
        self._answering: asyncio.Task[None] | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._buffer[:1].isalpha():
            self.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.close()
        self._begin()

    def connection_lost(self, error: Exception | None) -> None:
        self._flowing.set()
        if self._answering:
            self._answering.cancel()

    def pause_writing(self) -> None:
        self._flowing.clear()

    def resume_writing(self) -> None:
        self._flowing.set()

    async def drained(self) -> None:
        if not self._flowing.is_set():
            await self._flowing.wait()

    def write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        self._transport.close()

    def reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._transport.abort()

    def _begin(self) -> None:
        if self._answering is None and (request := _take_request(self._buffer)):
            request = replace(request, connection=self._number)
            self._answering = asyncio.get_running_loop().create_task(self._answer(request))

    async def _answer(self, request: Request) -> None:
        try:
            await self._handler(request, Reply(self))
        except ConnectionGone:
            pass
        except Exception:  # noqa: BLE001 - a defect of the fake must end the connection, not leave it hanging
            traceback.print_exc()
            self.reset()
        else:
            self._answering = None
            self._begin()


def _take_request(buffer: bytearray) -> Request | None:
    """The first whole request, removed from the buffer; None while it is not whole."""
    head, mark, rest = bytes(buffer).partition(b"\r\n\r\n")
    if not mark:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    length = int(headers.get("content-length", 0))
    if len(rest) < length:
        return None
    del buffer[: len(head) + 4 + length]
    method, target, _ = first.split(" ", 2)
    url = urlsplit(target)
    return Request(method, url.path, dict(parse_qsl(url.query)), headers, rest[:length])


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    known = {one.value: one.phrase for one in HTTPStatus}
    lines = [
        f"HTTP/1.1 {status} {known.get(status, 'Unknown')}",
        *(f"{name}: {text}" for name, text in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
