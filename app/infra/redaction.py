"""Takes keys out of text: those we know by value, and those that look like one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "[redacted]"

_SHORTEST = 6
"""A known value shorter than this is no secret worth the harm of masking every such word."""

_BODY = r"[A-Za-z0-9_-]"
_SHAPES = (
    rf"\b(?:sk|rk|pk)-(?=[\w-]*\d){_BODY}{{16,}}",
    rf"\bAIza{_BODY}{{30,}}",
    rf"\b(?:gsk|hf|xai|ghp|gho|ghs|ghu|glpat|pplx|r8|fw|csk|nvapi)[_-](?=[\w-]*\d){_BODY}{{16,}}",
    rf"\bgithub_pat_{_BODY}{{20,}}",
    rf"\bxox[abeprs]-{_BODY}{{10,}}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    rf"\beyJ{_BODY}{{10,}}\.{_BODY}{{10,}}\.{_BODY}*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)
_NAMED = (
    r"(?i)(\b(?:authorization|proxy-authorization)[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?)[^\s\"',;]{6,}",
    r"(?i)(\bbearer\s+)(?=\S*\d)[\w.~+/=-]{12,}",
    r"(?i)(\b(?:x-api-key|x-goog-api-key|api-key|api_key|apikey|access_token|refresh_token|client_secret)"
    r"[\"']?\s*[:=]\s*[\"']?)[^\s\"',;&]{6,}",
    r"(?i)([?&](?:key|token|sig|signature)=)[^\s&#\"']{6,}",
    r"(\b[a-z][a-z0-9+.-]*://[^\s/:@\"']*:)[^\s/@\"']+(?=@)",
)
"""What stands behind a name that says it is a secret; the name itself stays."""

_BY_SHAPE = re.compile("|".join(_SHAPES))
_BY_NAME = tuple(re.compile(pattern) for pattern in _NAMED)


class Redactor:
    """Learns values, masks them and whatever has the shape of a key. Costs one pass per pattern over the text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._by_value: re.Pattern[str] | None = None
        for value in values:
            self.learn(value)

    def learn(self, value: str | None) -> str | None:
        """Know ``value`` from now on, and give it back: it can stand around any reading of a secret."""
        if value and len(value) >= _SHORTEST and value not in self._known:
            self._known |= {value, quote(value, safe="")}
            longest_first = sorted(self._known, key=len, reverse=True)
            self._by_value = re.compile("|".join(map(re.escape, longest_first)))
        return value

    def redact(self, text: str) -> str:
        """``text`` with every key replaced by ``[redacted]``; doing it twice changes nothing more."""
        text = _BY_SHAPE.sub(MASK, self.redact_known(text))
        for pattern in _BY_NAME:
            text = pattern.sub(rf"\1{MASK}", text)
        return text

    def redact_known(self, text: str) -> str:
        """Only the values that were learnt."""
        return text if self._by_value is None else self._by_value.sub(MASK, text)
