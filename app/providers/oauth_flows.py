"""The two ways to log in: by a code that is entered in any browser, and by the browser of this machine.

find the login service → become its client → tell the user what to do (``LoginStep``) → poll until there are tokens

A flow is driven by whoever waits: a command pauses between polls, a page polls when it is looked at.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, get_args
from urllib.parse import urlencode, urlsplit

import anyio

from app.engine.errors import ProviderError
from app.infra.clock import Clock
from app.providers import oauth_refusals as refusals
from app.providers.oauth import AuthMethod, Client, Denied, Tokens, challenge_of, read_tokens, seconds
from app.providers.oauth_questions import Questions, checked_address, is_loopback
from app.providers.oauth_return import HOST, PATH, Return
from app.providers.oauth_server import LoginService

_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL = 5.0
_BROWSER_SECONDS = 600.0
_WEATHER = frozenset({"timeout", "dropped", "server", "overloaded", "unreachable", "rate_limit"})
"""Failures that say nothing about the login: the next poll may do better."""


Way = Literal["browser", "device"]


@dataclass(frozen=True, slots=True)
class LoginStep:
    """What the user is to do now: open ``url`` and, where there is a ``user_code``, enter it there."""

    url: str
    expires: datetime
    user_code: str = ""
    full_url: str = ""
    """The same with the code filled in, where the gateway offers that."""


class Flow(Protocol):
    """A login under way."""

    step: LoginStep

    async def poll(self) -> Tokens | None:
        """None while the user is at it. Raises ``ProviderError`` where nothing will come of it any more."""
        ...

    async def pause(self) -> None:
        """Returns when it makes sense to poll again."""
        ...

    def close(self) -> None: ...


async def become_client(questions: Questions, service: LoginService, redirect: str = "") -> Client:
    """Registered for this login alone (RFC 7591): its way back is a port of its own. Raises ``ProviderError``."""
    if not service.registration:
        raise refusals.no_client_id(questions.source)
    types = ["authorization_code"] if redirect else [_DEVICE]
    about = {
        "client_name": "Plancia",
        "redirect_uris": [redirect or f"http://{HOST}{PATH}"],
        "grant_types": [*types, "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    status, answer = await questions.post_json(service.registration, about)
    id, secret = answer.get("client_id"), answer.get("client_secret")
    if status not in (200, 201) or not isinstance(id, str) or not id:
        denied = read_tokens(status, answer)
        raise refusals.not_registered(questions.source, denied if isinstance(denied, Denied) else None)
    if not isinstance(secret, str) or not secret:
        return Client(id)
    return Client(id, secret, _method(answer.get("token_endpoint_auth_method")))


def _method(named: Any) -> AuthMethod:
    """What the standard means where nothing is named."""
    return next((each for each in get_args(AuthMethod) if each == named), "client_secret_basic")


@dataclass(slots=True)
class DeviceFlow:
    """RFC 8628: needs no browser on this machine."""

    step: LoginStep
    _questions: Questions
    _service: LoginService
    _client: Client
    _clock: Clock
    _code: str
    _ends: float
    _interval: float
    _next: float

    @classmethod
    async def begin(
        cls, questions: Questions, service: LoginService, client: Client, scope: str, clock: Clock
    ) -> DeviceFlow:
        """Raises ``ProviderError``."""
        source = questions.source
        fields, headers = client.identify()
        asked = {**fields, **_said(scope=scope, resource=service.resource)}
        status, answer = await questions.post_form(service.device, asked, headers)
        code, user_code = answer.get("device_code"), answer.get("user_code")
        if not (isinstance(code, str) and isinstance(user_code, str) and code and user_code):
            denied = read_tokens(status, answer)
            raise _failure(source, service.device, denied)
        near = is_loopback(service.issuer)
        url, full = answer.get("verification_uri"), answer.get("verification_uri_complete")
        life = seconds(answer.get("expires_in")) or _BROWSER_SECONDS
        interval = seconds(answer.get("interval")) or _INTERVAL
        step = LoginStep(
            url=checked_address(source, "The page for codes", url, near=near),
            expires=clock.now() + timedelta(seconds=life),
            user_code=refusals.shown(user_code),
            full_url=checked_address(source, "The page for codes", full, near=near) if full else "",
        )
        now = clock.monotonic()
        return cls(step, questions, service, client, clock, code, now + life, interval, now + interval)

    async def poll(self) -> Tokens | None:
        """See ``Flow``. Asks no more often than the gateway wants it."""
        now = self._clock.monotonic()
        if now >= self._ends:
            raise refusals.refused_login(self._questions.source, Denied("expired_token"))
        if now < self._next:
            return None
        self._next = now + self._interval
        asked = {"grant_type": _DEVICE, "device_code": self._code}
        try:
            found = await _ask_tokens(self._questions, self._service, self._client, asked)
        except ProviderError as error:
            if error.kind not in _WEATHER:
                raise
            return None
        match found:
            case Tokens():
                return found
            case Denied("authorization_pending"):
                return None
            case Denied("slow_down"):
                self._interval += _INTERVAL
                self._next = now + self._interval
                return None
            case Denied():
                raise refusals.refused_login(self._questions.source, found)

    async def pause(self) -> None:
        await self._clock.sleep(max(0.0, self._next - self._clock.monotonic()))

    def close(self) -> None:
        """There is nothing open."""


@dataclass(slots=True)
class BrowserFlow:
    """An authorization code with PKCE, brought back to a port of this machine."""

    step: LoginStep
    _questions: Questions
    _service: LoginService
    _client: Client
    _clock: Clock
    _verifier: str
    _back: Return
    _ends: float

    @classmethod
    def begin(
        cls,
        questions: Questions,
        service: LoginService,
        client: Client,
        scope: str,
        clock: Clock,
        back: Return,
    ) -> BrowserFlow:
        """``back`` listens already and is closed with the flow."""
        verifier = secrets.token_urlsafe(48)
        asked = {
            "response_type": "code",
            "client_id": client.id,
            "redirect_uri": back.address,
            "state": back.state,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
            **_said(scope=scope, resource=service.resource),
        }
        joint = "&" if urlsplit(service.authorization).query else "?"
        step = LoginStep(
            url=f"{service.authorization}{joint}{urlencode(asked)}",
            expires=clock.now() + timedelta(seconds=_BROWSER_SECONDS),
        )
        ends = clock.monotonic() + _BROWSER_SECONDS
        return cls(step, questions, service, client, clock, verifier, back, ends)

    async def poll(self) -> Tokens | None:
        """See ``Flow``."""
        source, brought = self._questions.source, self._back.answer
        if brought is None:
            if self._clock.monotonic() >= self._ends:
                raise refusals.login_waited(source)
            return None
        if "error" in brought:
            raise refusals.refused_login(
                source, Denied(brought["error"], brought.get("error_description", ""))
            )
        self._check_sender(brought)
        asked = {
            "grant_type": "authorization_code",
            "code": brought["code"],
            "redirect_uri": self._back.address,
            "code_verifier": self._verifier,
        }
        found = await _ask_tokens(self._questions, self._service, self._client, asked)
        if isinstance(found, Denied):
            raise refusals.refused_login(source, found)
        return found

    async def pause(self) -> None:
        with anyio.move_on_after(max(0.0, self._ends - self._clock.monotonic())):
            await self._back.arrived()

    def close(self) -> None:
        self._back.close()

    def _check_sender(self, brought: Mapping[str, str]) -> None:
        """Against an answer of another service, mixed in (RFC 9207)."""
        named = brought.get("iss", "" if self._service.names_itself else self._service.issuer)
        if named != self._service.issuer:
            raise refusals.other_issuer(self._questions.source, self._service.issuer, named)


async def _ask_tokens(
    questions: Questions, service: LoginService, client: Client, asked: Mapping[str, str]
) -> Tokens | Denied:
    fields, headers = client.identify()
    form = {**asked, **fields, **_said(resource=service.resource)}
    found = read_tokens(*await questions.post_form(service.token, form, headers))
    if found is None:
        raise refusals.no_login_service(questions.source, service.token)
    return found


def _failure(source: str, url: str, found: Tokens | Denied | None) -> ProviderError:
    if isinstance(found, Denied):
        return refusals.refused_login(source, found)
    return refusals.no_login_service(source, url)


def _said(**fields: str) -> dict[str, str]:
    """Without those that have nothing to say."""
    return {name: value for name, value in fields.items() if value}
