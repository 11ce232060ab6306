"""What an error says beside itself: who else was tried in this turn, and whose keys rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.engine.asking import PASSING
from app.engine.errors import ACCOUNT
from app.infra.clock import iso
from app.providers.resting import Resting

MOST = 12
"""Lines."""


def others(
    kind: str, model: str, tried: Mapping[str, str], resting: Callable[[], Iterable[Resting]]
) -> list[dict[str, Any]]:
    """Of a failure of this ``kind``, by ``model``.

    ``tried`` are the models that gave up their place in this turn, each with the sentence that says why. ``resting``
    is asked only where another key or model could have helped: what it looks into may be what failed.
    """
    helps = kind in ACCOUNT | PASSING
    rests = [one for one in resting() if one.key or one.model != model] if helps else []
    at_rest = {one.model for one in rests}
    lines: list[dict[str, Any]] = [
        {"model": one.model, "key": one.key, "kind": one.kind, "until": iso(one.until)} for one in rests
    ]
    lines += [
        {"model": name, "said": said} for name, said in tried.items() if name not in at_rest and name != model
    ]
    return lines[:MOST]
