"""What kind of failure a failed model call is: by status first, by words only where the status leaves it open.

Each status has a kind it usually means and the few kinds that are known to hide behind it. A rate limit never hides
behind a 400, the purse never behind a 5xx: that is what keeps a parameter called ``frame_rate`` or a tool called
``check_balance`` from being taken for more than it is. Pure; ``Symptom`` is all there is to know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from app.engine.errors import ProviderErrorKind
from app.providers.raised import kind_of_exception, status_of_class
from app.providers.wordings import ATTACHMENT, OUTPUT_CAP, PER_MINUTE, WORDINGS

Verdict = ProviderErrorKind | Literal["aborted"]


@dataclass(frozen=True, slots=True)
class Symptom:
    """A failed call as it showed itself."""

    status: int | None = None
    """Of the HTTP answer; None or 200 where the error stood inside an answer that began well, or nothing came."""
    code: str = ""
    """The provider's own code and type, joined by slashes."""
    message: str = ""
    """The provider's own words; of an exception its text, and its causes after `` <- ``."""
    raised: str = ""
    """The class of the exception, without its module; empty where the server answered."""


def classify(symptom: Symptom) -> Verdict:
    """The kind of the failure; ``aborted`` for a stop of our own, which is no failure of the provider."""
    if symptom.raised:
        kind = kind_of_exception(symptom.raised, symptom.message)
        if kind is not None:
            return kind
    status = symptom.status or status_of_class(symptom.raised)
    if status in (None, 200):
        status = _status_inside(symptom.code)
    return _Answer(symptom.code, symptom.message).kind(status)


_USUAL: dict[int, ProviderErrorKind] = {
    401: "auth",
    402: "balance",
    403: "auth",
    407: "unreachable",
    408: "timeout",
    409: "server",
    413: "overflow",
    425: "server",
    429: "rate_limit",
    501: "invalid",
    503: "overloaded",
    504: "timeout",
    505: "invalid",
    507: "local",
    511: "unreachable",
    522: "timeout",
    524: "timeout",
    529: "overloaded",
    598: "timeout",
    599: "timeout",
}

_HIDDEN: dict[int | None, tuple[ProviderErrorKind, ...]] = {
    None: (
        "overflow",
        "policy",
        "subscription",
        "balance",
        "auth",
        "rate_limit",
        "overloaded",
        "timeout",
        "dropped",
        "unknown_model",
        "invalid",
    ),
    400: ("overflow", "policy", "subscription", "balance", "auth", "unknown_model"),
    401: ("subscription", "balance"),
    402: ("subscription",),
    403: ("policy", "subscription", "balance", "rate_limit"),
    404: ("unknown_model",),
    412: ("balance",),
    422: ("overflow", "policy", "balance", "auth"),
    429: ("overflow", "overloaded", "subscription", "balance"),
    500: ("overflow", "local"),
    503: ("unknown_model",),
}
"""Which kinds may hide behind a status, the first that shows itself counts."""


def _usual(status: int | None) -> ProviderErrorKind:
    if status is None:
        return "server"
    if status in _USUAL:
        return _USUAL[status]
    return "unreachable" if status < 400 else "invalid" if status < 500 else "server"


def _status_inside(code: str) -> int | None:
    """A status that a gateway wrote into its error object."""
    return next((int(part) for part in code.split("/") if re.fullmatch(r"[45]\d\d", part)), None)


class _Answer:
    """The words of an error answer, made ready to be asked for kinds."""

    def __init__(self, code: str, message: str) -> None:
        self._code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", code).lower()
        self._all = message.lower().translate(_NO_QUOTES)
        self._plain = _QUOTED.sub(" ", message).lower()

    def kind(self, status: int | None) -> ProviderErrorKind:
        hidden = _HIDDEN.get(status, ())
        for kind in hidden:
            if kind != "invalid" and WORDINGS[kind].code.search(self._code):
                return kind
        for kind in hidden:
            if self._says(kind, status):
                return kind
        return _usual(status)

    def _says(self, kind: ProviderErrorKind, status: int | None) -> bool:
        match kind, status:
            case "overflow", _:
                return self._overflows(status)
            case "balance", 429:
                return self._lasts() or (self._uses("balance") and not self._passes())
            case "unknown_model", 503:
                return False
            case _:
                return self._uses(kind)

    def _uses(self, kind: str) -> bool:
        """What stands in quotes is a name or a value of somebody's, and no word of the provider."""
        wording = WORDINGS[kind]
        return bool(wording.code.search(self._code) or wording.words.search(self._plain))

    def _lasts(self) -> bool:
        """A limit of the day, week or month does not pass by waiting."""
        return self._uses("period")

    def _passes(self) -> bool:
        return bool(PER_MINUTE.search(self._code) or PER_MINUTE.search(self._all))

    def _overflows(self, status: int | None) -> bool:
        if status == 429:
            return "request too large" in self._all
        if status == 500 and not re.search(r"token|context", self._all):
            return False
        attachment = ATTACHMENT.search(self._all) and "token" not in self._all
        elsewhere = OUTPUT_CAP.search(self._all) or attachment
        return bool(WORDINGS["overflow"].words.search(self._all)) and not elsewhere


_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_NO_QUOTES = str.maketrans("", "", "`\"'“”«»")
