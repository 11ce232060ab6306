"""Masks the keys that this process knows: those it was started with, and those that are stored, as they stand now."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.infra.redaction import Redactor
from app.infra.secrets import SecretStore

_NAMES_A_KEY = re.compile(r"API_?KEY$")
_NAMES_A_SECRET = re.compile(
    r"(?:(?:^|_)(?:KEY|TOKEN|SECRET|PASS|PASSWD|PASSPHRASE|CREDENTIALS)|PASSWORD|SECRET_KEY_BASE)$"
)
_SHORTEST_PART = 16
"""Of the parts of a stored login: what is shorter is a word such as ``Bearer``."""


class Masking:
    """``redact`` for whatever is shown or stored. A key that is stored later is known at the next text."""

    def __init__(self, secrets: SecretStore, environment: Mapping[str, str]) -> None:
        self._secrets = secrets
        self._redactor = Redactor(
            value for name, value in environment.items() if _is_secret(name.upper(), value)
        )
        self._stamp: object = None

    def redact(self, text: str) -> str:
        """Known keys, and whatever has the shape of one, become ``[redacted]``."""
        self._learn()
        return self._redactor.redact(text)

    def redact_known(self, text: str) -> str:
        """Known keys only: for text that is to be written back as it was read."""
        self._learn()
        return self._redactor.redact_known(text)

    def _learn(self) -> None:
        stamp = self._secrets.stamp()
        if stamp != self._stamp:
            for value in self._secrets.values():
                for part in _parts(value):
                    self._redactor.learn(part)
            self._stamp = stamp  # last: another thread that finds it counts on what was learnt


def _is_secret(name: str, value: str) -> bool:
    """By its name; a password that is a plain word would take that word out of every text."""
    if _NAMES_A_KEY.search(name):
        return True
    is_no_word = len(value) >= _SHORTEST_PART or not value.isalpha()
    return is_no_word and _NAMES_A_SECRET.search(name) is not None


def _parts(value: str) -> Iterator[str]:
    """A stored value, and where it is a login as JSON, the tokens in it."""
    yield value
    try:
        login: Any = json.loads(value)
    except ValueError:
        return
    if isinstance(login, dict):
        yield from (part for part in login.values() if isinstance(part, str) and len(part) >= _SHORTEST_PART)
