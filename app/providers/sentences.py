"""What a failed model call looks like to the user: what happened, why, and what to do next. No key, no traceback."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.engine.errors import ProviderError, ProviderErrorKind
from app.infra.redaction import Redactor
from app.providers.classify import Symptom, classify

SETTINGS = "Settings, Models"
_LONGEST_DETAIL = 300
_OWN_LIMITS = ("StreamSilent", "StillAtWork")


@dataclass(frozen=True, slots=True)
class Callee:
    """Who was asked for what: the source's name, the model, the address, and the redactor that knows its key."""

    source: str
    model: str
    base_url: str
    has_key: bool
    redactor: Redactor


def provider_error(symptom: Symptom, callee: Callee, retry_after: float | None = None) -> ProviderError:
    """The engine's error for a failed call. ``retry_after`` are the seconds the server asked to wait."""
    verdict = classify(symptom)
    # A stop of our own never comes here; where a library made one up, the connection is gone.
    kind: ProviderErrorKind = "dropped" if verdict == "aborted" else verdict
    words = " ".join(callee.redactor.redact(symptom.message).split())
    detail = words if len(words) <= _LONGEST_DETAIL else f"{words[:_LONGEST_DETAIL]}…"
    status = None if symptom.status == 200 else symptom.status
    sentence = _sentence(kind, symptom, callee).format(
        source=callee.source,
        model=callee.model,
        url=callee.base_url,
        host=_host(callee.base_url),
        settings=SETTINGS,
        said=f" It says: “{detail}”" if detail and not symptom.raised else "",
        status=f" (HTTP {status})" if status else "",
        wait=f" It asks to wait {retry_after:.0f} s." if retry_after else "",
        limit=_own_limit(symptom),
    )
    return ProviderError(
        kind,
        callee.redactor.redact(sentence),
        status=status,
        retry_after=retry_after,
        detail=detail or None,
        was_at_work=symptom.raised == "StillAtWork",
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """A sentence and when it is the right one; the first of its kind that fits is taken."""

    kind: ProviderErrorKind
    text: str
    statuses: Collection[int] = ()
    words: str = ""
    raised: str = ""
    keyless: bool = False

    def fits(self, kind: ProviderErrorKind, symptom: Symptom, callee: Callee) -> bool:
        return (
            kind == self.kind
            and (not self.statuses or symptom.status in self.statuses)
            and re.search(self.words, symptom.message.lower()) is not None
            and self.raised in ("", symptom.raised)
            and not (self.keyless and callee.has_key)
        )


_WEB_PAGE = (
    "A web page came back from {host} in place of an answer: a sign-in page of this network, or the wrong address. "
    "Open it in a browser, and check the address under {settings}."
)

_CASES = (
    _Case("auth", "{source} wants a key, and none is set. Add it under {settings}.", keyless=True),
    _Case(
        "auth",
        "{source} does not allow this with the present key.{said} Check what the key may do, or choose another model.",
        statuses=(403,),
    ),
    _Case("auth", "{source} did not accept the key. Enter it again under {settings}."),
    _Case(
        "balance",
        "The account at {source} has no credit left or has reached its limit.{said} "
        "Add credit there, or choose another model.",
    ),
    _Case(
        "subscription",
        "The plan at {source} has ended or does not cover this.{said} Renew it there, or choose another model.",
    ),
    _Case(
        "rate_limit",
        "{source} limits how much may be asked in a short time.{wait} Wait a little, or choose another model.",
    ),
    _Case(
        "overloaded",
        "{source} has too much to do at the moment.{wait} Try again in a few minutes, or choose another model.",
    ),
    _Case(
        "server",
        "What {source} sent cannot be read as an answer of a model. Try again; check the address {url} "
        "under {settings} if it goes on.",
        raised="StreamUnreadable",
    ),
    _Case(
        "server", "{source} failed on its own side{status}.{said} Try again later, or choose another model."
    ),
    _Case(
        "timeout",
        "{source} was at work, but nothing of the answer came in time{limit}; it may be charged all the same. "
        "Let the model think less, ask for less at once, or choose another model.",
        raised="StillAtWork",
    ),
    _Case(
        "timeout",
        "{source} did not answer in time{limit}. It may be busy or still loading the model. "
        "Try again, or choose another model.",
    ),
    _Case(
        "dropped",
        "The connection to {source} ({host}) broke before the answer was complete. "
        "Try again; check the network if it goes on.",
    ),
    _Case(
        "unreachable",
        "The secure connection to {host} failed: its certificate has expired. Nothing was sent. "
        "Check the address and this machine's clock.",
        words="certificate has expired",
    ),
    _Case(
        "unreachable",
        "The secure connection to {host} failed: its certificate belongs to another host. Nothing was sent. "
        "Check the address of {source} under {settings}.",
        words=r"hostname mismatch|doesn't match|is not valid for",
    ),
    _Case(
        "unreachable",
        "The secure connection to {host} failed: its certificate cannot be trusted. Nothing was sent. "
        "Check the address of {source} under {settings}; a company's own certificate goes into SSL_CERT_FILE.",
        words=r"certificate|self-signed",
    ),
    _Case(
        "unreachable",
        "The secure connection to {host} failed. Check whether {url} should begin with http:// or https://.",
        words=r"\bssl\b|\btls\b",
    ),
    _Case(
        "unreachable",
        "There is no host called {host}. Check the address of {source} under {settings}, and the network.",
        words=r"name resolution|name or service|nodename|getaddrinfo",
    ),
    _Case(
        "unreachable",
        "Nothing answers at {host}. Start the server, or correct the address of {source} under {settings}.",
        words=r"refused|errno (111|61|10061)\b|all connection attempts failed",
    ),
    _Case(
        "unreachable",
        "The proxy of this network wants a name and a password. Set them in HTTPS_PROXY and start Plancia again.",
        statuses=(407,),
    ),
    _Case(
        "unreachable",
        "{host} sends its callers to another address{status}, which is not followed so that the key stays here. "
        "Correct the address of {source} under {settings}.",
        statuses=range(300, 400),
    ),
    _Case("unreachable", _WEB_PAGE, raised="PageInstead"),
    _Case("unreachable", _WEB_PAGE, statuses=(511,)),
    _Case(
        "unreachable",
        "{host} cannot be reached. Check the network, and the address of {source} under {settings}.",
    ),
    _Case(
        "unknown_model",
        "{source} has not loaded the model {model} onto its machine. Get it there with `ollama pull {model}`, "
        "or choose another model.",
        words=r"try pulling it",
    ),
    _Case(
        "unknown_model",
        "{source} has no model called {model}, or this account may not use it. "
        "Choose another model, or correct the name under {settings}.",
    ),
    _Case(
        "overflow",
        "This conversation is longer than {model} at {source} can read. "
        "Choose a model with a larger window, or begin a new conversation.",
    ),
    _Case(
        "policy",
        "{source} declined to answer this because of its rules on content.{said} "
        "Rephrase the message, or choose another model.",
    ),
    _Case(
        "local",
        "The machine behind {source} has not enough memory or disk for this.{said} Choose a smaller model.",
        statuses=range(400, 600),
    ),
    _Case(
        "local",
        "The key of {source} holds signs that no key has, so nothing was sent. Enter it again under {settings}.",
        words=r"'ascii' codec can't encode|characters? detected in headers|illegal header value",
    ),
    _Case(
        "local",
        "The address {url} of {source} cannot be used. Correct it under {settings}.",
        words=r"protocol|\burl\b|\bport\b|\bidna\b|\baddress\b",
    ),
    _Case("local", "The request for {source} could not be written; nothing was sent. Please report this."),
    _Case(
        "invalid",
        "{source} drew a picture and only says where it keeps it. Addresses that a server names are not fetched: "
        "choose another model for pictures under {settings}.",
        raised="AddressInstead",
    ),
    _Case(
        "invalid",
        "What {source} sent is no picture that can be used: it has to be a PNG, JPEG or WebP of a usual size. Try "
        "another size, or choose another model for pictures under {settings}.",
        raised="NoPicture",
    ),
    _Case(
        "invalid",
        "{host} answered, but there is no model server at this address{status}. "
        "It usually ends in /v1: check it under {settings}.",
        statuses=(404, 405),
    ),
    _Case(
        "invalid",
        "{source} refused the request{status}.{said} Choose another model, or begin a new conversation.",
    ),
    _Case("empty", "{source} answered without any text. Try again, or choose another model."),
)


def _sentence(kind: ProviderErrorKind, symptom: Symptom, callee: Callee) -> str:
    return next(case.text for case in _CASES if case.fits(kind, symptom, callee))


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _own_limit(symptom: Symptom) -> str:
    """How long was waited, where the limit was ours."""
    found = re.match(r"[^:]*: ([\d.]+ s)\b", symptom.message) if symptom.raised in _OWN_LIMITS else None
    return f" (waited {found[1]})" if found else ""
