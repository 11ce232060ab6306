"""Stands between runs and their models: no further call once so much money is spent.

The command line has one for a run (``--max-cost``), the settings have one for a conversation and one for a day.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from app.engine.errors import ProviderError
from app.engine.provider import (
    AuthCheck,
    ModelRequest,
    ModelSource,
    Provider,
    ResolvedModel,
    Rotated,
    StreamBatch,
)
from app.providers.images import Drawn, ImageRequest, drawer_of


@dataclass(frozen=True, slots=True)
class Limit:
    """How much is allowed and how much is spent, in US dollars."""

    allowed: float
    spent: float
    what: str
    """``The budget of this conversation``"""
    way_out: str
    """What to do, as a sentence."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A source of models whose calls are made only while every limit holds; ``limits`` are asked for before each.

    ``strict``: a model whose price nobody knows is not asked at all, and no group without one takes over.
    """

    models: ModelSource
    limits: Callable[[], Sequence[Limit]]
    strict: Callable[[], bool]

    def resolve(self, name: str | None) -> ResolvedModel:
        """As the source behind it. Raises ``ProviderError`` too where no price is known and one has to be."""
        model = self.models.resolve(name)
        if self._is_closed_to(model):
            raise ProviderError("local", unpriced(model, self.limits()[0]))
        return self._counted(model)

    def check(self) -> None:
        """Raise ``ProviderError`` once the money is spent."""
        for limit in self.limits():
            if limit.spent >= limit.allowed:
                raise ProviderError(
                    "budget",
                    f"{limit.what} is spent: ${limit.spent:.4f} of ${limit.allowed:.4f}, so no further call was made. "
                    f"{limit.way_out}",
                )

    def _counted(self, model: ResolvedModel) -> ResolvedModel:
        return replace(
            model, provider=_Counted(model.provider, self), fallback=lambda: self._following(model)
        )

    def _following(self, model: ResolvedModel) -> ResolvedModel | None:
        """The next group that may spend."""
        following = model.fallback()
        while following is not None and self._is_closed_to(following):
            following = following.fallback()
        return None if following is None else self._counted(following)

    def _is_closed_to(self, model: ResolvedModel) -> bool:
        return not has_price(model) and self.strict() and bool(self.limits())


@dataclass(frozen=True, slots=True)
class _Counted:
    """A provider whose calls are made only while there is money left."""

    provider: Provider
    budget: Budget

    @property
    def id(self) -> str:
        return self.provider.id

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        self.budget.check()
        return self.provider.stream(request)

    async def complete(self, request: ModelRequest) -> StreamBatch:
        self.budget.check()
        return await self.provider.complete(request)

    async def draw(self, request: ImageRequest) -> AsyncGenerator[Drawn | Rotated, None]:
        self.budget.check()
        async with aclosing(drawer_of(self.provider).draw(request)) as events:
            async for event in events:
                yield event

    async def validate_auth(self) -> AuthCheck:
        return await self.provider.validate_auth()


def has_price(model: ResolvedModel) -> bool:
    return model.price_in is not None and model.price_out is not None


def unpriced(model: ResolvedModel, limit: Limit) -> str:
    """Why a model is not asked under a limit that has to hold."""
    return (
        f"The price of {model.label} is not known, so {limit.what[0].lower()}{limit.what[1:]} cannot hold. Enter it "
        f"under Settings, Models. {limit.way_out}"
    )
