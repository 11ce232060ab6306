"""What a model call cost: as reported, else estimated and said so; never too low where prices are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.answer import Answer
from app.engine.assembly import CallAssembler
from app.engine.events import Totals, Usage
from app.engine.metering import CallMeter, Meter
from app.engine.provider import ResolvedModel, TextChunk, UsageReport
from app.engine.scripted import ScriptedModel
from app.engine.tools import ToolOutput
from tests.fakes.clock import FakeClock

MODEL = ScriptedModel().resolve(None)


async def usage_of(
    report: UsageReport | None,
    *,
    said: str = "four words of text",
    model: ResolvedModel = MODEL,
    outcome: str = "ok",
) -> Usage:
    clock = FakeClock()
    call = CallMeter(model, 12, clock)
    answer = Answer("m1", CallAssembler())
    await clock.sleep(0.25)
    if said:
        call.first_token()
        list(answer.take((TextChunk(said),)))
    if report is not None:
        list(answer.take((report,)))
    await clock.sleep(0.75)
    return call.usage(answer, outcome)


@pytest.mark.anyio
async def test_a_report_is_taken_as_it_is_and_the_call_is_timed() -> None:
    usage = await usage_of(UsageReport(100, 10, 5, 3))
    assert (usage.input_tokens, usage.output_tokens) == (100, 10)
    assert (usage.cache_read_tokens, usage.cache_write_tokens, usage.estimated) == (5, 3, False)
    assert (usage.first_token_ms, usage.duration_ms) == (250, 1000)


@pytest.mark.anyio
async def test_without_a_report_both_sides_are_estimated_and_it_is_said() -> None:
    usage = await usage_of(None)
    assert usage.estimated
    assert usage.input_tokens == 12
    assert usage.output_tokens > 0


@pytest.mark.anyio
async def test_a_call_that_brought_nothing_costs_nothing_we_know_of() -> None:
    usage = await usage_of(None, said="", outcome="auth")
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (0, 0, False)
    assert (usage.first_token_ms, usage.outcome) == (None, "auth")


@pytest.mark.anyio
async def test_the_providers_own_cost_counts_before_our_prices() -> None:
    assert (await usage_of(UsageReport(1_000_000, cost=0.5))).cost == 0.5


@pytest.mark.anyio
async def test_cached_tokens_are_charged_in_full_where_nobody_says_the_cost() -> None:
    assert (await usage_of(UsageReport(1_000_000, 0, 1_000_000, 1_000_000))).cost == pytest.approx(3.25)


@pytest.mark.anyio
@pytest.mark.parametrize("unknown", [{"price_in": None}, {"price_out": None}])
async def test_a_price_that_is_not_known_makes_the_cost_unknown(unknown: dict[str, None]) -> None:
    usage = await usage_of(UsageReport(10, 10), model=replace(MODEL, **unknown))
    assert usage.cost is None


def test_one_call_without_a_cost_makes_the_sum_unknown_for_good() -> None:
    meter = Meter()
    meter.counted(Usage("p", "m", 1, 1, cost=0.25))
    assert meter.totals == Totals(1, 1, cost=0.25)
    meter.counted(Usage("p", "m", 1, 1, cost=None))
    meter.counted(Usage("p", "m", 1, 1, cost=0.25))
    assert meter.totals == Totals(3, 3, cost=None)


def test_attempts_only_go_up_and_failures_are_counted_by_kind() -> None:
    meter = Meter()
    assert [meter.next_attempt() for _ in range(3)] == [1, 2, 3]
    meter.count_failure(ToolOutput.failed("E_TIMEOUT", "Slow.", transient=True))
    meter.count_failure(ToolOutput.failed("E_NOT_FOUND", "Gone."))
    done = meter.done("completed", "ok")
    assert (done.tool_errors.transient, done.tool_errors.permanent) == (1, 1)
