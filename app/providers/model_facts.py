"""What counts for one model: what the user says of it, else of its source, else what the catalogue knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.providers.catalogue import Catalogue, ModelFacts
from app.providers.sources import SourceConfig

LOADED_WINDOW = 32_768
"""Tokens, for a server that loads its models with the window it is asked for."""


@dataclass(frozen=True, slots=True)
class OwnFacts:
    """What the user says of one model. Sizes in tokens, prices in US dollars per million; None = look it up."""

    context: int | None = None
    max_output: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    images: bool | None = None
    reasoning: bool | None = None
    tools: bool | None = None


NOTHING_SAID = OwnFacts()

Said = Mapping[tuple[str, str], OwnFacts]
"""By source and model."""


def known_facts(source: SourceConfig, model: str, catalogue: Catalogue) -> ModelFacts:
    """What counts where the user says nothing of the model itself."""
    facts = catalogue.facts(source.host_name, model)
    window = facts.context_window
    if source.kind == "ollama":
        # It loads a model with the window it is asked for, and most machines cannot hold what a model could.
        window = min(window, LOADED_WINDOW)
    return replace(
        facts,
        context_window=source.context or window,
        max_output=source.max_output or facts.max_output,
        price_in=facts.price_in if source.price_in is None else source.price_in,
        price_out=facts.price_out if source.price_out is None else source.price_out,
    )


def facts_in_force(source: SourceConfig, model: str, said: Said, catalogue: Catalogue) -> ModelFacts:
    """What counts."""
    facts, own = known_facts(source, model, catalogue), said.get((source.name, model), NOTHING_SAID)
    return replace(
        facts,
        context_window=own.context or facts.context_window,
        max_output=own.max_output or facts.max_output,
        price_in=facts.price_in if own.price_in is None else own.price_in,
        price_out=facts.price_out if own.price_out is None else own.price_out,
        images=facts.images if own.images is None else own.images,
        reasoning=facts.reasoning if own.reasoning is None else own.reasoning,
        tools=facts.tools if own.tools is None else own.tools,
    )
