"""Why a login did not come about, or is over, in words: what happened, and what to do next."""

from __future__ import annotations

from app.engine.errors import ProviderError
from app.engine.surrogates import scrub
from app.infra.redaction import Redactor
from app.providers.oauth import Denied
from app.providers.sentences import SETTINGS

_LONGEST = 200


def again(source: str) -> str:
    """The way to a new login."""
    return f"`plancia provider login {source}`, or the source's Log in under {SETTINGS}"


def login_over(source: str) -> ProviderError:
    return ProviderError(
        "auth", f"The login at {source} has ended. Log in again: {again(source)}.", status=401
    )


def login_unreadable(source: str) -> ProviderError:
    return ProviderError(
        "auth", f"What is kept of the login at {source} cannot be read. Log in again: {again(source)}."
    )


def login_not_taken(source: str, said: str | None) -> ProviderError:
    return ProviderError(
        "auth",
        f"{source} does not take this login, although its token is new. The account may not be allowed to use "
        f"it: ask whoever runs it, or log in with another account: {again(source)}.",
        status=401,
        detail=said,
    )


def no_way_in(source: str, address: str) -> ProviderError:
    return ProviderError(
        "local",
        f"Nothing at {address} says how to log in to {source}. Give the address of its login service with --issuer, "
        "or a key in place of a login, as whoever runs it prefers.",
    )


def other_issuer(source: str, asked: str, named: str) -> ProviderError:
    return ProviderError(
        "local",
        f"The login service at {asked} says that it is another one, {shown(named)}. Nothing was sent to it. "
        f"If that is the right one for {source}, give it with --issuer.",
    )


def unsafe_address(source: str, what: str, url: str) -> ProviderError:
    return ProviderError(
        "local",
        f"{what} of {source} cannot be used: {shown(url)} is not an https:// address, so a login there "
        "could be read on its way. Plain http:// is taken for this machine only.",
    )


def no_such_flow(source: str, asked: tuple[str, ...]) -> ProviderError:
    match asked:
        case ("device",):
            text = f"{source} does not offer a login by code. Log in with a browser: --login."
        case ("browser",):
            text = f"{source} offers no login with a browser that is safe. Log in by code: --device."
        case _:
            text = (
                f"{source} offers no login that Plancia knows. Ask whoever runs it for a key, and give that."
            )
    return ProviderError("local", text)


def no_client_id(source: str) -> ProviderError:
    return ProviderError(
        "local",
        f"{source} wants to know its clients beforehand. Ask whoever runs it for a client id for Plancia, and give "
        "it with --client-id.",
    )


def not_registered(source: str, denied: Denied | None) -> ProviderError:
    return ProviderError(
        "local",
        f"{source} did not take Plancia as a new client.{_said(denied)} Ask whoever runs it for a client id, and "
        "give it with --client-id.",
    )


def port_taken(port: int) -> ProviderError:
    return ProviderError(
        "local",
        f"The browser is to come back to port {port}, which another program uses. End that program, or choose "
        "another port with --redirect-port, if the client id allows it.",
    )


def refused_login(source: str, denied: Denied) -> ProviderError:
    """By the code of RFC 6749 or RFC 8628."""
    match denied.code:
        case "access_denied":
            text = f"The login at {source} was declined there. Begin anew if that was a mistake."
        case "expired_token":
            text = f"The code for {source} has expired before it was entered. Log in again: {again(source)}."
        case "invalid_client" | "unauthorized_client":
            text = (
                f"{source} does not know this client id, or not for this kind of login.{_said(denied)} "
                "Check --client-id."
            )
        case "invalid_scope":
            text = f"{source} does not grant the scope that was asked for.{_said(denied)} Check --scope."
        case _:
            text = f"{source} refused the login ({shown(denied.code)}).{_said(denied)} Log in again: {again(source)}."
    return ProviderError("auth", text)


def login_waited(source: str) -> ProviderError:
    return ProviderError(
        "auth", f"Nobody came back from the login at {source} in time. Log in again: {again(source)}."
    )


def no_login_service(source: str, url: str) -> ProviderError:
    return ProviderError(
        "server",
        f"The login service of {source} at {url} did not answer as one. Try again later; whoever runs it can "
        "look into it.",
    )


def shown(text: str) -> str:
    """Words of a server, for a sentence: short, on one line, without keys."""
    words = " ".join("".join(one if one.isprintable() else " " for one in scrub(text)).split())
    tidy = Redactor().redact(words)
    return tidy if len(tidy) <= _LONGEST else f"{tidy[:_LONGEST]}…"


def _said(denied: Denied | None) -> str:
    return f" It says: “{shown(denied.words)}”" if denied and denied.words else ""
