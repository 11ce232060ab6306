"""What every wire that speaks HTTP itself does alike, whatever its language."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from app.engine.answer import Answer as Said
from app.engine.assembly import CallAssembler
from app.engine.messages import Image, Message, Origin, Text, ToolResult
from app.engine.provider import (
    LeftOut,
    ModelRequest,
    ReasoningChunk,
    Stop,
    StreamEvent,
    TextChunk,
    UsageReport,
)
from app.engine.retry import wait_seconds
from app.providers.direct import DirectWire
from app.providers.stream_limits import StreamLimits
from tests.fakes import anthropic_messages, ollama_chat, openai_chat, openai_responses
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, cut, fail, hold, insert, page, say
from tests.fakes.pictures import PIXEL, png
from tests.providers.answers import NOON, ask, collect, said
from tests.providers.conftest import SPEAKERS

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("language", SPEAKERS)]

Speak = Callable[..., DirectWire]
REFUSALS = {
    "openai_chat": "`reasoning_content` in messages[1] is not permitted",
    "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "openai_responses": "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "ollama": "json: cannot unmarshal object into Go struct field Message.messages.thinking of type string",
}


def is_silent(event: StreamEvent) -> bool:
    """It carries what its server wants back, and nothing that anybody sees."""
    return isinstance(event, ReasoningChunk) and not event.text


async def answered(wire: DirectWire, request: ModelRequest, llm: FakeLLM) -> Message:
    """The answer as a run would store it."""
    answer = Said("m2", CallAssembler())
    for batch in (await collect(wire, request)).batches:
        list(answer.take(batch))
    message = answer.message(
        time=NOON, origin=Origin("local", request.model, llm.base_url), calls=answer.calls()
    )
    assert message is not None
    return message


async def test_an_answer_streams_from_the_server_to_the_consumer(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(say("Hel", "lo", usage={"input": 11, "output": 2}))
    found = await collect(speak(language))
    shown = [TextChunk("Hel"), TextChunk("lo"), Stop("end"), UsageReport(11, 2)]
    assert [event for event in found.events if not is_silent(event)] == shown
    assert (await llm.until_ended(0))["ended"] == "done"


WHOLE: dict[str, Any] = {
    "openai_chat": openai_chat,
    "anthropic": anthropic_messages,
    "ollama": ollama_chat,
    "openai_responses": openai_responses,
}


async def test_a_server_that_does_not_stream_is_understood(language: str, speak: Speak, llm: FakeLLM) -> None:
    script = say("Well.", reasoning=["Hm"], calls=[call("read_file", {"path": "x"}, id="c1")], usage=(4, 2))
    llm.script({"body": WHOLE[language].whole(script["steps"], "fake-model")}, script)
    for _ in range(2):
        found = await collect(speak(language))
        assert (found.text, found.reasoning, found.stop) == ("Well.", "Hm", "tool_calls")
        assert [(one.id, one.name, dict(one.arguments)) for one in found.calls] == [
            ("c1", "read_file", {"path": "x"})
        ]
        assert found.usage == UsageReport(4, 2)


async def test_what_a_model_thought_and_called_goes_back_to_it_as_it_came(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(
        say("Let me see.", reasoning=["I need ", " a. "], calls=[call("read_file", {"path": "città"})])
    )
    wire, first = speak(language), said("Read")
    answer = await answered(wire, ask(first, session_id="s"), llm)
    (made,) = answer.calls
    result = Message("tool", (ToolResult(made.id, "text"),), "m3", NOON)
    assert (await collect(wire, ask(first, answer, result, session_id="s"))).end == "complete"
    before, after = (body.get("messages") or body["input"] for body in llm.bodies())
    assert json.dumps(after).count("I need  a. ") == 1
    assert json.dumps(after, ensure_ascii=False).count("città") == 1
    assert len(after) - len(before) == {"openai_responses": 4}.get(language, 2)


async def test_thinking_is_not_shown_to_another_model(language: str, speak: Speak, llm: FakeLLM) -> None:
    llm.script(say("So.", reasoning=["I need a."]))
    wire, first = speak(language), said("Read")
    answer = await answered(wire, ask(first), llm)
    await collect(wire, ask(first, answer, said("And?", 3), model="another"))
    assert "I need a." not in json.dumps(llm.bodies()[1])


async def test_a_history_that_a_server_refuses_is_sent_with_less_and_the_chat_goes_on(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(say("So.", reasoning=["I need a."]), fail(400, REFUSALS[language]))
    wire, first = speak(language), said("Read")
    answer = await answered(wire, ask(first, session_id="s"), llm)
    asked = (first, answer, said("And?", 3))
    found = await collect(wire, ask(*asked, session_id="s"))
    later = await collect(wire, ask(*asked, said("Well?", 4), session_id="s"))
    assert (found.end, later.end) == ("complete", "complete")
    assert found.batches[0] == (LeftOut(("thinking",)),)
    assert not any(isinstance(event, LeftOut) for event in later.events)
    assert ["I need a." in json.dumps(body) for body in llm.bodies()] == [False, True, False, False]


async def test_who_leaves_when_told_what_was_left_out_leaves_the_answer_too(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(say("So.", reasoning=["I need a."]), fail(400, REFUSALS[language]), hold(say("a", "b"), 1))
    wire, first = speak(language), said("Read")
    answer = await answered(wire, ask(first), llm)
    async with aclosing(wire.stream(ask(first, answer, said("And?", 3)))) as batches:
        assert await anext(batches) == (LeftOut(("thinking",)),)
    assert (await llm.until_ended(len(llm.requests()) - 1))["ended"] == "left"


async def test_a_history_is_reduced_to_its_text_before_it_is_given_up(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    picture = Message("user", (Text("Look"), Image("results/a.png")), "m0", NOON)
    script = say(reasoning=["I need a."], calls=[call("read_file", {"path": "x"})])
    llm.script(script)
    wire = speak(language, load_image=lambda ref: ("image/png", png()))
    answer = await answered(wire, ask(picture), llm)
    result = Message("tool", (ToolResult(answer.calls[0].id, "A"),), "m3", NOON)
    closing = Message("assistant", (Text("It is A."),), "m4", NOON)
    llm.always(fail(400, "Invalid value for 'content' in messages[1]"))
    found = await collect(wire, ask(picture, answer, result, closing, said("And?", 5)))
    assert found.error is not None
    assert found.error.kind == "invalid"
    tried = [json.dumps(body) for body in llm.bodies()[1:]]
    told = ("I need a.", '"read_file"', PIXEL, '"tools"')
    assert [tuple(word in body for word in told) for body in tried] == [
        (True, True, True, True),
        (False, True, True, True),
        (False, True, True, True),
        (False, True, False, True),
        (False, False, False, False),
    ]


@pytest.mark.parametrize("words", ["Unexpected value for frame_rate", "model is required"])
async def test_any_other_refusal_is_final_at_once(
    language: str, words: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(fail(400, words))
    found = await collect(speak(language))
    assert found.error is not None
    assert found.error.kind == "invalid"
    assert len(llm.requests()) == 1


async def test_what_was_said_before_the_connection_broke_is_kept(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(cut(say(*"abcde"), 3))
    found = await collect(speak(language))
    assert found.text == "abc"
    assert found.error is not None
    assert found.error.kind == "dropped"


async def test_a_stream_that_merely_ends_was_interrupted(language: str, speak: Speak, llm: FakeLLM) -> None:
    llm.script({"steps": [{"text": "The answer is"}]})
    assert (await collect(speak(language))).end == "interrupted"


async def test_an_answer_at_its_limit_says_so(language: str, speak: Speak, llm: FakeLLM) -> None:
    llm.script(say("Half a sen", finish="length"))
    assert (await collect(speak(language))).end == "output_limit"


async def test_an_error_after_some_text_keeps_the_text(language: str, speak: Speak, llm: FakeLLM) -> None:
    error = {"message": "Overloaded", "type": "overloaded_error", "code": 503}
    llm.script({"steps": [{"text": "Well"}, {"error": error}]})
    found = await collect(speak(language))
    assert found.text == "Well"
    assert found.error is not None
    assert found.error.kind in ("overloaded", "server")


def pings(language: str) -> Answer:
    ping = {"comment": "ping"} if language == "openai_chat" else {"chunk": {"type": "ping"}}
    return insert(say("a", "b"), 1, *[ping, {"wait_ms": 10}] * 40)


async def test_each_wait_has_its_limit_and_a_ping_is_no_sign_of_life(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(hold(say("late"), 0), pings(language))
    for limits in (StreamLimits(first_token=0.1), StreamLimits(between_tokens=0.1)):
        found = await collect(speak(language, limits=limits))
        assert found.error is not None
        assert found.error.kind == "timeout"
    llm.release()


async def test_a_model_that_thinks_without_a_word_is_given_up_in_words_and_not_asked_five_times(
    speak: Speak, llm: FakeLLM, language: str
) -> None:
    if language == "ollama":
        quiet: Answer = {"steps": [{"raw": "\n"}, {"hold": "hold"}]}
    else:
        quiet = insert(say("late"), 0, {"raw": ": keep-alive\n\n"}, {"hold": "hold"})
    llm.script(quiet)
    error = (await collect(speak(language, limits=StreamLimits(first_token=0.2)))).error
    assert error is not None
    assert "was at work, but nothing of the answer came in time (waited 0.2 s)" in error.message
    assert [wait_seconds(error, attempt, lambda: 0.5) for attempt in range(2)] == [1.0, None]
    llm.release()


async def test_a_line_without_end_is_stopped(language: str, speak: Speak, llm: FakeLLM) -> None:
    llm.script({"steps": [{"text": "a"}, {"raw": "x" * 5_000_000}]})
    found = await collect(speak(language))
    assert found.text == "a"
    assert found.error is not None
    assert found.error.kind == "server"


async def test_closing_the_iterator_closes_the_connection(language: str, speak: Speak, llm: FakeLLM) -> None:
    llm.script(hold(say("a", "b"), 1))
    async with aclosing(speak(language).stream(ask())) as batches:
        shown = [event for event in await anext(batches) if not is_silent(event)]
        assert shown == [TextChunk("a")]
    assert (await llm.until_ended(0))["ended"] == "left"


async def test_a_connection_is_used_again_after_a_whole_answer(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    wire = speak(language)
    for _ in range(3):
        await collect(wire)
    assert len({one["connection"] for one in llm.requests()}) == 1


async def test_the_key_is_sent_and_a_right_one_is_told_with_the_models(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.knows(models=["b", "a"], keys=["right-key"])
    check = await speak(language, key="right-key").validate_auth()
    assert (check.ok, check.models) == (True, ("a", "b"))
    assert (await collect(speak(language, key="right-key"), ask(model="a"))).end == "complete"


async def test_a_wrong_key_is_told_in_words_and_never_shown(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    llm.knows(keys=["right-key"])
    wire = speak(language, key="wrong-key-0123")
    check = await wire.validate_auth()
    assert check.message == "local did not accept the key. Enter it again under Settings, Models."
    found = await collect(wire)
    assert found.error is not None
    assert (found.error.kind, "wrong-key" in str(found.error)) == ("auth", False)


async def test_a_server_without_a_list_of_models_is_asked_in_another_way(
    language: str, speak: Speak, llm: FakeLLM
) -> None:
    for path in ("/models", "/tags"):
        llm.script(fail(404, "Not Found"), fail(404, "Not Found"), path=path)
    check = await speak(language).validate_auth()
    assert (check.ok, check.models) == (True, ())
    llm.reset()


@pytest.mark.parametrize(
    ("answer", "kind", "wait"),
    [
        (fail(429, "slow down", retry_after=7), "rate_limit", 7),
        (fail(529, "Overloaded", type="overloaded_error"), "overloaded", None),
        (fail(500, "oops"), "server", None),
        (page(), "unreachable", None),
        (fail(404, "model: nothing"), "unknown_model", None),
    ],
)
async def test_failures_are_told_apart(
    language: str, answer: Answer, kind: str, wait: float | None, speak: Speak, llm: FakeLLM
) -> None:
    llm.script(answer)
    error = (await collect(speak(language))).error
    assert error is not None
    assert (error.kind, error.retry_after) == (kind, wait)


async def test_an_answer_of_any_size_is_read_to_its_end(language: str, speak: Speak, llm: FakeLLM) -> None:
    long: dict[str, Any] = {"text": "word ", "times": 5_000}
    script = say("x")
    llm.script({"steps": [long, *script["steps"]]})
    assert len((await collect(speak(language))).text) == 25_001
