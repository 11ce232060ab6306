"""OAuth as values: what a login left, when its token is renewed, what the answers of a token endpoint mean.

    fresh ──5 minutes before its end──▶ ageing ──▶ spent          each renewal leads back to fresh
      └──────────────┴──────── refused by the gateway ──▶ over    only a new login leads out of it

Pure: moments and answers are passed in. Shapes follow RFC 6749 and RFC 8628.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import quote_plus

import msgspec

BUFFER = 300.0
"""Seconds before its end from which on a token is renewed; half its life where it lives shorter than twice that."""

_SLIP = 60.0
"""Seconds by which a clock may be set back before what it says of a token is doubted."""

_LONGEST_TOKEN = 16_384

AuthMethod = Literal["none", "client_secret_post", "client_secret_basic"]


@dataclass(frozen=True, slots=True)
class Client:
    """As what the gateway knows us: public, unless it insisted on a secret."""

    id: str
    secret: str = field(default="", repr=False)
    method: AuthMethod = "none"

    def identify(self) -> tuple[dict[str, str], dict[str, str]]:
        """The form fields and the headers that say who asks."""
        match self.method:
            case "client_secret_basic":
                pair = base64.b64encode(f"{quote_plus(self.id)}:{quote_plus(self.secret)}".encode()).decode()
                return {}, {"authorization": f"Basic {pair}"}
            case "client_secret_post":
                return {"client_id": self.id, "client_secret": self.secret}, {}
            case "none":
                return {"client_id": self.id}, {}


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a token endpoint gave. ``life`` in seconds; None where it did not say."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    life: float | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    """What a token endpoint said instead: its code, such as ``invalid_grant``, and its own words."""

    code: str
    words: str = ""

    @property
    def ends_login(self) -> bool:
        """The same question will never be answered: the grant, or we as its client, are no longer known."""
        return self.code in ("invalid_grant", "invalid_client", "unauthorized_client")


@dataclass(frozen=True, slots=True)
class Grant:
    """One login and its tokens. Moments are seconds since 1970 by this machine's clock."""

    id: str
    """Of this login; renewals keep it, another login has another one."""
    issuer: str
    token_endpoint: str
    client: Client
    issued: float
    access: str = field(default="", repr=False)
    refresh: str = field(default="", repr=False)
    expires: float | None = None
    scope: str = ""
    resource: str = ""
    """What the tokens are for, where the gateway names itself so."""
    registered: bool = False
    """Whether the client was made by us for this login; else its id was given by the user."""


Stand = Literal["fresh", "ageing", "spent", "over"]


def stand(grant: Grant, now: float) -> Stand:
    """``ageing``: to be renewed, and of use until that is done. ``over``: only a new login helps."""
    if not grant.access:
        return "over"
    if grant.expires is None:
        return "fresh"
    buffer = min(BUFFER, (grant.expires - grant.issued) / 2)
    if grant.issued - _SLIP <= now < grant.expires - buffer:
        return "fresh"
    if now < grant.expires:
        return "ageing" if grant.refresh else "fresh"
    return "spent" if grant.refresh else "over"


def renewed(grant: Grant, tokens: Tokens, asked_at: float) -> Grant:
    """With the new tokens; a refresh token that was not replaced goes on. ``asked_at``: before they were given."""
    return replace(
        grant,
        access=tokens.access,
        refresh=tokens.refresh or grant.refresh,
        issued=asked_at,
        expires=None if tokens.life is None else asked_at + tokens.life,
    )


def over(grant: Grant) -> Grant:
    """Without its tokens, which nobody takes any more; what a new login needs stays."""
    return replace(grant, access="", refresh="", expires=None)


def read_tokens(status: int, answer: Mapping[str, Any]) -> Tokens | Denied | None:
    """None where it is neither: a server in trouble, or no token endpoint. Some send a refusal with status 200."""
    if isinstance(code := answer.get("error"), str) and code and status < 500:
        return Denied(code, _text(answer.get("error_description")))
    access, kind = _token(answer.get("access_token")), _text(answer.get("token_type")) or "bearer"
    if status != 200 or not access or kind.lower() != "bearer":
        return None
    return Tokens(access, _token(answer.get("refresh_token")), seconds(answer.get("expires_in")))


def write_grant(grant: Grant) -> str:
    """As it is kept among the secrets."""
    return msgspec.json.encode(grant).decode()


def read_grant(text: str) -> Grant | None:
    """None where this is no grant."""
    try:
        return msgspec.json.decode(text, type=Grant)
    except msgspec.MsgspecError:
        return None


def challenge_of(verifier: str) -> str:
    """PKCE, S256: what the browser carries, while the verifier stays here (RFC 7636)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def seconds(value: Any) -> float | None:
    """A time span as servers write it, some of them as text; None where it is none or not above 0."""
    try:
        span = float(value)
    except (TypeError, ValueError):
        return None
    return span if 0 < span < 1e10 else None


def _token(value: Any) -> str:
    """Only what a header can hold is a token."""
    text = _text(value)
    fine = len(text) <= _LONGEST_TOKEN and text.isascii() and text.isprintable() and " " not in text
    return text if fine else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
