"""``FakeGateway``: starts the fake gateway as a process and steers it, its users and their browsers."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
import httpx

from tests.fakes.clock import FakeClock
from tests.fakes.llm_client import FakeLLM


class FakeGateway(FakeLLM):
    """One running gateway; its models answer as those of ``FakeLLM``."""

    module = "tests.fakes.oauth_gateway"

    def rule(self, **rules: Any) -> None:
        """See ``oauth_gateway``."""
        self._post("/oauth/set", rules)

    def advance(self, seconds: float) -> None:
        """Its clock moves on."""
        self._post("/oauth/advance", {"seconds": seconds})

    def allow(self, user_code: str | None = None, *, allow: bool = True) -> None:
        """The user answers on the page for codes."""
        self._post("/oauth/answer", {"user_code": user_code, "allow": allow})

    def expire(self) -> None:
        """Access tokens end before the time that was said."""
        self._post("/oauth/expire", {})

    def end(self) -> None:
        """Every login is over."""
        self._post("/oauth/end", {})

    def asked(self, grant_type: str = "") -> list[dict[str, Any]]:
        """The requests to the token endpoint; of one grant type."""
        found: list[dict[str, Any]] = self._http.get("/oauth/asked").json()
        return [one for one in found if grant_type in ("", one["grant_type"])]

    def renewals(self) -> int:
        return len(self.asked("refresh_token"))


async def visit(url: str) -> httpx.Response:
    """A browser whose user agrees to everything opens the address and ends where it is sent."""
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as browser:
        return await browser.get(url)


class SharedClock(FakeClock):
    """Moves the gateway's time with its own."""

    def __init__(self, gateway: FakeGateway) -> None:
        super().__init__()
        self._gateway = gateway

    async def sleep(self, seconds: float) -> None:
        await anyio.to_thread.run_sync(self._gateway.advance, seconds)
        await super().sleep(seconds)
