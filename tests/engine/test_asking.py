"""One answer out of a model: written on once at its output limit, kept where it breaks, asked again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.asking import room_beside
from app.engine.errors import ProviderError, ProviderErrorKind
from app.engine.messages import Marker, Origin, Text
from app.engine.provider import (
    CallFragment,
    ModelRequest,
    ReasoningChunk,
    ResolvedModel,
    Stop,
    StopReason,
    TextChunk,
)
from app.engine.scripted import Reply, ScriptedModel, call, say
from app.engine.session import MemorySession
from tests.engine.test_runner import Tool, all_of, done_of, shape
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio

FIRST = say("The lighthouse keeper wal", stop="output_limit")


@pytest.fixture
def session() -> MemorySession:
    return MemorySession("s")


async def test_a_text_at_the_output_limit_is_written_on_as_one_answer(session: MemorySession) -> None:
    model = ScriptedModel(FIRST, say("lighthouse keeper wal", "ked home."))
    happened = await all_of(model, session=session)
    assert done_of(happened).status == "completed"
    assert done_of(happened).text == "The lighthouse keeper walked home."
    assert shape(session) == [("user", "hello"), ("assistant", "The lighthouse keeper walked home.")]
    deltas = [event for event in happened if isinstance(event, events.TextDelta)]
    assert "".join(event.text for event in deltas) == done_of(happened).text
    assert len({event.message_id for event in deltas}) == 1


@pytest.mark.parametrize(
    ("known", "allowed", "asked"), [(900, None, None), (900, 900, 900), (None, None, None)]
)
async def test_a_turn_has_no_cap_but_that_of_the_user(
    known: int | None, allowed: int | None, asked: int | None, session: MemorySession
) -> None:
    class Capped(ScriptedModel):
        def resolve(self, name: str | None) -> ResolvedModel:
            return replace(super().resolve(name), max_output=known, allowed_output=allowed)

    model = Capped(FIRST, say("ked home."))
    await all_of(model, session=session)
    assert [request.max_output_tokens for request in model.requests] == [asked, asked]
    assert [request.longest_output for request in model.requests] == [known, known]


@pytest.mark.parametrize(
    ("tokens", "room"), [(1_000, 8_000), (5_000, 3_500), (8_000, 1_000), (90_000, 1_000)]
)
async def test_what_the_user_allows_is_asked_for_as_far_as_the_window_holds_it(
    tokens: int, room: int
) -> None:
    model = replace(ScriptedModel().resolve(None), context_window=10_000, allowed_output=8_000)
    assert room_beside(tokens, model) == room
    assert room_beside(tokens, replace(model, allowed_output=500)) == 500
    assert room_beside(tokens, replace(model, allowed_output=None)) is None


async def test_the_model_sees_where_it_stopped(session: MemorySession) -> None:
    model = ScriptedModel(FIRST, say("ked home."))
    await all_of(model, session=session)
    last = model.requests[1].messages[-1]
    assert (last.role, last.blocks) == ("assistant", (Text("The lighthouse keeper wal"),))


async def test_it_is_written_on_once_only_then_the_user_decides(session: MemorySession) -> None:
    model = ScriptedModel(FIRST, say("ked ho", stop="output_limit"), say("never asked"))
    done = done_of(await all_of(model, session=session))
    assert (done.status, done.reason) == ("interrupted", "output_limit")
    assert (done.text, len(model.requests)) == ("The lighthouse keeper walked ho", 2)
    assert shape(session)[-2:] == [
        ("assistant", "The lighthouse keeper walked ho"),
        ("assistant", "interrupted"),
    ]


async def test_both_calls_are_counted(session: MemorySession) -> None:
    happened = await all_of(ScriptedModel(FIRST, say("ked home.")), session=session)
    used = [event.output_tokens for event in happened if isinstance(event, events.Usage)]
    assert len(used) == 2
    assert used[1] < used[0]


async def test_a_failure_before_the_second_part_is_retried_and_the_first_part_stays(
    session: MemorySession,
) -> None:
    model = ScriptedModel(FIRST, [ProviderError("overloaded", "Busy.")], say("ked home."))
    happened = await all_of(model, session=session, clock=FakeClock())
    assert done_of(happened).text == "The lighthouse keeper walked home."
    assert sum(isinstance(event, events.Retry) for event in happened) == 1


@pytest.mark.parametrize(
    "second",
    [
        [ProviderError("auth", "The key is wrong.")],
        [TextChunk("ked"), ProviderError("dropped", "The line broke.")],
        [TextChunk("ked")],
    ],
)
async def test_whatever_becomes_of_the_second_part_the_first_is_kept(
    session: MemorySession, second: Reply
) -> None:
    done = done_of(await all_of(ScriptedModel(FIRST, second), session=session))
    assert done.status == "interrupted"
    assert done.text.startswith("The lighthouse keeper wal")
    assert shape(session)[-2:] == [("assistant", done.text), ("assistant", "interrupted")]


async def test_a_stop_in_the_second_part_keeps_both(session: MemorySession) -> None:
    abort = Abort()

    def second(request: ModelRequest) -> Reply:
        yield TextChunk("ked")
        abort.set()
        yield TextChunk(" home.")

    done = done_of(await all_of(ScriptedModel(FIRST, second), session=session, abort=abort))
    assert done.status == "aborted"
    assert session.messages[1].text.startswith("The lighthouse keeper walked")
    assert session.messages[-1].blocks == (Marker("stopped_by_user"),)


async def test_a_model_with_nothing_more_to_say_has_answered(session: MemorySession) -> None:
    done = done_of(await all_of(ScriptedModel(FIRST, [Stop("end")]), session=session))
    assert (done.status, done.text) == ("completed", "The lighthouse keeper wal")


async def test_the_second_part_may_call_tools(session: MemorySession) -> None:
    model = ScriptedModel(FIRST, [TextChunk("ked. "), call("look")], say("There."))
    assert done_of(await all_of(model, Tool("look"), session=session)).status == "completed"
    assert shape(session)[1] == ("assistant", "The lighthouse keeper walked. ", "look")


async def test_a_call_that_met_the_limit_is_not_run_and_the_model_is_told_to_write_less(
    session: MemorySession,
) -> None:
    cut = [CallFragment(0, "c1", "write", '{"path": "a'), Stop("output_limit")]
    write = Tool("write", read_only=False)
    done = done_of(await all_of(ScriptedModel(cut, say("Smaller then.")), write, session=session))
    assert done.status == "completed"
    assert write.runs == []
    assert "split the work into several smaller calls" in session.messages[2].results[0].text


async def test_thinking_alone_at_the_limit_is_no_answer_and_would_be_none_again(
    session: MemorySession,
) -> None:
    model = ScriptedModel([ReasoningChunk("hm"), Stop("output_limit")], say("never"))
    done = done_of(await all_of(model, session=session, clock=FakeClock()))
    assert (done.status, done.error and done.error.kind) == ("failed", "empty")
    assert done.error is not None
    assert "for thinking" in done.error.message
    assert len(model.requests) == 1


@pytest.mark.parametrize("stop", ["filtered", "refused"])
async def test_a_refusal_without_a_word_is_a_refusal_and_not_asked_for_again(
    session: MemorySession, stop: StopReason
) -> None:
    model = ScriptedModel([Stop(stop)], say("never"))
    done = done_of(await all_of(model, session=session))
    assert (done.status, done.error and done.error.kind) == ("failed", "policy")
    assert len(model.requests) == 1


async def test_the_model_is_looked_for_once_a_run_and_again_after_a_failure(session: MemorySession) -> None:
    class Counting(ScriptedModel):
        found = 0

        def resolve(self, name: str | None) -> ResolvedModel:
            self.found += 1
            return super().resolve(name)

    model = Counting([call("look")], [ProviderError("overloaded", "Busy.")], say("ok"))
    assert (
        done_of(await all_of(model, Tool("look"), session=session, clock=FakeClock())).status == "completed"
    )
    assert (model.found, len(model.requests)) == (2, 3)


class Group(ScriptedModel):
    """A model of the user's order, with the one behind it."""

    def __init__(self, id: str, *replies: Reply, following: Group | None = None) -> None:
        super().__init__(*replies)
        self.id = id
        self.following = following

    def resolve(self, name: str | None) -> ResolvedModel:
        following = self.following
        behind = {} if following is None else {"fallback": lambda: following.resolve(None)}
        return replace(super().resolve(name), **behind)


def fallbacks(happened: list[events.Event]) -> list[tuple[str, str]]:
    return [(event.from_model, event.to_model) for event in happened if isinstance(event, events.Fallback)]


@pytest.mark.parametrize("kind", ["auth", "balance", "subscription", "rate_limit"])
async def test_a_source_that_takes_no_key_makes_room_for_the_next_group_at_once(
    session: MemorySession, kind: ProviderErrorKind
) -> None:
    second = Group("second", say("I answer."), say("Still me."))
    first = Group("first", [ProviderError(kind, "No.")], following=second)
    happened = await all_of(first, session=session)
    assert done_of(happened).status == "completed"
    assert fallbacks(happened) == [("first/model", "second/model")]
    assert session.messages[-1].origin == Origin("second", "model")
    assert [message.role for message in session.messages] == ["user", "assistant"]
    assert not any(isinstance(event, events.Retry) for event in happened)


async def test_what_may_pass_is_waited_for_before_the_next_group_answers(session: MemorySession) -> None:
    second = Group("second", say("I answer."))
    first = Group("first", *[[ProviderError("server", "503.")]] * 6, following=second)
    clock = FakeClock()
    happened = await all_of(first, session=session, clock=clock)
    attempts = [event.attempt for event in happened if isinstance(event, events.Retry)]
    assert attempts == [1, 2, 3, 4, 5]
    assert fallbacks(happened) == [("first/model", "second/model")]
    assert done_of(happened).text == "I answer."


async def test_the_run_stays_with_the_model_that_took_over(session: MemorySession) -> None:
    second = Group("second", [call("look")], [ProviderError("overloaded", "Busy.")], say("ok"))
    first = Group("first", [ProviderError("auth", "No.")], following=second)
    happened = await all_of(first, Tool("look"), session=session, clock=FakeClock())
    assert done_of(happened).status == "completed"
    assert (len(first.requests), len(second.requests)) == (1, 3)


async def test_the_groups_are_gone_through_once_and_the_last_failure_is_said(session: MemorySession) -> None:
    third = Group("third", [ProviderError("balance", "Third is empty.")])
    second = Group("second", [ProviderError("auth", "Second says no.")], following=third)
    first = Group("first", [ProviderError("auth", "First says no.")], following=second)
    happened = await all_of(first, session=session)
    done = done_of(happened)
    assert done.error == events.Failure("balance", "Third is empty.")
    assert fallbacks(happened) == [("first/model", "second/model"), ("second/model", "third/model")]


async def test_without_a_next_group_a_rate_limit_is_waited_out(session: MemorySession) -> None:
    clock = FakeClock()
    alone = Group("alone", [ProviderError("rate_limit", "Slow.", retry_after=7)], say("ok"))
    assert done_of(await all_of(alone, session=session, clock=clock)).status == "completed"
    assert clock.slept[0] >= 7


@pytest.mark.parametrize("kind", ["invalid", "policy", "unknown_model", "local", "budget"])
async def test_what_would_fail_everywhere_is_not_tried_elsewhere(
    session: MemorySession, kind: ProviderErrorKind
) -> None:
    second = Group("second", say("never"))
    first = Group("first", [ProviderError(kind, "No.")], following=second)
    assert done_of(await all_of(first, session=session)).status == "failed"
    assert second.requests == []


async def test_after_the_first_word_nobody_else_answers(session: MemorySession) -> None:
    second = Group("second", say("never"))
    first = Group("first", [TextChunk("Well"), ProviderError("auth", "No.")], following=second)
    done = done_of(await all_of(first, session=session))
    assert (done.status, done.text) == ("interrupted", "Well")
    assert second.requests == []
