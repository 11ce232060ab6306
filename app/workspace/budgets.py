"""What the user allows to be spent: in one conversation, and in one day."""

from __future__ import annotations

from app.providers.budget import Limit
from app.workspace.settings import get_setting
from app.workspace.store import Store
from app.workspace.usage import total

_WAY_OUT = "Allow more under Settings, General."


def list_limits(store: Store, conversation: str) -> tuple[Limit, ...]:
    """Those that are set, with what the ledger has by now. Days are those of UTC, as in the ledger."""
    limits = []
    if (allowed := _allowed(store, "budget.conversation")) is not None:
        spent = total(store, conversation=conversation).cost
        limits.append(Limit(allowed, spent, "The budget of this conversation", _WAY_OUT))
    if (allowed := _allowed(store, "budget.day")) is not None:
        limits.append(
            Limit(allowed, total(store, day=store.now()[:10]).cost, "The budget of this day", _WAY_OUT)
        )
    return tuple(limits)


def is_strict(store: Store) -> bool:
    """Whether a model whose price nobody knows is not asked while there is a budget."""
    return get_setting(store, "budget.unknown") == "stop"


def _allowed(store: Store, key: str) -> float | None:
    value = get_setting(store, key)
    return float(value) if isinstance(value, int | float) else None
