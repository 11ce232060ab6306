"""Budgets of the settings: what is spent comes from the ledger, and only what was set is a limit."""

from __future__ import annotations

import pytest

from app.engine.events import Usage as Call
from app.workspace.budgets import is_strict, list_limits
from app.workspace.settings import set_setting
from app.workspace.store import Store
from app.workspace.usage import record, total, totals
from tests.models.stands import HandClock


def spend(store: Store, conversation: str, cost: float | None, purpose: str = "turn") -> None:
    call = Call("lab", "big", 10, 5, cost=cost, purpose=purpose)  # type: ignore[arg-type]
    record(store, call, member="commander", conversation=conversation)


def test_without_a_setting_there_is_no_limit(store: Store, chat: str) -> None:
    spend(store, chat, 99.0)
    assert list_limits(store, chat) == ()
    assert not is_strict(store)


def test_a_conversation_is_the_sum_of_its_calls_and_a_day_that_of_its_conversations(
    store: Store, chat: str, clock: HandClock
) -> None:
    set_setting(store, "budget.conversation", "$0.50")
    set_setting(store, "budget.day", "2")
    for conversation, cost in ((chat, 0.1), (chat, None), ("another", 0.3)):
        spend(store, conversation, cost)
    spend(store, chat, 0.2, "compaction")
    mine, day = list_limits(store, chat)
    assert (mine.allowed, round(mine.spent, 9)) == (0.5, 0.3)
    assert (day.allowed, round(day.spent, 9)) == (2.0, 0.6)
    by_conversation = totals(store, "conversation")
    (today,) = totals(store, "day")
    assert round(sum(each.cost for each in by_conversation), 9) == round(today.cost, 9) == 0.6
    assert sum(each.calls for each in by_conversation) == today.calls == 4
    assert {each.key: each.calls for each in totals(store, "purpose")} == {"turn": 3, "compaction": 1}
    clock.move(hours=24)
    mine, day = list_limits(store, chat)
    assert (round(mine.spent, 9), day.spent) == (0.3, 0.0)


def test_a_day_is_all_of_it_and_no_other(store: Store, chat: str) -> None:
    spend(store, chat, 0.1)
    today = store.now()[:10]
    assert total(store, day=today).calls == 1
    assert total(store, day="2001-01-01").calls == 0


@pytest.mark.parametrize(("text", "strict"), [("stop", True), ("pass", False)])
def test_whether_unknown_prices_pass_is_the_users_choice(store: Store, text: str, strict: bool) -> None:
    set_setting(store, "budget.unknown", text)
    assert is_strict(store) is strict
