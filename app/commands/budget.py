"""``--max-cost``: no further model call once so much is spent."""

from __future__ import annotations

from collections.abc import Callable

from app.engine.errors import ProviderError
from app.engine.provider import ModelSource, ResolvedModel


class Budget:
    """Stands between a run and its models. ``spent`` is asked before every call; US dollars."""

    def __init__(self, models: ModelSource, limit: float, spent: Callable[[], float]) -> None:
        self._models = models
        self._limit = limit
        self._spent = spent

    def resolve(self, name: str | None) -> ResolvedModel:
        """As the source behind it. Raises ``ProviderError`` too where the money is spent."""
        spent = self._spent()
        if spent >= self._limit:
            raise ProviderError(
                "budget",
                f"The budget of ${self._limit:.4f} is spent (${spent:.4f} so far), so no further call was made. "
                "Go on with a higher --max-cost.",
            )
        model = self._models.resolve(name)
        if not has_price(model):
            raise ProviderError("local", unpriced(model))
        return model


def has_price(model: ResolvedModel) -> bool:
    return model.price_in is not None and model.price_out is not None


def unpriced(model: ResolvedModel) -> str:
    return (
        f"The price of {model.label} is not known, so --max-cost cannot hold. Add its source anew with --price-in "
        "and --price-out (`plancia help provider add`), or leave --max-cost out."
    )
