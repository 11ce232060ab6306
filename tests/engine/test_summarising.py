"""Who writes a summary: the model that answers, unless another was chosen and can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.errors import ProviderError
from app.engine.provider import ModelRequest, ReasoningChunk, ResolvedModel, TextChunk
from app.engine.provider import Stop as StopReading
from app.engine.runner import run
from app.engine.scripted import Reply, ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from tests.engine.test_compacting import PAGE, SUMMARY, WINDOW, is_summary_call
from tests.engine.test_runner import Tool, agent, done_of, harness
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio

OWN, HELPER = "model", "helper"


class Models(ScriptedModel):
    """One that reads pages until it answers, and a helper. Both write summaries, the helper as ``helps`` says."""

    def __init__(
        self, helps: Callable[[], Reply] = lambda: say(SUMMARY), *, helper_window: int = WINDOW
    ) -> None:
        super().__init__(*[self.reply] * 1_000, window=WINDOW)
        self._helps = helps
        self._helper_window = helper_window
        self._pages = iter(range(20))
        self.budget = 10_000
        """Calls after which no money is left."""

    def resolve(self, name: str | None) -> ResolvedModel:
        if name == "nobody":
            raise ProviderError("unknown_model", "There is no such model.")
        model = super().resolve(name)
        return replace(model, context_window=self._helper_window) if name == HELPER else model

    def reply(self, request: ModelRequest) -> Reply:
        if len(self.requests) > self.budget:
            return [ProviderError("budget", "Spent.")]
        if is_summary_call(request):
            return self._helps() if request.model == HELPER else say(SUMMARY)
        page = next(self._pages, None)
        return say("Noon.") if page is None else [call("look", f"c{page}", path=f"page {page}")]

    @property
    def askers(self) -> list[str]:
        """Who was asked for summaries, in order."""
        return [request.model for request in self.requests if is_summary_call(request)]


async def read(models: Models, auxiliary: str | None = HELPER, **more: Any) -> list[events.Event]:
    reading = replace(agent(Tool("look", output=PAGE)), auxiliary=auxiliary)
    inputs = [UserInput("When is high water?", "u1")]
    given = harness(models, FakeClock())
    return [event async for event in run(reading, MemorySession("s"), inputs, given, **more)]


async def test_the_model_that_answers_writes_them_where_no_other_was_chosen() -> None:
    models = Models()
    assert done_of(await read(models, None)).text == "Noon."
    assert {request.model for request in models.requests} == {OWN}


async def test_the_chosen_one_writes_them_and_answers_nothing_else() -> None:
    models = Models()
    happened = await read(models)
    assert done_of(happened).text == "Noon."
    assert set(models.askers) == {HELPER}
    others = {request.model for request in models.requests if not is_summary_call(request)}
    assert others == {OWN}
    used = [(event.model, event.purpose) for event in happened if isinstance(event, events.Usage)]
    assert set(used) == {(HELPER, "compaction"), (OWN, "turn")}
    assert "What belongs to goal." in models.requests[-1].messages[0].text


@pytest.mark.parametrize(
    "failure",
    [
        [ProviderError("unreachable", "Nothing answers.")],
        [ProviderError("auth", "The key is wrong.")],
        [ProviderError("rate_limit", "Slow down.", retry_after=100.0)],
        [ProviderError("server", "It broke.")],
        [TextChunk("## Goal\nhalf a summ"), ProviderError("dropped", "The line broke.")],
        say(""),
    ],
)
async def test_where_it_fails_the_model_that_answers_writes_it_at_once(failure: Reply) -> None:
    models = Models(lambda: failure)
    happened = await read(models)
    assert done_of(happened).text == "Noon."
    assert models.askers[:4] == [HELPER, OWN, HELPER, OWN]
    assert not any(isinstance(event, events.Retry) for event in happened)
    assert "What belongs to goal." in models.requests[-1].messages[0].text


async def test_one_that_is_not_there_any_more_is_passed_over() -> None:
    models = Models()
    assert done_of(await read(models, "nobody")).text == "Noon."
    assert set(models.askers) == {OWN}


async def test_the_model_that_answers_is_not_asked_twice_for_being_chosen() -> None:
    models = Models(lambda: [ProviderError("server", "It broke.")])
    assert done_of(await read(models, f"scripted/{OWN}")).text == "Noon."
    assert set(models.askers) == {OWN}


async def test_what_it_is_shown_fits_its_own_window() -> None:
    models = Models(helper_window=4_000)
    await read(models)
    helped = [request for request in models.requests if request.model == HELPER]
    assert helped
    assert all(len(request.messages[0].text) < 4_000 * 4 for request in helped)
    assert all((request.max_output_tokens or 0) < 1_000 for request in helped)


async def test_a_budget_that_is_spent_ends_the_run_as_ever() -> None:
    models = Models(lambda: [ProviderError("budget", "Spent.")])
    models.budget = 2
    done = done_of(await read(models))
    assert (done.status, done.error and done.error.kind) == ("failed", "budget")


async def test_one_that_thinks_all_its_room_away_is_asked_again_without_a_cap() -> None:
    thought: Reply = [ReasoningChunk("hm"), StopReading("output_limit")]
    replies = iter([thought])
    models = Models(lambda: next(replies, say(SUMMARY)))
    await read(models)
    caps = [request.max_output_tokens for request in models.requests if request.model == HELPER]
    assert [cap is None for cap in caps[:2]] == [False, True]


async def test_a_stop_ends_it_and_nobody_else_is_asked() -> None:
    abort = Abort()

    def stopped() -> Reply:
        abort.set()
        return say(SUMMARY)

    models = Models(stopped)
    assert done_of(await read(models, abort=abort)).status == "aborted"
    assert models.askers == [HELPER]
