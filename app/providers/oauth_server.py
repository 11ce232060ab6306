"""Where a gateway's logins are made: its own word (RFC 9728), its login service's (RFC 8414, OpenID discovery).

What is found is held against what was asked for: a service that bears another name is refused, and no secret goes
to an address that is neither https nor, for a service of this machine, on this machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from app.providers import oauth_refusals as refusals
from app.providers.oauth_questions import Questions, checked_address, is_loopback

_WELL_KNOWN = ".well-known"
_VERSIONS = ("/v1", "/v2", "/openai")
"""Ends of a gateway's address that belong to its models."""


@dataclass(frozen=True, slots=True)
class LoginService:
    """An authorization server. An empty address: it does not offer that."""

    issuer: str
    token: str
    authorization: str = ""
    device: str = ""
    registration: str = ""
    names_itself: bool = False
    """Whether what a browser brings back says who sent it (RFC 9207)."""
    scope: str = ""
    """What is asked for where the user names nothing."""
    resource: str = ""
    """The gateway as it names itself; tokens are made for it."""


async def find_login_service(questions: Questions, base_url: str, issuer: str = "") -> LoginService:
    """By the issuer that was given, else from the gateway's address. Raises ``ProviderError``."""
    source = questions.source
    if issuer:
        found = await _ask_issuer(questions, issuer)
        if found is None:
            raise refusals.no_way_in(source, issuer)
        return found
    for address in _self_descriptions(base_url):
        about = await questions.get(address)
        named = _texts(about, "authorization_servers") if about else ()
        if about and named and (resource := _own(about.get("resource"), base_url)):
            found = await _ask_issuer(questions, named[0])
            if found is not None:
                scopes = _texts(about, "scopes_supported") or tuple(found.scope.split())
                return replace(found, resource=resource, scope=" ".join(scopes))
    for candidate in _likely_issuers(base_url):
        found = await _ask_issuer(questions, candidate)
        if found is not None:
            return found
    raise refusals.no_way_in(source, base_url)


async def _ask_issuer(questions: Questions, issuer: str) -> LoginService | None:
    """None where it does not describe itself. Raises ``ProviderError``, also for one that bears another name."""
    source = questions.source
    checked_address(source, "The login service", issuer, near=True)
    if urlsplit(issuer).query:
        raise refusals.unsafe_address(source, "The login service", issuer)
    for address in _descriptions(issuer):
        about = await questions.get(address)
        if about and isinstance(named := about.get("issuer"), str):
            if named.rstrip("/") != issuer.rstrip("/"):
                raise refusals.other_issuer(source, issuer, named)
            return _service(source, named, about)
    return None


def _service(source: str, issuer: str, about: Mapping[str, Any]) -> LoginService:
    near = is_loopback(issuer)

    def address(name: str, what: str) -> str:
        return checked_address(source, what, about[name], near=near) if about.get(name) else ""

    token = address("token_endpoint", "The address for tokens")
    if not token:
        raise refusals.no_way_in(source, issuer)
    ways = _texts(about, "code_challenge_methods_supported")
    safe_browser = not ways or "S256" in ways
    return LoginService(
        issuer=issuer,
        token=token,
        authorization=address("authorization_endpoint", "The login page") if safe_browser else "",
        device=address("device_authorization_endpoint", "The address for codes"),
        registration=address("registration_endpoint", "The address for new clients"),
        names_itself=about.get("authorization_response_iss_parameter_supported") is True,
        # Without it, services that follow OpenID give a token that nothing renews.
        scope="offline_access" if "offline_access" in _texts(about, "scopes_supported") else "",
    )


def _self_descriptions(base_url: str) -> Iterator[str]:
    parts = urlsplit(base_url)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield from dict.fromkeys(f"{origin}/{_WELL_KNOWN}/oauth-protected-resource{end}" for end in (path, ""))


def _likely_issuers(base_url: str) -> Iterator[str]:
    parts = urlsplit(base_url)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    for end in _VERSIONS:
        path = path.removesuffix(end)
    yield from dict.fromkeys((f"{origin}{path}", origin))


def _descriptions(issuer: str) -> Iterator[str]:
    """Where an issuer with a path may describe itself; both standards and the older habit."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    found = (
        f"{origin}/{_WELL_KNOWN}/oauth-authorization-server{path}",
        f"{origin}{path}/{_WELL_KNOWN}/openid-configuration",
        f"{origin}/{_WELL_KNOWN}/openid-configuration{path}",
    )
    yield from dict.fromkeys(found)


def _own(resource: Any, base_url: str) -> str:
    """The name that a gateway gives itself, where it is one of its own host; a token for another is none of ours."""
    if not isinstance(resource, str):
        return ""
    named, asked = urlsplit(resource), urlsplit(base_url)
    return resource if (named.scheme, named.netloc) == (asked.scheme, asked.netloc) else ""


def _texts(about: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = about.get(name)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
