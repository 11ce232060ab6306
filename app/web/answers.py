"""Answers of the gate: made once at start, sent without touching the application behind it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from app.web.errors import WORDS
from app.web.rendering import Templates
from app.web.response_headers import CONTENT_SECURITY_POLICY

_HTML = (b"content-type", b"text/html; charset=utf-8")
_TEXT = (b"content-type", b"text/plain; charset=utf-8")

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response, as an ASGI application."""

    status: int
    body: bytes
    headers: Sequence[Header] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = (b"content-length", str(len(self.body)).encode())
        await send({"type": "http.response.start", "status": self.status, "headers": [*self.headers, length]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.body})


class Refusals:
    """A page in words for each way of being refused; a short sentence for a script."""

    STATUSES = (401, 403, 405, 413)

    def __init__(self, templates: Templates) -> None:
        style = templates.render("errors/refused.css")
        digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = CONTENT_SECURITY_POLICY.replace("style-src 'self'", f"style-src 'sha256-{digest}'")
        self._policy: Header = (b"content-security-policy", policy.encode())
        self._pages: Mapping[int, bytes] = {
            status: templates.render("errors/refused.html", status=status, words=WORDS[status]).encode()
            for status in self.STATUSES
        }

    def answer(self, status: int, scope: Scope, *headers: Header) -> Answer:
        if any(name == b"sec-fetch-dest" and value == b"empty" for name, value in scope["headers"]):
            return Answer(status, WORDS[status].sentence.encode(), (_TEXT, *headers))
        return Answer(status, self._pages[status], (_HTML, self._policy, *headers))
