"""A history that fills its window is organised on the way, and the run goes on with what it needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.errors import ProviderError
from app.engine.frontier import SLOTS
from app.engine.messages import Marker
from app.engine.pairing import is_paired
from app.engine.provider import (
    LeftOut,
    ModelRequest,
    ReasoningChunk,
    ResolvedModel,
    StreamEvent,
    TextChunk,
    UsageReport,
)
from app.engine.provider import Stop as StopReading
from app.engine.runner import run
from app.engine.scripted import Reply, ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.engine.tools import ToolOutput
from tests.engine.test_runner import Tool, agent, done_of, harness
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio

WINDOW = 16_000
PAGE = ToolOutput("The tide tables of this harbour, line by line, page by page. " * 100)
SUMMARY = "\n".join(f"## {slot}\nWhat belongs to {slot.lower()}." for slot in SLOTS)


def is_summary_call(request: ModelRequest) -> bool:
    return "You write the summary" in request.system


class Reader:
    """Reads a page a step, writes a summary when asked for one, and answers after so many pages."""

    def __init__(self, pages: int, *summaries: Reply) -> None:
        self.model = ScriptedModel(*[self.reply] * 1_000, window=WINDOW)
        self._pages = iter(range(pages))
        self._summaries = iter(summaries)

    def reply(self, request: ModelRequest) -> Reply:
        if is_summary_call(request):
            return next(self._summaries, say(SUMMARY))
        page = next(self._pages, None)
        if page is None:
            return say("High water is at noon.")
        return [call("look", f"c{page}", path=f"page {page}")]

    @property
    def requests(self) -> list[ModelRequest]:
        return [request for request in self.model.requests if not is_summary_call(request)]

    @property
    def summaries(self) -> list[ModelRequest]:
        return [request for request in self.model.requests if is_summary_call(request)]


async def read(reader: Reader, session: MemorySession, **more: Any) -> list[events.Event]:
    inputs = more.pop("inputs", [UserInput("When is high water? Answer in metres.", "u1")])
    reading: Agent = more.pop("agent", agent(Tool("look", output=PAGE)))
    given = harness(reader.model, more.pop("clock", FakeClock()))
    return [event async for event in run(reading, session, inputs, given, **more)]


def compactions(happened: list[events.Event]) -> list[events.Compaction]:
    return [event for event in happened if isinstance(event, events.Compaction)]


@pytest.fixture
def session() -> MemorySession:
    return MemorySession("s")


async def test_a_hundred_steps_in_a_small_window_end_with_the_answer(session: MemorySession) -> None:
    reader = Reader(99)
    happened = await read(reader, session)
    done = done_of(happened)
    assert (done.status, done.text, done.steps) == ("completed", "High water is at noon.", 100)
    assert len(compactions(happened)) > 5
    assert all(event.tokens_after < event.tokens_before < WINDOW for event in compactions(happened))
    assert len([message for message in session.messages if message.role == "tool"]) == 99
    for request in reader.requests:
        assert is_paired(request.messages)
        assert (
            sum(message.text == "When is high water? Answer in metres." for message in request.messages) == 1
        )


async def test_between_two_compactions_each_request_begins_with_the_one_before(
    session: MemorySession,
) -> None:
    reader = Reader(40)
    happened = await read(reader, session)
    breaks = sum(
        later.messages[: len(earlier.messages)] != earlier.messages
        for earlier, later in zip(reader.requests, reader.requests[1:], strict=False)
    )
    assert breaks == len(compactions(happened)) > 1


async def test_the_open_steps_of_the_plan_are_told_again_word_for_word(session: MemorySession) -> None:
    reader = Reader(20)
    planned = replace(agent(Tool("look", output=PAGE)), open_steps=lambda: "3. Compare with Genoa, exactly.")
    await read(reader, session, agent=planned)
    assert "3. Compare with Genoa, exactly." in reader.requests[-1].messages[0].text


async def test_the_summary_is_the_models_own_and_its_words_are_not_shown(session: MemorySession) -> None:
    reader = Reader(20)
    happened = await read(reader, session)
    assert "What belongs to goal." in reader.requests[-1].messages[0].text
    assert not any("belongs to" in event.text for event in happened if isinstance(event, events.TextDelta))
    assert len([event for event in happened if isinstance(event, events.Usage)]) == len(reader.model.requests)


@pytest.mark.parametrize(
    "broken",
    [
        say(""),
        say("I cannot do that."),
        [ProviderError("policy", "No.")],
        [ProviderError("invalid", "No.")],
        [TextChunk("## Goal\nhalf a summ"), ProviderError("dropped", "The line broke.")],
    ],
)
async def test_without_a_usable_summary_the_record_stands_for_it(
    session: MemorySession, broken: Reply
) -> None:
    reader = Reader(20, *[broken] * 50)
    happened = await read(reader, session)
    assert done_of(happened).status == "completed"
    assert compactions(happened)
    first = reader.requests[-1].messages[0].text
    assert "## Goal" in first
    assert "page" in first


async def test_a_busy_model_is_asked_for_the_summary_again(session: MemorySession) -> None:
    reader = Reader(20, [ProviderError("overloaded", "Busy.")])
    happened = await read(reader, session)
    assert done_of(happened).status == "completed"
    assert sum(isinstance(event, events.Retry) for event in happened) == 1
    assert "What belongs to goal." in reader.requests[-1].messages[0].text


async def test_a_key_that_is_refused_ends_the_run_and_nothing_is_compacted(session: MemorySession) -> None:
    reader = Reader(20, [ProviderError("auth", "The key is wrong.")])
    happened = await read(reader, session)
    done = done_of(happened)
    assert (done.status, done.error and done.error.kind) == ("failed", "auth")
    assert not any(message.summary for message in session.messages)


async def test_a_model_that_refuses_the_length_gets_a_shorter_request_once(session: MemorySession) -> None:
    too_long = ProviderError("overflow", "The conversation is too long for this model.")
    replies: list[Any] = [[call("look", f"c{n}", path=str(n))] for n in range(5)]
    model = ScriptedModel(*replies, [too_long], say(SUMMARY), say("Answered."), window=1_000_000)
    happened = [
        event
        async for event in run(
            agent(Tool("look", output=PAGE)), session, [UserInput("Go.", "u1")], harness(model, FakeClock())
        )
    ]
    assert done_of(happened).text == "Answered."
    assert len(compactions(happened)) == 1


async def test_a_length_that_is_refused_again_is_final(session: MemorySession) -> None:
    too_long = ProviderError("overflow", "The conversation is too long for this model.")
    replies: list[Any] = [[call("look", f"c{n}", path=str(n))] for n in range(5)]
    model = ScriptedModel(*replies, [too_long], say(SUMMARY), [too_long], say("never"), window=1_000_000)
    happened = [
        event
        async for event in run(
            agent(Tool("look", output=PAGE)), session, [UserInput("Go.", "u1")], harness(model, FakeClock())
        )
    ]
    done = done_of(happened)
    assert (done.status, done.error and done.error.kind) == ("failed", "overflow")
    assert is_paired(session.messages)


async def test_what_comes_after_a_refused_length_does_not_compact_again(session: MemorySession) -> None:
    too_long = ProviderError("overflow", "The conversation is too long for this model.")
    busy = [ProviderError("rate_limit", "Slow.")]
    replies: list[Any] = [[call("look", f"c{n}", path=str(n))] for n in range(5)]
    model = ScriptedModel(*replies, [too_long], say(SUMMARY), busy, busy, busy, say("ok"), window=1_000_000)
    given = harness(model, FakeClock())
    inputs = [UserInput("Go.", "u1")]
    happened = [event async for event in run(agent(Tool("look", output=PAGE)), session, inputs, given)]
    assert done_of(happened).text == "ok"
    assert len(compactions(happened)) == 1


async def test_a_model_that_thinks_all_its_room_away_is_asked_for_the_summary_without_a_cap(
    session: MemorySession,
) -> None:
    thought: Reply = [ReasoningChunk("hm"), StopReading("output_limit")]
    reader = Reader(20, thought, say(SUMMARY))
    await read(reader, session)
    assert [request.max_output_tokens is None for request in reader.summaries[:2]] == [False, True]
    assert "What belongs to goal." in reader.requests[-1].messages[0].text


async def test_a_summary_keeps_to_what_the_user_allows_though_the_model_thinks_it_away(
    session: MemorySession,
) -> None:
    class Short(ScriptedModel):
        def resolve(self, name: str | None) -> ResolvedModel:
            return replace(super().resolve(name), max_output=60, allowed_output=60)

    thought: Reply = [ReasoningChunk("hm"), StopReading("output_limit")]
    reader = Reader(20, thought, thought)
    reader.model = Short(*[reader.reply] * 1_000, window=WINDOW)
    await read(reader, session)
    assert {request.room() for request in reader.model.requests} == {60}
    asked = [request.max_output_tokens for request in reader.summaries]
    assert (asked[1], asked.count(60)) == (60, 1)


async def test_after_a_continue_the_request_behind_it_is_still_sent_word_for_word(
    session: MemorySession,
) -> None:
    cut = ScriptedModel(say("I begin", stop=None), window=WINDOW)
    first = [UserInput("When is high water? Answer in metres.", "u1")]
    async for _ in run(agent(Tool("look", output=PAGE)), session, first, harness(cut)):
        pass
    reader = Reader(20)
    await read(reader, session, inputs=[UserInput("Go on from where you stopped.", "u2")])
    for request in reader.requests:
        assert (
            sum(message.text == "When is high water? Answer in metres." for message in request.messages) == 1
        )


async def test_what_was_learnt_of_a_tokenizer_is_known_in_the_next_turn(session: MemorySession) -> None:
    model = ScriptedModel([UsageReport(30_000, 10), *say("one")], say("two"), window=1_000_000)
    given = harness(model)
    for number in range(2):
        inputs = [UserInput("tide " * 1_000, f"u{number}")]
        async for _ in run(agent(), session, inputs, given):
            pass
    assert given.factors == {("s", "scripted/model"): 4.0}


async def test_a_request_of_which_a_server_read_only_the_end_teaches_nothing(session: MemorySession) -> None:
    told = LeftOut(("beginning",), 1_400, 900)
    model = ScriptedModel([UsageReport(900, 10), *say("one"), told], window=1_000_000)
    given = harness(model)
    async for _ in run(agent(), session, [UserInput("tide " * 1_000, "u1")], given):
        pass
    assert given.factors == {}


async def test_a_model_too_small_for_its_own_tools_is_said_at_once(session: MemorySession) -> None:
    model = ScriptedModel(say("never"), window=500)
    heavy = Tool("look")
    heavy.description = "This tool is described at length. " * 200
    happened = [event async for event in run(agent(heavy), session, [UserInput("Go.", "u1")], harness(model))]
    done = done_of(happened)
    assert (done.status, done.error and done.error.kind) == ("failed", "overflow")
    assert done.error is not None
    assert "This model holds 500 tokens" in done.error.message
    assert model.requests == []


async def test_a_window_that_the_last_message_fills_alone_costs_no_call(session: MemorySession) -> None:
    model = ScriptedModel(say("ok"), window=WINDOW)
    long = UserInput("tide " * 13_500, "u1")
    happened = [event async for event in run(agent(), session, [long], harness(model))]
    assert done_of(happened).status == "completed"
    assert len(model.requests) == 1


async def test_a_message_that_no_window_of_this_size_can_hold_is_not_sent(session: MemorySession) -> None:
    """A server might drop its beginning without a word."""
    model = ScriptedModel(say("never"), window=WINDOW)
    long = UserInput("tide " * 40_000, "u1")
    done = done_of([event async for event in run(agent(), session, [long], harness(model))])
    assert (done.status, done.error and done.error.kind) == ("failed", "overflow")
    assert done.error is not None
    assert "Put less into one message" in done.error.message
    assert model.requests == []
    assert session.messages[0].text == long.text


async def test_the_providers_own_count_moves_the_moment_of_the_next_compaction(
    session: MemorySession,
) -> None:
    """A tokenizer that needs twice as many tokens fills the window in half the steps."""

    async def steps_until_compaction(factor: float) -> int:
        reader = Reader(40)
        plain = reader.reply

        def reply(request: ModelRequest) -> Reply:
            size = sum(
                len(message.text) + sum(len(r.text) for r in message.results) for message in request.messages
            )
            return [UsageReport(round(factor * size / 4), 10), *plain(request)]

        reader.model = ScriptedModel(*[reply] * 1_000, window=WINDOW)
        happened = await read(reader, MemorySession("x"))
        at = next(place for place, event in enumerate(happened) if isinstance(event, events.Compaction))
        return sum(isinstance(event, events.ToolEnd) for event in happened[:at])

    assert await steps_until_compaction(2.0) < await steps_until_compaction(1.0)


async def test_a_stop_while_the_summary_is_written_leaves_the_history_as_it_was(
    session: MemorySession,
) -> None:
    abort = Abort()

    class Stopping(list[StreamEvent]):
        def __iter__(self) -> Any:
            abort.set()
            return iter([TextChunk("## Goal\n")])

    reader = Reader(20, Stopping(), say(SUMMARY))
    happened = await read(reader, session, abort=abort)
    assert done_of(happened).status == "aborted"
    assert not any(message.summary for message in session.messages)
    assert session.messages[-1].blocks == (Marker("stopped_by_user"),)
    assert is_paired(session.messages)


async def test_a_later_turn_goes_on_from_the_summary(session: MemorySession) -> None:
    reader = Reader(20)
    await read(reader, session)
    before = len(reader.requests)
    happened = await read(reader, session, inputs=[UserInput("And low water?", "u2")])
    assert done_of(happened).status == "completed"
    (request,) = reader.requests[before:]
    assert request.messages[0].summary is not None
    assert request.messages[-1].text == "And low water?"
    assert len(request.messages) < len(session.messages)
