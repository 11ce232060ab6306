"""The loop: what it yields, what it stores, and that every way out ends in one ``Done``."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.errors import ProviderError
from app.engine.harness import Harness
from app.engine.messages import Marker, Message
from app.engine.pairing import is_paired
from app.engine.provider import (
    CallFragment,
    ReasoningChunk,
    ResolvedModel,
    Stop,
    TextChunk,
    UsageReport,
)
from app.engine.runner import collect, run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import Hear, UserInput
from app.engine.tools import ToolContext, ToolOutput
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio


class Tool:
    """A tool of the tests: does what it was given, once it may."""

    description = "For tests."

    def __init__(self, name: str, *, read_only: bool = True, output: ToolOutput | None = None) -> None:
        self.name = name
        self.read_only = read_only
        self.parameters: Mapping[str, Any] = {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "additionalProperties": False,
        }
        self.output = output or ToolOutput(f"{name} done")
        self.entered = anyio.Event()
        self.may_end = anyio.Event()
        self.may_end.set()
        self.runs: list[Mapping[str, Any]] = []
        self.cancelled = False

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        self.runs.append(arguments)
        self.entered.set()
        context.progress("begun", None, None)
        try:
            await self.may_end.wait()
        except BaseException:
            self.cancelled = True
            raise
        return self.output


def agent(*tools: Tool, step_limit: int = 100) -> Agent:
    return Agent("tester", lambda: "You test.", {tool.name: tool for tool in tools}, step_limit=step_limit)


def harness(model: ScriptedModel, clock: FakeClock | None = None) -> Harness:
    return Harness(model, clock or SystemClock(), new_id, lambda: 0.5)


async def all_of(
    model: ScriptedModel, *tools: Tool, session: MemorySession, **more: Any
) -> list[events.Event]:
    clock = more.pop("clock", None)
    steps = more.pop("step_limit", 100)
    inputs = more.pop("inputs", [UserInput("hello", "u1")])
    return [
        event
        async for event in run(
            agent(*tools, step_limit=steps), session, inputs, harness(model, clock), **more
        )
    ]


def done_of(happened: list[events.Event]) -> events.Done:
    """The last event; every run has exactly one ``Done`` and it is the last."""
    ends = [event for event in happened if isinstance(event, events.Done)]
    assert ends == [happened[-1]]
    return ends[0]


def shape(session: MemorySession) -> list[tuple[str, ...]]:
    """Role and what stands in each message, short enough to compare."""
    return [(message.role, *map(_short, message.blocks)) for message in session.messages]


def _short(block: Any) -> str:
    return str(getattr(block, "text", None) or getattr(block, "name", None) or getattr(block, "marker", ""))


@pytest.fixture
def session() -> MemorySession:
    return MemorySession("s")


async def test_an_answer_streams_and_is_stored_once(session: MemorySession) -> None:
    model = ScriptedModel(say("Hel", "lo."))
    happened = await all_of(model, session=session)
    assert [event.text for event in happened if isinstance(event, events.TextDelta)] == ["Hel", "lo."]
    assert shape(session) == [("user", "hello"), ("assistant", "Hello.")]
    done = done_of(happened)
    assert (done.status, done.text, done.steps) == ("completed", "Hello.", 1)


async def test_the_result_alone_comes_from_the_same_events(session: MemorySession) -> None:
    model = ScriptedModel(say("Yes."))
    done = await collect(run(agent(), session, [UserInput("well?", "u")], harness(model)))
    assert done.text == "Yes."


async def test_deltas_name_the_message_that_will_hold_them(session: MemorySession) -> None:
    happened = await all_of(ScriptedModel(say("a")), session=session)
    delta = next(event for event in happened if isinstance(event, events.TextDelta))
    assert session.messages[-1].id == delta.message_id


async def test_tools_run_and_the_model_is_asked_again(session: MemorySession) -> None:
    tool = Tool("look")
    model = ScriptedModel([call("look", path="a")], say("It says done."))
    happened = await all_of(model, tool, session=session)
    assert tool.runs == [{"path": "a"}]
    assert shape(session) == [
        ("user", "hello"),
        ("assistant", "look"),
        ("tool", "look done"),
        ("assistant", "It says done."),
    ]
    assert done_of(happened).steps == 2
    assert [message.role for message in model.requests[1].messages] == ["user", "assistant", "tool"]


async def test_calls_run_whatever_the_finish_reason_says(session: MemorySession) -> None:
    tool = Tool("look")
    model = ScriptedModel([call("look"), Stop("end")], say("ok"))
    await all_of(model, tool, session=session)
    assert len(tool.runs) == 1


async def test_adjacent_reads_run_side_by_side_and_are_stored_in_declared_order(
    session: MemorySession,
) -> None:
    first, second = Tool("first"), Tool("second")
    first.may_end = anyio.Event()
    model = ScriptedModel([call("first", index=0), call("second", index=1)], say("ok"))

    async def let_go() -> None:
        await second.entered.wait()
        first.may_end.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(let_go)
        with anyio.fail_after(5):
            happened = await all_of(model, first, second, session=session)
    assert [message.text or message.results[0].text for message in session.messages[2:4]] == [
        "first done",
        "second done",
    ]
    assert done_of(happened).status == "completed"


async def test_a_call_that_changes_something_waits_for_the_reads_before_it(session: MemorySession) -> None:
    read, write = Tool("read"), Tool("write", read_only=False)
    model = ScriptedModel(
        [call("read", index=0), call("write", index=1), call("read", "r2", index=2)], say("ok")
    )
    order = [
        f"{event.type} {event.call_id}"
        for event in await all_of(model, read, write, session=session)
        if isinstance(event, events.ToolStart | events.ToolEnd)
    ]
    assert order == [
        "tool_start call_read_0",
        "tool_end call_read_0",
        "tool_start call_write_1",
        "tool_end call_write_1",
        "tool_start r2",
        "tool_end r2",
    ]


async def test_a_tool_that_breaks_is_a_result_and_is_counted(session: MemorySession) -> None:
    class Broken(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            raise RuntimeError("secret detail")

    model = ScriptedModel([call("broken")], say("I see."))
    happened = await all_of(model, Broken("broken"), session=session)
    result = session.messages[2].results[0]
    assert result.status == "error"
    assert result.code == "E_TOOL_CRASHED"
    assert "secret detail" not in result.text
    assert done_of(happened).tool_errors == events.ToolErrors(permanent=1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"path": 1}, "path"), ({"paht": "a"}, "Accepted by look: path"), ({"path": "a", "x": 1}, "'x'")],
)
async def test_arguments_that_do_not_fit_are_refused_with_the_names_that_do(
    session: MemorySession, arguments: dict[str, Any], expected: str
) -> None:
    tool = Tool("look")
    await all_of(ScriptedModel([call("look", **arguments)], say("ok")), tool, session=session)
    assert not tool.runs
    assert expected in session.messages[2].results[0].text


async def test_an_unknown_tool_is_answered_with_those_there_are(session: MemorySession) -> None:
    await all_of(ScriptedModel([call("lok")], say("ok")), Tool("look"), session=session)
    assert "Available: look" in session.messages[2].results[0].text


async def test_a_failure_before_any_content_is_tried_again_with_rising_numbers(
    session: MemorySession,
) -> None:
    model = ScriptedModel(
        [ProviderError("server", "down")], [ProviderError("overloaded", "busy")], say("Here.")
    )
    happened = await all_of(model, session=session, clock=FakeClock())
    assert [event.attempt for event in happened if isinstance(event, events.Retry)] == [1, 2]
    assert shape(session) == [("user", "hello"), ("assistant", "Here.")]
    assert [event.outcome for event in happened if isinstance(event, events.Usage)] == [
        "server",
        "overloaded",
        "ok",
    ]


async def test_retries_are_spent_at_some_point(session: MemorySession) -> None:
    down = [ProviderError("server", "The server is down.")]
    model = ScriptedModel(*[down] * 20)
    done = done_of(await all_of(model, session=session, clock=FakeClock()))
    assert done.error == events.Failure("server", "The server is down.")
    assert len(model.requests) == 6


async def test_a_server_that_asks_for_an_hour_ends_the_run_and_says_when_to_come_back(
    session: MemorySession,
) -> None:
    model = ScriptedModel([ProviderError("rate_limit", "Too many requests.", retry_after=3600)], say("never"))
    done = done_of(await all_of(model, session=session, clock=FakeClock()))
    assert done.status == "failed"
    assert done.error is not None
    assert done.error.message.startswith("Too many requests. The server asks to wait")
    assert len(model.requests) == 1


async def test_a_final_error_fails_at_once_with_its_sentence(session: MemorySession) -> None:
    happened = await all_of(ScriptedModel([ProviderError("auth", "The key was refused.")]), session=session)
    done = done_of(happened)
    assert done.status == "failed"
    assert done.error == events.Failure("auth", "The key was refused.")
    assert shape(session) == [("user", "hello")]


async def test_a_run_that_its_budget_ends_says_so(session: MemorySession) -> None:
    model = ScriptedModel([ProviderError("budget", "The budget is spent.")])
    done = done_of(await all_of(model, session=session))
    assert (done.status, done.reason) == ("failed", "budget")


async def test_a_break_after_content_keeps_the_text_and_is_not_tried_again(session: MemorySession) -> None:
    model = ScriptedModel(
        [TextChunk("Half an ans"), ProviderError("dropped", "The line broke.")], say("never")
    )
    done = done_of(await all_of(model, session=session))
    assert (done.status, done.text) == ("interrupted", "Half an ans")
    assert shape(session)[-2:] == [("assistant", "Half an ans"), ("assistant", "interrupted")]
    assert len(model.requests) == 1


async def test_a_stream_without_a_finish_reason_is_interrupted_not_done(session: MemorySession) -> None:
    done = done_of(await all_of(ScriptedModel(say("Cut of", stop=None)), session=session))
    assert (done.status, done.reason) == ("interrupted", "dropped")


@pytest.mark.parametrize(
    "reply", [[Stop("end")], [ReasoningChunk("hm"), Stop("end")], [TextChunk("  \n"), Stop("end")]]
)
async def test_an_answer_without_content_is_asked_for_again_and_never_a_success(
    session: MemorySession, reply: list[Any]
) -> None:
    model = ScriptedModel(reply, reply, reply, say("never"))
    done = done_of(await all_of(model, session=session, clock=FakeClock()))
    assert (done.status, done.error and done.error.kind) == ("failed", "empty")
    assert len(model.requests) == 3
    assert shape(session) == [("user", "hello")]


async def test_at_the_step_limit_the_model_answers_once_more_without_tools(session: MemorySession) -> None:
    model = ScriptedModel([call("look", "1")], [call("look", "2")], say("So far, so good."))
    done = done_of(await all_of(model, Tool("look"), session=session, step_limit=2))
    assert (done.status, done.reason, done.steps) == ("limit", "steps", 2)
    assert done.text == "So far, so good."
    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "none"]
    assert model.requests[2].tools == model.requests[1].tools
    assert "That was step 2 of 2" in model.requests[2].messages[-1].results[0].text


async def test_a_call_in_the_closing_answer_is_not_run(session: MemorySession) -> None:
    model = ScriptedModel([call("look", "1")], [TextChunk("One more. "), call("look", "2")])
    look = Tool("look")
    done = done_of(await all_of(model, look, session=session, step_limit=1))
    assert (done.status, done.text, len(look.runs)) == ("limit", "One more. ", 1)
    assert is_paired(session.messages)


async def test_after_the_limit_the_user_can_go_on(session: MemorySession) -> None:
    model = ScriptedModel([call("look", "1")], say("Enough."), [call("look", "2")], say("Enough again."))
    for text in ("Enough.", "Enough again."):
        done = done_of(await all_of(model, Tool("look"), session=session, step_limit=1))
        assert (done.status, done.text) == ("limit", text)


async def test_the_model_is_told_once_that_its_steps_run_out(session: MemorySession) -> None:
    model = ScriptedModel(*([call("look", str(step), path=str(step))] for step in range(9)), say("ok"))
    done_of(await all_of(model, Tool("look"), session=session, step_limit=10))
    told = [
        number
        for number, message in enumerate((m for m in session.messages if m.role == "tool"), 1)
        if "8 of 10 steps are taken" in message.results[0].text
    ]
    assert told == [8]


async def test_a_loop_is_warned_of_and_stopped_before_it_goes_round_again(session: MemorySession) -> None:
    look = Tool("look", output=ToolOutput.failed("E_NOT_FOUND", "There is no such file."))
    model = ScriptedModel(*([call("look", str(step), path="a")] for step in range(9)))
    happened = await all_of(model, look, session=session)
    done = done_of(happened)
    assert (done.status, done.reason) == ("limit", "loop")
    assert len(look.runs) == 4
    assert [event for event in happened if isinstance(event, events.LoopWarning)] == [
        events.LoopWarning("look", 3)
    ]
    results = [message.results[0] for message in session.messages if message.role == "tool"]
    assert ["Loop warning" in result.text for result in results] == [False, False, True, False, False]
    assert results[-1].code == "E_LOOP"


async def test_the_other_calls_of_a_step_that_goes_in_circles_are_answered_too(
    session: MemorySession,
) -> None:
    look, write = Tool("look"), Tool("write", read_only=False)
    same = [[call("look", str(step), path="a")] for step in range(4)]
    model = ScriptedModel(*same, [call("look", "x", path="a"), call("write", "y", index=1)])
    done = done_of(await all_of(model, look, write, session=session))
    assert (done.reason, len(look.runs), write.runs) == ("loop", 4, [])
    assert is_paired(session.messages)


async def test_paging_through_many_pages_is_no_loop(session: MemorySession) -> None:
    model = ScriptedModel(
        *([call("look", str(page), path=f"page {page}")] for page in range(30)), say("Read.")
    )
    happened = await all_of(model, Tool("look"), session=session)
    assert done_of(happened).status == "completed"
    assert not [event for event in happened if isinstance(event, events.LoopWarning)]


async def test_what_the_user_says_meanwhile_gives_a_repeated_call_a_new_beginning(
    session: MemorySession,
) -> None:
    class OneWord:
        def __init__(self) -> None:
            self.waiting = [UserInput("try once more", "s1")]

        async def fold_in(self, hear: Hear) -> list[UserInput]:
            if len(session.messages) < 7 or not self.waiting:
                return []
            said, self.waiting = self.waiting, []
            await hear(said)
            return said

    model = ScriptedModel(*([call("look", str(step), path="a")] for step in range(6)), say("ok"))
    done = done_of(await all_of(model, Tool("look"), session=session, steering=OneWord()))
    assert done.status == "completed"


async def test_only_what_changes_something_waits_for_the_disk() -> None:
    class Noting(MemorySession):
        def __init__(self) -> None:
            super().__init__("s")
            self.synced: list[tuple[str, bool]] = []

        async def append(self, *messages: Message, sync: bool = True) -> None:
            self.synced.append((messages[0].role, sync))
            await super().append(*messages, sync=sync)

    session = Noting()
    model = ScriptedModel([call("look", "1")], [call("look", "2"), call("write", "3", 1)], say("ok"))
    await all_of(model, Tool("look"), Tool("write", read_only=False), session=session)
    assert session.synced == [
        ("user", True),
        ("assistant", False),
        ("tool", False),
        ("assistant", True),
        ("tool", False),
        ("tool", True),
        ("assistant", True),
    ]


async def test_usage_is_reported_per_call_and_summed(session: MemorySession) -> None:
    model = ScriptedModel([UsageReport(100, 10, 5), call("look")], [UsageReport(200, 20), *say("ok")])
    done = done_of(await all_of(model, Tool("look"), session=session))
    assert (done.usage.input_tokens, done.usage.output_tokens, done.usage.cache_read_tokens) == (300, 30, 5)
    assert done.usage.cost == pytest.approx((105 + 2 * 10 + 200 + 2 * 20) / 1e6)


async def test_a_call_without_a_report_is_estimated_and_says_so(session: MemorySession) -> None:
    happened = await all_of(ScriptedModel(say("four words of text")), session=session)
    usage = next(event for event in happened if isinstance(event, events.Usage))
    assert usage.estimated
    assert usage.output_tokens > 0


async def test_steered_messages_are_folded_in_after_the_tools_all_together(session: MemorySession) -> None:
    class Waiting:
        def __init__(self) -> None:
            self.list = [UserInput("use metres", "s1"), UserInput("and be brief", "s2")]

        async def fold_in(self, hear: Hear) -> list[UserInput]:
            told, self.list = self.list, []
            await hear(told)
            assert {message.id for message in session.messages} >= {said.id for said in told}
            return told

    model = ScriptedModel([call("look")], say("12 m."))
    happened = await all_of(model, Tool("look"), session=session, steering=Waiting())
    assert [event.text for event in happened if isinstance(event, events.Steer)] == [
        "use metres",
        "and be brief",
    ]
    assert [row[0] for row in shape(session)] == ["user", "assistant", "tool", "user", "user", "assistant"]


async def test_a_message_that_comes_with_the_final_answer_is_answered_too(session: MemorySession) -> None:
    class Late:
        asked = 0

        async def fold_in(self, hear: Hear) -> list[UserInput]:
            self.asked += 1
            told = [UserInput("wait", "s1")] if self.asked == 1 else []
            await hear(told)
            return told

    done = done_of(
        await all_of(ScriptedModel(say("First."), say("Second.")), session=session, steering=Late())
    )
    assert done.text == "Second."


class Stopping:
    """Runs an agent and stops it where the test says."""

    def __init__(self, model: ScriptedModel, session: MemorySession, *tools: Tool) -> None:
        self.abort = Abort()
        self.model, self.session, self.tools = model, session, tools
        self.events: list[events.Event] = []

    async def until(self, moment: Any) -> events.Done:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_at, moment)
            with anyio.fail_after(5):
                self.events = await all_of(self.model, *self.tools, session=self.session, abort=self.abort)
            tasks.cancel_scope.cancel()
        return done_of(self.events)

    async def _stop_at(self, moment: Any) -> None:
        await moment.wait()
        self.abort.set()


async def test_a_stop_inside_a_tool_cancels_it_and_pairs_the_history(session: MemorySession) -> None:
    slow = Tool("slow")
    slow.may_end = anyio.Event()
    model = ScriptedModel([call("slow", "c1", 0), call("look", "c2", 1)], say("never"))
    done = await Stopping(model, session, slow, Tool("look")).until(slow.entered)
    assert done.status == "aborted"
    assert slow.cancelled
    assert [result.call_id for message in session.messages for result in message.results] == ["c1", "c2"]
    assert session.messages[2].results[0].status == "interrupted"
    assert session.messages[-1].blocks == (Marker("stopped_by_user"),)
    assert model.open_streams == 0


async def test_a_change_that_was_cut_off_is_of_unknown_outcome(session: MemorySession) -> None:
    write = Tool("write", read_only=False)
    write.may_end = anyio.Event()
    await Stopping(ScriptedModel([call("write", "c1")]), session, write).until(write.entered)
    assert session.messages[2].results[0].status == "outcome_unknown"


async def test_a_stop_in_the_stream_keeps_what_was_said(session: MemorySession) -> None:
    spoken = anyio.Event()

    class Endless(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            self.open_streams += 1
            try:
                yield (TextChunk("Once upon"),)
                spoken.set()
                await anyio.sleep_forever()
            finally:
                self.open_streams -= 1

    model = Endless()
    stopping = Stopping(model, session)
    done = await stopping.until(spoken)
    assert (done.status, done.text) == ("aborted", "Once upon")
    assert [message.text for message in session.messages] == ["hello", "Once upon", ""]
    assert model.open_streams == 0
    assert any(isinstance(event, events.Usage) and event.outcome == "aborted" for event in stopping.events)


async def test_what_waits_when_the_stop_comes_goes_on_waiting(session: MemorySession) -> None:
    abort = Abort()

    class Waiting:
        async def fold_in(self, hear: Hear) -> list[UserInput]:
            abort.set()
            await hear([UserInput("use metres", "s1")])
            raise AssertionError("it was not stored")

    happened = await all_of(ScriptedModel(say("12 m.")), session=session, abort=abort, steering=Waiting())
    assert done_of(happened).status == "aborted"
    assert [message.id for message in session.messages if message.role == "user"] == ["u1"]


async def test_a_stop_while_waiting_for_a_retry_starts_none(session: MemorySession) -> None:
    abort = Abort()
    model = ScriptedModel([ProviderError("rate_limit", "slow down", retry_after=60)], say("never"))
    happened: list[events.Event] = []
    with anyio.fail_after(5):
        async for event in run(agent(), session, [UserInput("x", "u")], harness(model), abort=abort):
            happened.append(event)
            if isinstance(event, events.Retry):
                abort.set()
    assert done_of(happened).status == "aborted"
    assert len(model.requests) == 1


async def test_after_a_stop_the_next_message_works(session: MemorySession) -> None:
    write = Tool("write", read_only=False)
    write.may_end = anyio.Event()
    await Stopping(ScriptedModel([call("write", "c1")]), session, write).until(write.entered)
    model = ScriptedModel(say("Fine."))
    done = done_of(await all_of(model, session=session, inputs=[UserInput("again", "u2")]))
    assert done.status == "completed"
    assert [message.role for message in model.requests[0].messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


class Slow(ScriptedModel):
    """A model whose key lies in a keyring that asks its user first."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(*replies)
        self.asked, self.answered = threading.Event(), threading.Event()

    def resolve(self, name: str | None) -> ResolvedModel:
        self.asked.set()
        self.answered.wait(5)
        return super().resolve(name)


async def test_while_a_model_is_looked_for_everything_else_goes_on(session: MemorySession) -> None:
    model = Slow(say("Here."))

    async def user() -> None:
        await anyio.to_thread.run_sync(model.asked.wait, 5)
        model.answered.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(user)
        with anyio.fail_after(4):
            done = done_of(await all_of(model, session=session))
    assert done.text == "Here."


async def test_a_stop_while_a_model_is_looked_for_ends_the_run_at_once(session: MemorySession) -> None:
    model = Slow(say("never"))
    asked = anyio.Event()

    async def watch() -> None:
        await anyio.to_thread.run_sync(model.asked.wait, 5)
        asked.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        with anyio.fail_after(4):
            done = await Stopping(model, session).until(asked)
    model.answered.set()
    assert done.status == "aborted"
    assert not model.requests


async def test_a_consumer_that_leaves_ends_the_stream_and_the_tools(session: MemorySession) -> None:
    slow = Tool("slow")
    slow.may_end = anyio.Event()
    model = ScriptedModel([call("slow")])
    events_of_run = run(agent(slow), session, [UserInput("x", "u")], harness(model))
    async for event in events_of_run:
        if isinstance(event, events.ToolProgress):
            break
    await events_of_run.aclose()
    assert slow.cancelled
    assert model.open_streams == 0


async def test_a_change_that_was_left_in_the_middle_is_told_to_the_next_run_as_of_unknown_outcome() -> None:
    session = MemorySession("s", mutating=lambda name: name == "write")
    write = Tool("write", read_only=False)
    write.may_end = anyio.Event()
    model = ScriptedModel([call("write", "c1")])
    async with aclosing(run(agent(write), session, [UserInput("x", "u1")], harness(model))) as happened:
        async for event in happened:
            if isinstance(event, events.ToolProgress):
                break
    model = ScriptedModel(say("Let me look first."))
    await all_of(model, write, session=session, inputs=[UserInput("And?", "u2")])
    told = model.requests[0].messages
    assert [message.role for message in told] == ["user", "assistant", "tool", "assistant", "user"]
    assert told[2].results[0].status == "outcome_unknown"
    assert told[3].blocks == (Marker("interrupted"),)
    assert session.messages[: len(told)] == told


async def test_the_model_hears_the_problem_of_a_call_it_botched(session: MemorySession) -> None:
    broken = CallFragment(0, "c1", "look", '{"path": "a')
    model = ScriptedModel([broken], say("Sorry."))
    tool = Tool("look")
    await all_of(model, tool, session=session)
    assert not tool.runs
    result = session.messages[2].results[0]
    assert result.code == "E_ARGUMENTS"
    assert isinstance(session.messages[1], Message)
