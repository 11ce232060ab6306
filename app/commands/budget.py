"""``--max-cost``: no further model call once so much is spent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck, ModelRequest, ModelSource, Provider, ResolvedModel, StreamBatch


@dataclass(frozen=True, slots=True)
class Budget:
    """Stands between a run and its models. ``spent`` is asked before every call; US dollars."""

    models: ModelSource
    limit: float
    spent: Callable[[], float]

    def resolve(self, name: str | None) -> ResolvedModel:
        """As the source behind it, with every call counted. Raises ``ProviderError`` too where no price is known."""
        model = self.models.resolve(name)
        if not has_price(model):
            raise ProviderError("local", unpriced(model))
        return self._counted(model)

    def _counted(self, model: ResolvedModel) -> ResolvedModel:
        return replace(
            model, provider=_Counted(model.provider, self), fallback=lambda: self._following(model)
        )

    def _following(self, model: ResolvedModel) -> ResolvedModel | None:
        """The next group whose price is known: no other may spend."""
        following = model.fallback()
        while following is not None and not has_price(following):
            following = following.fallback()
        return None if following is None else self._counted(following)

    def check(self) -> None:
        """Raise ``ProviderError`` once the money is spent."""
        spent = self.spent()
        if spent >= self.limit:
            raise ProviderError(
                "budget",
                f"The budget of ${self.limit:.4f} is spent (${spent:.4f} so far), so no further call was made. "
                "Go on with a higher --max-cost.",
            )


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

    async def validate_auth(self) -> AuthCheck:
        return await self.provider.validate_auth()


def has_price(model: ResolvedModel) -> bool:
    return model.price_in is not None and model.price_out is not None


def unpriced(model: ResolvedModel) -> str:
    return (
        f"The price of {model.label} is not known, so --max-cost cannot hold. Add its source anew with --price-in "
        "and --price-out (`plancia help provider add`), or leave --max-cost out."
    )
