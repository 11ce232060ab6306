"""The ledger: a row per call, and sums that an unknown price does not spoil."""

from __future__ import annotations

import pytest

from app.engine.events import Usage
from app.workspace.conversations import delete, purge
from app.workspace.store import Store
from app.workspace.usage import Grouping, UsageSum, record, total, totals
from tests.models.stands import HandClock


def call(model: str = "gpt-6", cost: float | None = 0.25, provider: str = "openai", **counts: int) -> Usage:
    tokens = {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 5, "cache_write_tokens": 1}
    return Usage(provider=provider, model=model, cost=cost, duration_ms=900, **{**tokens, **counts})


def test_an_empty_ledger_sums_to_nothing(store: Store) -> None:
    assert total(store) == UsageSum("", 0, 0, 0, 0, 0, 0.0, 0, 0)
    assert totals(store, "model") == []


def test_a_call_is_entered_as_it_was(store: Store, chat: str) -> None:
    row = record(
        store,
        Usage("ollama", "qwen", 1, 2, 3, 4, None, True, 1500, 300, "rate_limit", "compaction"),
        member="commander",
        conversation=chat,
        turn="turn_1",
    )
    assert (row.time, row.purpose, row.outcome) == ("2026-11-30T14:10:24.871Z", "compaction", "rate_limit")
    assert total(store) == UsageSum("", 1, 1, 2, 3, 4, 0.0, unknown_costs=1, estimated=1)


def test_an_unknown_price_is_counted_and_does_not_spoil_the_sum(store: Store) -> None:
    for cost in (0.25, None, 0.5, 0.0):
        record(store, call(cost=cost), member="commander")
    summed = total(store)
    assert (summed.calls, summed.cost, summed.unknown_costs) == (4, 0.75, 1)
    assert (summed.input_tokens, summed.output_tokens) == (400, 40)
    assert summed.tokens == 464


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("model", [("openai/gpt-6", 2), ("ollama/qwen", 1)]),
        ("day", [("2026-11-30", 2), ("2026-12-01", 1)]),
        ("agent", [("commander", 2), ("writer", 1)]),
        ("conversation", [("conv_a", 2), ("", 1)]),
    ],
)
def test_sums_by(store: Store, clock: HandClock, by: Grouping, keys: list[tuple[str, int]]) -> None:
    record(store, call(), member="commander", conversation="conv_a")
    record(store, call("qwen", None, "ollama", input_tokens=1), member="writer", conversation="conv_a")
    clock.move(hours=10)
    record(store, call(), member="commander")
    assert [(each.key, each.calls) for each in totals(store, by)] == keys
    assert sum(each.tokens for each in totals(store, by)) == total(store).tokens


def test_sums_of_one_conversation(store: Store) -> None:
    record(store, call(), member="commander", conversation="conv_a")
    record(store, call(), member="commander", conversation="conv_b")
    assert total(store, conversation="conv_a").calls == 1
    assert [each.key for each in totals(store, "conversation", conversation="conv_b")] == ["conv_b"]


def test_the_ledger_outlives_the_conversation(store: Store, chat: str) -> None:
    record(store, call(), member="commander", conversation=chat)
    delete(store, chat)
    before = total(store)
    purge(store, [chat])
    assert total(store) == before
