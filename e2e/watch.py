"""What a page must never do: fail, break its own policy, or ask another host for anything."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage

LINE_BROKEN = ("net::ERR_", "htmx:sse:error", "htmx:error")
"""What a browser writes to its console when the server is gone: the story is about that."""


class Watch:
    """Stands over every context of one story. ``allow`` names what the story itself brings about."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._allowed: tuple[str, ...] = ()

    def allow(self, *parts: str) -> None:
        self._allowed += parts

    def over(self, context: BrowserContext) -> None:
        context.on("request", lambda request: self._request(request.url))
        context.on("console", self._console)
        context.on("weberror", lambda failure: self._found.append(f"script: {failure.error}"))

    @property
    def found(self) -> list[str]:
        return [each for each in self._found if not any(part in each for part in self._allowed)]

    def _request(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1":
            self._found.append(f"request: {address}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._found.append(f"console: {message.text}")
