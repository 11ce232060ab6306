"""Settings of one model: its window, its prices and what it can do, where what is known of it is wrong or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.providers.catalogue import ModelFacts
from app.providers.model_facts import NOTHING_SAID, OwnFacts
from app.providers.sources import SourceConfig
from app.web.forms import Form, read_form
from app.web.model_rows import all_sources
from app.web.site import Site, onward, site_of
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.model_facts import list_facts, say_of_model

NUMBERS = ("context", "max_output", "price_in", "price_out")
ABILITIES = ("images", "tools", "reasoning")
WORDS: Mapping[str, bool | None] = {"": None, "yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class ModelForm:
    """What the user says of one model, as typed or as stored, beside what counts without a word."""

    label: str
    values: Mapping[str, str]
    known: Mapping[str, str]
    """What is known of each, in words."""
    errors: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    def error(self, name: str) -> str:
        return self.errors.get(name, "")


async def page(request: Request) -> Response:
    site = site_of(request)
    source, model = _asked(site, request.query_params.get("model", ""))
    said = list_facts(site.store).get((source.name, model), NOTHING_SAID)
    return _page(site, source, model, _written(said))


async def change(request: Request) -> Response:
    """Store what was typed; an empty field gives the word back to what is known."""
    site, form = site_of(request), await read_form(request)
    source, model = _asked(site, form.text("model"))
    if form.text("act") == "forget":
        say_of_model(site.store, source.name, model, NOTHING_SAID)
    else:
        try:
            say_of_model(site.store, source.name, model, _read(form))
        except InvalidSource as refusal:
            typed = {each.name: form.text(each.name) for each in fields(OwnFacts)}
            return _page(site, source, model, typed, {refusal.field: str(refusal)})
    site.settings_changed()
    return onward(request, "/settings/models?saved")


def _page(
    site: Site, source: SourceConfig, model: str, values: Mapping[str, str], errors: Mapping[str, str] = {}
) -> Response:
    known = _known(source, site.sources.known_facts(source, model))
    return site.page(
        "settings/model.html",
        status=422 if errors else 200,
        form=ModelForm(f"{source.name}/{model}", values, known, errors),
        **site.scenes.shell(screen="settings"),
    )


def _asked(site: Site, label: str) -> tuple[SourceConfig, str]:
    """The model of that ``provider/model``. Raises ``NotFound``, ``HTTPException``."""
    name, _, model = label.partition("/")
    source = next((each for each in all_sources(site) if each.name == name), None)
    if source is None or not model or len(model) > 200:
        raise HTTPException(404)
    if source.models and model not in source.models:
        raise NotFound(f"{name} does not list the model {model}.")
    return source, model


def _written(said: OwnFacts) -> dict[str, str]:
    """What was said, as it stands in the fields."""
    words = {can: word for word, can in WORDS.items()}
    values: dict[str, Any] = {each.name: getattr(said, each.name) for each in fields(said)}
    return {
        name: words[value]
        if name in ABILITIES
        else ""
        if value is None
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
        for name, value in values.items()
    }


def _read(form: Form) -> OwnFacts:
    """Raises ``InvalidSource`` for what is no number."""
    numbers = {name: _number(form.text(name), name) for name in NUMBERS}
    abilities = {name: WORDS.get(form.text(name)) for name in ABILITIES}
    sizes = {name: None if numbers[name] is None else int(numbers[name] or 0) for name in NUMBERS[:2]}
    prices = {name: numbers[name] for name in NUMBERS[2:]}
    return OwnFacts(**sizes, **prices, **abilities)  # type: ignore[arg-type]  # each by the names of its kind


def _number(text: str, name: str) -> float | None:
    """``200,000``, ``200k`` and ``1.5`` are numbers too."""
    if not text:
        return None
    plain = text.lower().replace(",", "").replace(" ", "")
    unit = 1_000_000 if plain.endswith("m") else 1_000 if plain.endswith("k") else 1
    try:
        number = float(plain.rstrip("km") or "x") * unit
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number > 1e12:
        raise InvalidSource(f'"{text[:40]}" is not a number.', name)
    return number


def _known(source: SourceConfig, facts: ModelFacts) -> dict[str, str]:
    """What counts where the fields are empty."""
    window = f"{facts.context_window:,} tokens"
    assumed = not facts.known and source.context is None
    return {
        "context": f"{window} are assumed: nothing is known of this model."
        if assumed
        else f"Known: {window}.",
        "max_output": f"Known: {facts.max_output:,} tokens."
        if facts.max_output
        else "Not known: no limit is set.",
        "price_in": _price(facts.price_in),
        "price_out": _price(facts.price_out),
        **{name: _able(getattr(facts, name)) for name in ABILITIES},
    }


def _price(price: float | None) -> str:
    return "Not known: the cost of its calls is not counted." if price is None else f"Known: ${price:g}."


def _able(can: bool | None) -> str:
    return {True: "Yes, as is known", False: "No, as is known", None: "Not known"}[can]
