"""The usage ledger: one row per model call, and every total a sum over those rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from peewee import Value, fn

from app.engine.events import Usage as Call
from app.models.tables import Usage
from app.workspace.rows import UsageRow
from app.workspace.store import Store

Grouping = Literal["model", "day", "agent", "conversation", "purpose"]

_KEYS: dict[Grouping, Any] = {
    "model": Usage.provider.concat("/").concat(Usage.model),
    "day": fn.SUBSTR(Usage.time, 1, 10),
    "agent": Usage.member,
    "conversation": fn.COALESCE(Usage.conversation, ""),
    "purpose": Usage.purpose,
}


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Sums over some calls. Token counts are disjoint; their total is the sum of the four."""

    key: str
    """``provider/model``, a day in UTC, a member, a conversation id or a purpose; empty for the sum of all."""
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: float
    """US dollars, of the calls whose price is known."""
    unknown_costs: int
    """Calls whose price is not: with any, the true cost is higher than ``cost``."""
    estimated: int
    """Calls whose tokens were counted here because the provider did not report them."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


def record(
    store: Store,
    call: Call,
    *,
    member: str,
    conversation: str | None = None,
    turn: str | None = None,
) -> UsageRow:
    """Enter one call, failed ones and retries too."""
    row = UsageRow(
        id=store.new_id("use"),
        time=store.now(),
        conversation=conversation,
        member=member,
        turn=turn,
        **asdict(call),
    )
    store.database.insert(Usage, row)
    return row


def totals(store: Store, by: Grouping, *, conversation: str | None = None) -> list[UsageSum]:
    """One sum per key: days in their order, all else by tokens, the most first."""
    key = _KEYS[by]
    tokens = fn.SUM(
        Usage.input_tokens + Usage.output_tokens + Usage.cache_read_tokens + Usage.cache_write_tokens
    )
    order = (key,) if by == "day" else (tokens.desc(), key)
    query = Usage.select(key.alias("key"), *_sums()).group_by(key).order_by(*order)
    if conversation is not None:
        query = query.where(Usage.conversation == conversation)
    return [UsageSum(*sums) for sums in store.database.values(query)]


def spent_by_turn(store: Store, conversation: str) -> dict[str, UsageSum]:
    """One sum for each turn of a conversation."""
    query = Usage.select(Usage.turn.alias("key"), *_sums()).group_by(Usage.turn)
    query = query.where(Usage.conversation == conversation, Usage.turn.is_null(False))
    return {sums[0]: UsageSum(*sums) for sums in store.database.values(query)}


def total(store: Store, *, conversation: str | None = None, day: str | None = None) -> UsageSum:
    """The sum of all calls, or of those of one conversation, or of one day in UTC (``2026-11-30``)."""
    query = Usage.select(Value("").alias("key"), *_sums())
    if conversation is not None:
        query = query.where(Usage.conversation == conversation)
    if day is not None:
        query = query.where(Usage.time >= day, Usage.time < f"{day}~")
    return UsageSum(*store.database.values(query)[0])


def _sums() -> list[Any]:
    counted = (Usage.input_tokens, Usage.output_tokens, Usage.cache_read_tokens, Usage.cache_write_tokens)
    return [
        fn.COUNT(Usage.id).alias("calls"),
        *(fn.COALESCE(fn.SUM(column), 0).alias(column.name) for column in counted),
        fn.COALESCE(fn.SUM(Usage.cost), 0.0).alias("cost"),
        (fn.COUNT(Usage.id) - fn.COUNT(Usage.cost)).alias("unknown_costs"),
        fn.COALESCE(fn.SUM(Usage.estimated), 0).alias("estimated"),
    ]
