"""Every fault of ``provider_faults.tsv`` in every language that can meet it, played by the fake server."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.engine.provider import TextChunk
from app.providers.direct import DirectWire
from app.providers.stream_limits import StreamLimits
from tests.case_tables import load_tsv
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, chunks, cut, fail, hold, page, pieces, say
from tests.providers.answers import ask, collect
from tests.providers.conftest import SPEAKERS

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Talk:
    """An answer of one word, as a language puts it on the wire: its word, why it stops, its closing mark."""

    hello: bytes
    stop: bytes
    done: bytes


def event(**payload: Any) -> bytes:
    return f"event: {payload['type']}\ndata: {json.dumps(payload)}\n\n".encode()


TALKS = {
    "openai_chat": Talk(
        b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        b"data: [DONE]\n\n",
    ),
    "openai_responses": Talk(
        event(type="response.output_text.delta", output_index=0, delta="Hello"),
        event(type="response.completed", response={"status": "completed", "usage": None}),
        b": the end\n\n",
    ),
    "anthropic": Talk(
        event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
        + event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello"}),
        event(type="message_delta", delta={"stop_reason": "end_turn"}),
        event(type="message_stop"),
    ),
    "ollama": Talk(
        b'{"message":{"role":"assistant","content":"Hello"},"done":false}\n',
        b'{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n',
        b"\n",
    ),
}
LINED = ("openai_chat", "openai_responses", "anthropic")
"""Those that send events; the last one sends lines of JSON."""

WORDS = say("a", "b", "c", "d", "e", "f")
GZIP = {"content-encoding": "gzip"}


def text(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": None, **fields}]}


STOPPED = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def compressed(*parts: bytes) -> list[bytes]:
    """Each part flushed, as a server does that compresses a stream."""
    packer = zlib.compressobj(wbits=31)
    packed = [packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH) for part in parts]
    return [*packed, packer.flush()]


def bomb() -> bytes:
    return gzip.compress(b": " + b"x" * 90_000_000, compresslevel=9)


# What the server does, and how the consumer sees it end: in the words of stream_traces, or the kind of the error.
Fault = tuple[Answer, str]

ANY: dict[str, Fault] = {
    "http_400_invalid": (fail(400, "temperature: too high", type="invalid_request_error"), "invalid"),
    "http_401": (fail(401, "Incorrect API key provided: sk-…", code="invalid_api_key"), "auth"),
    "http_402": (fail(402, "Insufficient credits"), "balance"),
    "http_403_region": (page("<html><h1>403 Forbidden</h1></html>", status=403), "auth"),
    "http_404_model": (fail(404, "The model `x` does not exist", code="model_not_found"), "unknown_model"),
    "http_405_proxy": (page("<h1>Method Not Allowed</h1>", status=405), "invalid"),
    "http_409": (fail(409, "conflict"), "server"),
    "http_413": (page("<h1>Request Entity Too Large</h1>", status=413), "overflow"),
    "http_415": (fail(415, "unsupported media type"), "invalid"),
    "http_429_seconds": (fail(429, "slow down", retry_after=7), "rate_limit"),
    "http_429_date_past": (fail(429, "slow", retry_after="Mon, 01 Jan 2024 00:00:00 GMT"), "rate_limit"),
    "http_429_garbage": (fail(429, "slow", retry_after="soon"), "rate_limit"),
    "http_429_ms_header": (
        fail(429, "slow", retry_after=9, headers={"retry-after-ms": "1500"}),
        "rate_limit",
    ),
    "http_429_quota": (fail(429, "You exceeded your current quota", code="insufficient_quota"), "balance"),
    "http_500": (fail(500, "oops", type="api_error"), "server"),
    "http_503_retry_after": (fail(503, "busy", retry_after=3), "overloaded"),
    "http_504": (fail(504), "timeout"),
    "http_520_edge": (fail(520), "server"),
    "http_200_html": (page(), "unreachable"),
    "http_200_empty": ({"body": "", "headers": {"content-type": "text/event-stream"}}, "empty"),
    "http_301": (fail(301, headers={"location": "https://elsewhere.example/v1"}), "unreachable"),
    "reset_after_headers": ({"steps": [{"reset": True}]}, "dropped"),
    "reset_after_n_chunks": (cut(WORDS, 5, how="reset"), "dropped"),
    "stall_mid_stream": (hold(WORDS, 5), "timeout"),
    "slow_loris": ({"steps": [{"raw": "d"}, {"hold": "hold"}]}, "timeout"),
    "headers_slow": ({"before": [{"hold": "hold"}], **WORDS}, "timeout"),
    "huge_header": ({"headers": {"x-huge": "x" * 65_536}, **WORDS}, "complete"),
    "gzip_bomb": ({**pieces(bomb()), "headers": GZIP}, "server"),
    "usage_missing": (say("Hi.", usage=None), "complete"),
}
"""Whatever the language."""


def framing(talk: Talk) -> dict[str, Fault]:
    """The same answer, brought by the wire in odd ways."""
    hello, stop, done = talk.hello, talk.stop, talk.done
    return {
        "gzip_stream": ({**pieces(*compressed(hello, stop, done)), "headers": GZIP}, "complete"),
        "gzip_corrupt": ({**pieces(*compressed(hello)[:1], b"\xff" * 50), "headers": GZIP}, "dropped"),
        "sse_bom": (pieces(b"\xef\xbb\xbf" + hello, stop, done), "complete"),
        "sse_split_field": (pieces(hello[:2], hello[2:], stop, done), "complete"),
        "sse_split_crlf": (pieces(hello.replace(b"\n", b"\r\n")[:-1], b"\n", stop, done), "complete"),
        "sse_giant_line": (pieces(hello, b"data: " + b"x" * 4_300_000), "server"),
        "sse_bad_json": (pieces(hello, b'data: {"choices": [\n\n', stop, done), "server"),
        "lone_surrogate": (pieces(hello.replace(b"Hello", b"\\ud83d"), stop, done), "complete"),
    }


def events(talk: Talk) -> dict[str, Fault]:
    """Of those that send events."""
    hello, stop, done = talk.hello, talk.stop, talk.done
    return {
        "sse_no_space": (pieces(hello.replace(b"data: ", b"data:"), stop, done), "complete"),
        "sse_multiline": (pieces(hello.replace(b'{"', b'{\ndata: "'), stop, done), "complete"),
    }


CHAT, RESPONSE, CLAUDE, LINES = (TALKS[language] for language in TALKS)

SPOKEN: dict[str, dict[str, Fault]] = {
    "openai_chat": {
        "sse_data_error": (
            chunks({"error": {"message": "Overloaded", "type": "overloaded_error"}}),
            "overloaded",
        ),
        "sse_done_early": (pieces(CHAT.hello, CHAT.done), "complete"),
        "sse_done_missing": (pieces(CHAT.hello, CHAT.stop), "complete"),
        "sse_after_done": (pieces(CHAT.hello, CHAT.stop, CHAT.done, b"data: nonsense\n\n"), "complete"),
        "choices_empty": (
            chunks({"choices": []}, text(), STOPPED, {"choices": [], "usage": None}),
            "complete",
        ),
        "choices_missing": (chunks({"id": "x"}, text(), STOPPED), "complete"),
        "delta_null": (chunks({"choices": [{"index": 0, "delta": None}]}, text(), STOPPED), "complete"),
        "content_list": (
            chunks(text(delta={"content": [{"type": "text", "text": "Hi."}]}), STOPPED),
            "complete",
        ),
        "finish_null": (chunks(text()), "complete"),
        "finish_filter": (chunks(text(), text(delta={}, finish_reason="content_filter")), "filtered"),
        "stop_but_tools": (say(calls=[call("read_file", {"path": "a"})], finish="stop"), "complete"),
        "usage_null": (chunks(text(usage=None), {**STOPPED, "usage": None}), "complete"),
        "usage_string": (
            chunks(text(), {**STOPPED, "usage": {"prompt_tokens": "x", "completion_tokens": "3"}}),
            "complete",
        ),
        "id_missing": (chunks(text(), STOPPED), "complete"),
        "unknown_field": (chunks({**text(), "a": 1, "b": {"c": [None]}}, STOPPED), "complete"),
    },
    "openai_responses": {
        "sse_response_failed": (
            pieces(
                RESPONSE.hello,
                event(
                    type="response.failed",
                    response={"status": "failed", "error": {"code": "server_error", "message": "Sorry."}},
                ),
            ),
            "server",
        ),
        "sse_done_missing": (pieces(RESPONSE.hello), "interrupted"),
        "finish_filter": (say("Hi.", finish="content_filter"), "filtered"),
        "usage_null": (pieces(RESPONSE.hello, RESPONSE.stop), "complete"),
        "id_missing": (say("Hi.", calls=[call("read_file", {"path": "a"}, id="")]), "complete"),
        "unknown_field": (
            pieces(RESPONSE.hello, event(type="response.new", x=[None]), RESPONSE.stop),
            "complete",
        ),
    },
    "anthropic": {
        "http_429_spend": (
            fail(429, "This workspace has reached its monthly spend limit.", type="rate_limit_error"),
            "balance",
        ),
        "sse_event_error": (
            {"steps": [{"error": {"message": "Overloaded", "type": "overloaded_error"}}]},
            "overloaded",
        ),
        "sse_missing_start": (
            pieces(event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Hi."})),
            "server",
        ),
        "finish_filter": (say("Hi.", finish="content_filter"), "refused"),
        "usage_null": (
            pieces(CLAUDE.hello, event(type="message_delta", delta={"stop_reason": "end_turn"}, usage=None)),
            "complete",
        ),
        "id_missing": (pieces(CLAUDE.hello, CLAUDE.stop, CLAUDE.done), "complete"),
        "unknown_field": (
            pieces(
                CLAUDE.hello,
                event(type="a_new_event", x=[None]),
                event(type="message_delta", delta={"stop_reason": "end_turn", "y": {}}, z=1),
            ),
            "complete",
        ),
    },
    "ollama": {
        "ollama_ndjson": (pieces(LINES.hello[:9], LINES.hello[9:] + LINES.stop), "complete"),
        "ollama_model_missing": (fail(404, "model 'x' not found, try pulling it first"), "unknown_model"),
        "finish_null": (pieces(LINES.hello), "interrupted"),
        "usage_null": (pieces(LINES.hello, LINES.stop.replace(b"}\n", b',"eval_count":null}\n')), "complete"),
        "id_missing": (pieces(LINES.hello, LINES.stop), "complete"),
        "unknown_field": (pieces(LINES.hello.replace(b"}\n", b',"x":[null]}\n'), LINES.stop), "complete"),
    },
}
"""What belongs to one language."""


def faults_of(language: str) -> dict[str, Fault]:
    lined = events(TALKS[language]) if language in LINED else {}
    return {**ANY, **framing(TALKS[language]), **lined, **SPOKEN[language]}


PLAYED = [(language, fault) for language in SPEAKERS for fault in faults_of(language)]

# Met in other rooms, whose tests stand in these files, or told by a trace of stream_traces.jsonl.
TRACES = "tests/providers/test_stream_traces.py"
RUNS = "tests/engine/test_runner.py"
STORIES = "tests/providers/test_rotation_stories.py"
ELSEWHERE = {
    "http_400_tool_pairing": "tests/engine/test_ladder.py",
    "http_400_bad_json": "tests/engine/test_projection.py",
    "http_400_unsupported_param": "tests/providers/test_openai_compatible.py",
    "http_401_midrun": STORIES,
    "http_1xx": "tests/providers/test_transport.py",
    "dns_fail": "tests/providers/test_failures.py",
    "connect_timeout": "tests/providers/test_transport.py",
    "repetition_loop": "tests/providers/test_stream_limits.py",
    "tool_args_empty": TRACES,
    "tool_args_double_encoded": TRACES,
    "tool_args_huge": "tests/engine/test_assembly.py",
    "tool_unknown": RUNS,
    "tool_case": RUNS,
    "tool_empty_id": TRACES,
    "tool_index_missing": TRACES,
    "tool_name_split": TRACES,
    "tool_name_repeated": TRACES,
    "tool_parallel_20": RUNS,
    "tool_call_as_text": TRACES,
    "tool_cancel_mid": RUNS,
    "tool_crash_mid": "tests/engine/test_session.py",
    "models_list_fail": "tests/providers/test_openai_compatible.py",
    "cancel_races_done": RUNS,
    "fallback_model": STORIES,
    "sse_out_of_order_index": TRACES,
    "ollama_loading": "tests/providers/test_stream_limits.py",
    "gemini_safety_block": "tests/providers/test_gemini.py",
    "gemini_malformed_call": "tests/providers/test_gemini.py",
    "gemini_json_array_stream": "tests/providers/test_gemini.py",
}


def test_every_fault_of_the_table_is_met_somewhere() -> None:
    rows = {row["fault_id"] for row in load_tsv("provider_faults.tsv")}
    assert rows == {fault for _, fault in PLAYED} | ELSEWHERE.keys()
    assert [place for place in ELSEWHERE.values() if not (ROOT / place).exists()] == []


@pytest.mark.parametrize(("language", "fault"), PLAYED)
async def test_a_fault_ends_as_it_should(
    language: str, fault: str, llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    answer, expected = faults_of(language)[fault]
    llm.script(answer)
    limits = StreamLimits(first_token=0.1, between_tokens=0.1) if expected == "timeout" else None
    found = await collect(speak(language, limits=limits))
    assert (found.error.kind if found.error else found.end) == expected
    llm.release()


WAITS = {
    "http_429_seconds": 7,
    "http_429_date_past": None,
    "http_429_garbage": None,
    "http_429_ms_header": 1.5,
    "http_503_retry_after": 3,
}


@pytest.mark.parametrize("language", SPEAKERS)
@pytest.mark.parametrize(("fault", "seconds"), WAITS.items())
async def test_the_wait_that_a_server_asks_for_is_handed_on(
    language: str, fault: str, seconds: float | None, llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    llm.script(ANY[fault][0])
    error = (await collect(speak(language))).error
    assert error is not None
    assert error.retry_after == seconds


@pytest.mark.parametrize("language", SPEAKERS)
async def test_what_was_said_before_a_reset_is_kept(
    language: str, llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    llm.script(cut(WORDS, 5))
    found = await collect(speak(language))
    assert found.text == "abcde"
    assert found.error is not None
    assert found.error.kind == "dropped"


@pytest.mark.parametrize("language", SPEAKERS)
async def test_a_compressed_stream_is_read_as_it_comes(
    language: str, llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    talk = TALKS[language]
    first, *rest = compressed(talk.hello, talk.stop, talk.done)
    steps = pieces(first, *rest)["steps"]
    llm.script({"steps": [steps[0], {"hold": "hold"}, *steps[1:]], "headers": GZIP})
    async with aclosing(speak(language).stream(ask())) as batches:
        assert await anext(batches) == (TextChunk("Hello"),)


async def test_a_model_that_ollama_has_not_pulled_is_told_with_the_command(
    llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    llm.script(SPOKEN["ollama"]["ollama_model_missing"][0])
    error = (await collect(speak("ollama"))).error
    assert error is not None
    assert "`ollama pull fake-model`" in error.message
