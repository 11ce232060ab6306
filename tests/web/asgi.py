"""A request straight into an ASGI application, header by header, as no client library would send it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
from starlette.types import ASGIApp, Message


@dataclass(slots=True)
class Got:
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def text(self) -> str:
        return self.body.decode()


async def ask(
    app: ASGIApp,
    method: str = "GET",
    path: str = "/",
    headers: Sequence[tuple[str, str]] = (),
    *,
    query: str = "",
    body: Sequence[bytes] = (b"",),
) -> Got:
    """One HTTP request; ``body`` arrives in these pieces."""
    got = Got()
    pieces = list(body)

    async def receive() -> Message:
        if not pieces:
            await anyio.sleep_forever()  # a browser that stays on the line
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            got.status = message["status"]
            got.headers = [
                (key.decode("latin-1"), value.decode("latin-1")) for key, value in message["headers"]
            ]
        else:
            got.body += message.get("body", b"")

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8484),
        "root_path": "",
    }
    try:
        await app(scope, receive, send)
    except Exception:
        if not got.status:
            raise
    return got
