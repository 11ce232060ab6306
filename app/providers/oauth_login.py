"""A login from its beginning to its grant, for whoever leads the user through it: a command or a page.

attempt = await begin_login(source, wish, client=…, clock=…, before=…, new_id=…)
attempt.step                     what the user does now
await attempt.poll()             the grant, or None as long as the user is at it
await attempt.pause()            until a poll makes sense again
attempt.close()                  always, in the end
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.infra.clock import Clock
from app.providers import oauth_refusals as refusals
from app.providers.oauth import Client, Grant, renewed
from app.providers.oauth_flows import BrowserFlow, DeviceFlow, Flow, LoginStep, Way, become_client
from app.providers.oauth_questions import Questions
from app.providers.oauth_return import Return
from app.providers.oauth_server import LoginService, find_login_service
from app.providers.refusals import no_address
from app.providers.sources import SourceConfig

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class LoginWish:
    """What the user said of a login; what is empty is as the login before had it, else as the gateway says."""

    ways: tuple[Way, ...] = ("device", "browser")
    """Which are fine, the preferred one first."""
    issuer: str = ""
    client_id: str = ""
    scope: str = ""
    redirect_port: int = 0
    """Where the browser comes back to; 0 = a free port."""


@dataclass(slots=True)
class Attempt:
    """A login under way."""

    source: str
    _flow: Flow
    _grant: Grant
    _clock: Clock
    _asking: bool = False

    @property
    def step(self) -> LoginStep:
        return self._flow.step

    async def poll(self) -> Grant | None:
        """None while the user is at it. Raises ``ProviderError`` where nothing will come of it any more."""
        if self._asking:
            return None  # somebody else looks at it too; a code is asked with only once
        self._asking = True
        try:
            asked_at = self._clock.now().timestamp()
            tokens = await self._flow.poll()
        finally:
            self._asking = False
        return None if tokens is None else renewed(self._grant, tokens, asked_at)

    async def pause(self) -> None:
        """Returns when it makes sense to poll again."""
        await self._flow.pause()

    def close(self) -> None:
        self._flow.close()


async def begin_login(
    source: SourceConfig,
    wish: LoginWish,
    *,
    client: Callable[[], httpx.AsyncClient],
    clock: Clock,
    new_id: Callable[[str], str],
    before: Grant | None = None,
) -> Attempt:
    """Raises ``ProviderError``: local for what the user can put right, else what the network did."""
    if not source.base_url:
        raise no_address(source.name)
    questions = Questions(source.name, client)
    issuer = wish.issuer or (before.issuer if before else "")
    service = await find_login_service(questions, source.base_url, issuer)
    known = Client(wish.client_id) if wish.client_id else None
    if known is None and before is not None and not before.registered:
        known = before.client
    scope = wish.scope or (before.scope if before else "") or service.scope
    if _way(source.name, service, wish.ways) == "device":
        as_whom = known or await become_client(questions, service)
        flow: Flow = await DeviceFlow.begin(questions, service, as_whom, scope, clock)
    else:
        back = Return(secrets.token_urlsafe(32), wish.redirect_port)
        await back.listen()
        try:
            as_whom = known or await become_client(questions, service, back.address)
        except BaseException:
            back.close()
            raise
        flow = BrowserFlow.begin(questions, service, as_whom, scope, clock, back)
    grant = Grant(
        id=new_id("login"),
        issuer=service.issuer,
        token_endpoint=service.token,
        client=as_whom,
        issued=0.0,
        scope=scope,
        resource=service.resource,
        registered=known is None,
    )
    return Attempt(source.name, flow, grant, clock)


def _way(source: str, service: LoginService, wished: tuple[Way, ...]) -> Way:
    """The first that the gateway offers. Raises ``ProviderError`` (local) where it offers none of them."""
    offered = {"device": service.device, "browser": service.authorization}
    for way in wished:
        if offered[way]:
            return way
    raise refusals.no_such_flow(source, wished)
