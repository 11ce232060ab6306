"""The line between a browser and Plancia: an HTTP proxy of our own that a story can cut at any byte.

A context that is made with ``proxy={"server": line.url, "bypass": "<-loopback>"}`` speaks through it.
"""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

_PIECE = 65_536


class Line:
    """Relays one request a connection. ``cut`` breaks what is open, ``down`` refuses what comes next as well."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._changed = threading.Condition()
        self._streams: set[socket.socket] = set()
        self._budget: int | None = None
        self._cuts = 0
        self._lost = 0
        self._up = True
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut_after(self, bytes_more: int) -> None:
        """The page's stream breaks once it has carried so many bytes more, in the middle of an event if need be."""
        with self._changed:
            self._budget = bytes_more

    def wait_cut(self, times: int) -> None:
        """Returns when the stream has been cut so often; raises where that does not come to pass."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._cuts >= times, timeout=10), "No stream was cut."

    def cut(self) -> None:
        """Every open stream breaks now."""
        with self._changed:
            open_ones, self._streams = self._streams, set()
            self._cuts += len(open_ones)
            self._changed.notify_all()
        for each in open_ones:
            _break(each)

    def lose_answers(self, count: int) -> None:
        """The next so many forms reach the server, but their answers never come back."""
        self._lost = count

    def down(self) -> None:
        """As if the server were gone: what is open breaks, nothing new gets through."""
        self._up = False
        self.cut()

    def up(self) -> None:
        self._up = True

    def close(self) -> None:
        self._up = False
        self._listener.close()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(browser,), daemon=True).start()

    def _relay(self, browser: socket.socket) -> None:
        with browser:
            try:
                request = _read_request(browser)
                if request is None or not self._up:
                    return
                host, path, data = request
                with socket.create_connection(host) as server:
                    server.sendall(data)
                    if data.startswith(b"POST") and self._lost:
                        self._lost -= 1
                        server.recv(_PIECE)
                        return
                    self._carry(server, browser, is_stream="/stream" in path)
            except OSError:
                return

    def _carry(self, server: socket.socket, browser: socket.socket, *, is_stream: bool) -> None:
        if is_stream:
            with self._changed:
                self._streams.add(browser)
        try:
            while piece := server.recv(_PIECE):
                allowed = self._allowed(len(piece)) if is_stream else None
                browser.sendall(piece[:allowed])
                if allowed is not None:
                    self.cut()
                    return
        finally:
            with self._changed:
                self._streams.discard(browser)

    def _allowed(self, size: int) -> int | None:
        """How much of a piece still passes before the cut; None for all of it and on."""
        with self._changed:
            if self._budget is None:
                return None
            if size <= self._budget:
                self._budget -= size
                return None
            allowed, self._budget = self._budget, None
            return allowed


def _read_request(browser: socket.socket) -> tuple[tuple[str, int], str, bytes] | None:
    """Where it goes, its path, and its bytes as the server wants them; None for what a browser asks elsewhere."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = browser.recv(_PIECE)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *fields = head.split(b"\r\n")
    method, address, version = first.split(b" ")
    if not address.startswith(b"http://127.0.0.1:"):
        return None
    place, _, path = address.partition(b"://")[2].partition(b"/")
    kept = [field for field in fields if not field.lower().startswith((b"connection:", b"proxy-connection:"))]
    size = next((int(f.partition(b":")[2]) for f in kept if f.lower().startswith(b"content-length:")), 0)
    while len(body) < size:
        body += browser.recv(_PIECE)
    name, _, port = place.decode().partition(":")
    line = b" ".join((method, b"/" + path, version))
    return (
        (name, int(port)),
        path.decode(),
        b"\r\n".join((line, *kept, b"connection: close", b"", b"")) + body,
    )


def _break(stream: socket.socket) -> None:
    try:
        stream.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
