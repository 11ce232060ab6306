"""Who else an error tells of: keys that rest, with the time until which they do, and models that were tried before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.web.plain import first_sentence, one_line
from app.web.times import local

_WHY = {
    "auth": "was not accepted",
    "balance": "has no credit left",
    "subscription": "has no plan that covers this",
    "rate_limit": "was asked too much in a short time",
}


@dataclass(frozen=True, slots=True)
class Other:
    """``model: what``, and where it rests until when."""

    model: str
    what: str
    until: datetime | None = None


def others_of(data: Mapping[str, Any]) -> tuple[Other, ...]:
    """What the row of an error holds of them."""
    return tuple(_read(data.get("others") or ()))


def _read(lines: Any) -> Iterator[Other]:
    for line in lines:
        model, until = one_line(str(line.get("model", ""))), line.get("until")
        if until:
            key = f"key {line['key']}" if line.get("key") else "its key"
            yield Other(model, f"{key} {_WHY.get(str(line.get('kind')), 'failed')}", local(str(until)))
        else:
            yield Other(model, one_line(first_sentence(str(line.get("said", "")))[0]))
