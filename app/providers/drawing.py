"""One picture from the model that was chosen for pictures: asked for, counted, and where that would go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from anyio.to_thread import run_sync

from app.engine.errors import ProviderError
from app.engine.events import Usage
from app.engine.provider import ModelSource, ResolvedModel, Rotated, UsageReport
from app.infra.clock import Clock
from app.providers.budget import has_price
from app.providers.images import Drawn, ImageRequest, drawer_of, painter_of
from app.providers.oauth_questions import is_loopback
from app.providers.rotation import Pool

Count = Callable[[Usage], None]
"""Enters one call into the ledger."""

_NOT_SENT = ("budget", "local")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a request for a picture goes, to be shown to the user before it does."""

    model: str
    """``provider/model``"""
    host: str
    """The host of its address; where litellm knows the address, the name of the source."""
    is_here: bool
    """That is this machine."""


def destination(model: ResolvedModel) -> Destination:
    """Pure: nothing is asked."""
    url = model.endpoint or ""
    return Destination(model.label, urlsplit(url).hostname or model.provider.id, is_loopback(url))


def expect_pictures(model: ResolvedModel) -> None:
    """Raises ``ProviderError`` where the wire of a model only answers in words; the model itself is not asked."""
    provider = model.provider
    painter_of(provider.first if isinstance(provider, Pool) else provider)


@dataclass(frozen=True, slots=True)
class Drawing:
    """Draws with the model of that name. Each request, failed ones and turned away keys too, is handed to ``count``."""

    models: ModelSource
    """Those for pictures, behind the budgets that have to hold."""
    name: str
    clock: Clock
    count: Count

    async def __call__(self, prompt: str, size: str | None, references: Sequence[bytes]) -> bytes:
        """A PNG, JPEG or WebP. Raises ``ProviderError``; it is not asked twice, for a picture may be charged."""
        model = await run_sync(self.models.resolve, self.name, abandon_on_cancel=True)
        drawer = drawer_of(model.provider)
        began = self.clock.monotonic()
        request = ImageRequest(model.model, prompt, size, tuple(references))
        try:
            async with aclosing(drawer.draw(request)) as events:
                async for event in events:
                    match event:
                        case Rotated():
                            self.count(_row(model, event.duration_ms, event.outcome))
                            began = self.clock.monotonic()
                        case Drawn():
                            self.count(_row(model, self._since(began), "ok", event.usage))
                            return event.data
        except ProviderError as error:
            if error.kind not in _NOT_SENT:
                self.count(_row(model, self._since(began), error.kind))
            raise
        raise AssertionError("a drawer ends with a picture or an error")

    def _since(self, began: float) -> int:
        return round((self.clock.monotonic() - began) * 1000)


def _row(model: ResolvedModel, duration_ms: int, outcome: str, usage: UsageReport | None = None) -> Usage:
    row = Usage(
        model.provider.id, model.model, duration_ms=duration_ms, outcome=outcome, purpose="image", cost=0.0
    )
    if outcome != "ok":
        return row if has_price(model) else replace(row, cost=None)
    if usage is None:
        return replace(row, cost=None)
    return replace(
        row,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cost=_cost(model, usage),
    )


def _cost(model: ResolvedModel, usage: UsageReport) -> float | None:
    """In US dollars; what a cache served counts in full, for a cost may be too high and never too low."""
    if usage.cost is not None:
        return usage.cost
    if model.price_in is None or model.price_out is None:
        return None
    read = usage.input_tokens + usage.cache_read_tokens
    return (read * model.price_in + usage.output_tokens * model.price_out) / 1_000_000
