"""A person without a browser: signs in to a live Plancia over HTTP, says things, waits for what the stream shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

_ARTICLE = re.compile(
    r'<article class="entry[^"]*" id="(?P<id>[^"]+)" data-kind="(?P<kind>\w+)" data-member="\w+"'
    r' data-state="(?P<state>\w+)"'
)


class Pilot:
    """One signed-in client. Every wait is bounded by the timeout of the connection."""

    def __init__(self, login: str) -> None:
        parts = urlsplit(login)
        origin = f"{parts.scheme}://{parts.netloc}"
        self._http = httpx.Client(
            base_url=origin,
            headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"},
            timeout=30,
            trust_env=False,
        )
        assert self._http.get(login).status_code == 303

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def begin(self, text: str) -> str:
        """Make a conversation that starts with ``text``; returns its address."""
        answer = self._http.post("/conversations", data={"text": text})
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def post(self, address: str, act: str, **fields: str) -> int:
        return self._http.post(f"{address}/{act}", data=fields).status_code

    def page(self, address: str) -> str:
        answer = self._http.get(address)
        answer.raise_for_status()
        return answer.text

    def articles(self, address: str) -> list[tuple[str, str]]:
        """Kind and state of every article of the page, in order."""
        return [(found["kind"], found["state"]) for found in _ARTICLE.finditer(self.page(address))]

    def until(self, address: str, wanted: str) -> None:
        """Return when the page, now or by its stream, holds ``wanted``."""
        page = self.page(address)
        if wanted in page:
            return
        cursor = re.search(r"/stream\?after=([^\"]+)", page)
        assert cursor is not None
        for text in self._stream(f"{address}/stream?after={cursor[1]}"):
            if wanted in text:
                return
        raise AssertionError(f"The stream ended without {wanted!r}.")

    def _stream(self, address: str) -> Iterator[str]:
        with self._http.stream("GET", address) as answer:
            yield from answer.iter_text()
