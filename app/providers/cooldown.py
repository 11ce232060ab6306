"""What is remembered of keys while the process lives: which of them rest and why, and which answered last.

In memory only, one object a process. A key is known by a salted fingerprint of itself and of where it is sent, so
one that was edited is another one, and nothing that this room holds or shows can be turned back into a key.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.engine.errors import ProviderError, ProviderErrorKind
from app.infra.clock import Clock

COOLDOWN = 600.0
"""Seconds a key rests after its account was turned away; a server that asks for longer gets longer."""

_KEPT = 512


@dataclass(frozen=True, slots=True)
class Credential:
    """A key without the key; two are equal where their fingerprints are."""

    source: str = field(compare=False)
    name: str = field(compare=False)
    """Of the stored secret or of the variable; empty where the server wants no key."""
    fingerprint: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rest:
    """Why a key is passed over, in the sentence that its failure had, and for how long."""

    kind: ProviderErrorKind
    sentence: str
    until: datetime
    ends: float
    """The same moment on the monotonic clock."""
    again: float
    """From when on the server itself would be asked again, by the monotonic clock; before ``ends``, or then."""
    status: int | None = None

    @property
    def hope(self) -> tuple[bool, float]:
        """The smaller, the likelier is it that waiting helps: a limit passes by itself, a wrong key does not."""
        return self.kind != "rate_limit", self.again


@dataclass(frozen=True, slots=True)
class Answered:
    """The last answer that a key brought."""

    model: str
    at: datetime


@dataclass(slots=True)
class _Known:
    used: int = 0
    rest: Rest | None = None
    answered: Answered | None = None


class Cooldowns:
    """Belongs to the event loop; ``credential`` alone may be called in threads."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._salt = secrets.token_bytes(32)
        self._known: dict[Credential, _Known] = {}
        self._uses = 0

    def credential(self, source: str, name: str, address: str, key: str | None) -> Credential:
        """Equal ones are the same key of the same source at the same address, whatever they are called."""
        text = "\0".join((source, address, key or ""))
        fingerprint = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=16)
        return Credential(source, name, fingerprint.digest())

    def cool(self, credential: Credential, error: ProviderError) -> None:
        """It rests from now on."""
        now, asked = self.clock.monotonic(), error.retry_after or 0.0
        seconds = max(COOLDOWN, asked)
        self._of(credential).rest = Rest(
            kind=error.kind,
            sentence=error.message,
            until=self.clock.now() + timedelta(seconds=seconds),
            ends=now + seconds,
            again=now + asked,
            status=error.status,
        )

    def clear(self, credential: Credential) -> None:
        """It works: a test said so."""
        self._of(credential).rest = None

    def answered(self, credential: Credential, model: str) -> None:
        """It works: it brought an answer."""
        known = self._of(credential)
        known.rest, known.answered = None, Answered(model, self.clock.now())

    def find_rest(self, credential: Credential) -> Rest | None:
        """None where it may be used."""
        known = self._known.get(credential)
        rest = known.rest if known else None
        return rest if rest and rest.ends > self.clock.monotonic() else None

    def failure(self, rest: Rest) -> ProviderError:
        """The failure that made it rest, with the seconds that are left of that."""
        left = rest.ends - self.clock.monotonic()
        return ProviderError(rest.kind, rest.sentence, status=rest.status, retry_after=left)

    def last_use(self, credential: Credential) -> int:
        """A number that is larger the later it was used; 0 = never."""
        known = self._known.get(credential)
        return known.used if known else 0

    def use(self, credential: Credential) -> Callable[[], None]:
        """It is used now. Returns how to take that back: the order of the keys then stands as it stood."""
        known = self._of(credential)
        self._uses += 1
        before, mine = known.used, self._uses
        known.used = mine

        def take_back() -> None:
            if known.used == mine:
                known.used = before

        return take_back

    def standing(self, source: str, name: str) -> tuple[Rest | None, Answered | None]:
        """Of the key that was used last under that name: whether it rests, and what it answered last."""
        named = [one for one in self._known if (one.source, one.name) == (source, name)]
        if not named:
            return None, None
        newest = max(named, key=self.last_use)
        return self.find_rest(newest), self._known[newest].answered

    def _of(self, credential: Credential) -> _Known:
        """Moved to the end, so that those nobody uses any more are forgotten first."""
        known = self._known.pop(credential, None) or _Known()
        self._known[credential] = known
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return known
