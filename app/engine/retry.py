"""How long to wait before the same model call is sent again. Pure: the clock and chance are passed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from app.engine.errors import ProviderError

LONGEST_BACKOFF = 30.0
"""Seconds; waits of our own double up to here."""
PATIENCE = 120.0
"""Seconds; where a server asks for more, the turn ends at once and says when to come back."""
LONGEST_ASKED = 366 * 86_400.0
"""Seconds; a server that asks for more means another thing, such as a time of day in milliseconds."""
JITTER = 0.2

EMPTY_RETRIES = 2
"""How often an answer without any content is asked for again."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)


def wait_seconds(error: ProviderError, attempt: int, random: Callable[[], float]) -> float | None:
    """Seconds to wait after failure number ``attempt``, counted from 0; None: do not send it again.

    A server's own figure counts before ours and is never undercut. ``random`` gives 0 to 1.
    """
    if not error.retryable or (error.was_at_work and attempt > 0):
        return None
    asked = error.retry_after
    if asked is None or asked <= 0:
        backoff = min(LONGEST_BACKOFF, 2.0 ** min(attempt, 10))
        return backoff * (1 + JITTER * (2 * random() - 1))
    return asked * (1 + JITTER * random()) if asked <= PATIENCE else None


@dataclass(slots=True)
class Patience:
    """How often one answer was asked for in vain. A call that failed is sent again ``retries`` times."""

    retries: int
    failures: int = 0
    empties: int = 0

    def wait(self, failure: ProviderError, random: Callable[[], float]) -> float | None:
        """Seconds until it is asked for again; None where that is no use any more."""
        if failure.kind == "empty":
            self.empties += 1
            return 0.0 if self.empties <= EMPTY_RETRIES else None
        self.failures += 1
        return wait_seconds(failure, self.failures - 1, random) if self.failures <= self.retries else None


def come_back(error: ProviderError) -> str | None:
    """The sentence for a server that asks for more patience than a turn has; None where it does not."""
    asked = error.retry_after
    if not error.retryable or asked is None or asked <= PATIENCE:
        return None
    return f"The server asks to wait {_words(asked)}. Try again then, or choose another model."


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds a response asks to wait, from ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date).

    None where neither asks for a wait: absent, unreadable, zero, in the past by the server's own ``date``, or beyond
    all sense.
    """
    given = {name.lower(): value.strip() for name, value in headers.items()}
    millis = _number(given.get("retry-after-ms", ""))
    if millis is not None and 0 < millis <= LONGEST_ASKED * 1000:
        return millis / 1000
    value = given.get("retry-after", "")
    seconds = _number(value)
    if seconds is None:
        seconds = _seconds_until(value, _date(given.get("date", "")) or now)
    return seconds if seconds is not None and 0 < seconds <= LONGEST_ASKED else None


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _seconds_until(text: str, now: datetime) -> float | None:
    moment = _date(text)
    return None if moment is None else (moment - now).total_seconds()


def _date(text: str) -> datetime | None:
    """An HTTP date in any of its three forms; one without a zone is in UTC."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError, IndexError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _words(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = -(-seconds // size)
            return f"{count:.0f} {name}{'s' if count != 1 else ''}"
    return f"{seconds:.0f} seconds"
