"""The order in which models answer, tested and changed line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException

from app.engine.errors import ProviderError
from app.providers.sources import from_environment
from app.web.forms import Form
from app.web.model_rows import place_views
from app.web.model_words import result_of
from app.web.settings_views import Tested
from app.web.site import Site
from app.workspace.errors import NotFound
from app.workspace.model_sources import leave_out, order_models


@dataclass(frozen=True, slots=True)
class Ordered:
    """What came of an act: results of tests by ``provider/model``, or a sentence on the new order."""

    tested: Mapping[str, Tested] = field(default_factory=dict)
    said: str = ""


UNCHANGED = Ordered()


async def change_order(site: Site, form: Form) -> Ordered:
    """One act on the model that the form names: test, up, down, to a place, add, out. A test of none tests all.

    Raises ``NotFound``, ``HTTPException``.
    """
    label, at = form.text("model"), _all(site)
    match form.text("act"):
        case "test":
            return Ordered(tested=await _test(site, [label] if label else at))
        case "up" if label in at:
            return _put(site, label, at.index(label) - 1)
        case "down" if label in at:
            return _put(site, label, at.index(label) + 1)
        case "to" if label in at:
            return _put(site, label, _place(form.text("place")) - 1)
        case "add":
            return _put(site, label, len(at))
        case "out":
            leave_out(site.store, label)
            said = f"{label} answers only where a conversation chose it."
        case "up" | "down" | "to":
            raise NotFound(f'"{label}" has no place in the order that could be changed.')
        case _:
            raise HTTPException(404)
    site.settings_changed()
    return Ordered(said=said)


def order_values(site: Site, ordered: Ordered = UNCHANGED) -> dict[str, Any]:
    """What the template of the order is given."""
    places = place_views(site, ordered.tested)
    placed = {place.label for place in places}
    offered = [choice.label for choice in site.sources.choices() if choice.origin == "configured"]
    return {
        "places": places,
        "others": [label for label in offered if label not in placed],
        "before": site.sources.preferred() or "",
        "said": ordered.said,
    }


async def _test(site: Site, labels: list[str]) -> dict[str, Tested]:
    """What the servers say, all asked at once; a key that passes is awake again."""
    results: dict[str, Tested] = {}

    async def test(label: str) -> None:
        try:
            model = await run_sync(partial(site.sources.resolve, label))
        except ProviderError as error:
            results[label] = Tested(False, error.message)
        else:
            results[label] = result_of(await model.provider.validate_auth(), model.model)

    async with anyio.create_task_group() as tasks:
        for label in labels:
            tasks.start_soon(test, label)
    return results


def _put(site: Site, label: str, at: int) -> Ordered:
    others = [each for each in _all(site) if each != label]
    at = min(max(at, 0), len(others))
    order_models(site.store, [*others[:at], label, *others[at:]], from_environment(site.environment))
    site.settings_changed()
    return Ordered(said=f"{label} is number {at + 1}.")


def _place(text: str) -> int:
    """Counted from 1. Raises ``HTTPException`` for what is no number."""
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise HTTPException(400)
    return int(text)


def _all(site: Site) -> list[str]:
    return [group.label for group in site.sources.groups()]
