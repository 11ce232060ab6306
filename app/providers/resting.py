"""What of the user's order is passed over for now, as one may be told of it: no key, nor what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.engine.errors import ProviderErrorKind
from app.providers.routing import Sources


@dataclass(frozen=True, slots=True)
class Resting:
    """A key at rest, by its model and its place."""

    model: str
    """``provider/model``."""
    key: int
    """Its place among the keys of the source, from 1; 0 where there is no other."""
    kind: ProviderErrorKind
    until: datetime


def list_resting(sources: Sources) -> tuple[Resting, ...]:
    """In the order in which they would be asked, each model with its keys."""
    found: list[Resting] = []
    for group in sources.groups():
        keys = sources.standing(group.source)
        for place, key in enumerate(keys, start=1):
            if key.rest is not None:
                number = place if len(keys) > 1 else 0
                found.append(Resting(group.label, number, key.rest.kind, key.rest.until))
    return tuple(found)
