"""Every fault of ``provider_faults.tsv`` that this wire can meet, played by the fake server."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from app.engine.provider import TextChunk
from app.providers.openai_compatible import OpenAICompatible
from app.providers.stream_limits import StreamLimits
from tests.case_tables import load_tsv
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, chunks, cut, fail, hold, page, pieces, say
from tests.providers.answers import ask, collect

pytestmark = pytest.mark.anyio

HELLO = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
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
FAULTS: dict[str, tuple[Answer, str]] = {
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
    "gzip_stream": ({**pieces(*compressed(HELLO, STOP, DONE)), "headers": GZIP}, "complete"),
    "gzip_corrupt": ({**pieces(*compressed(HELLO)[:1], b"\xff" * 50), "headers": GZIP}, "dropped"),
    "gzip_bomb": ({**pieces(bomb()), "headers": GZIP}, "server"),
    "sse_bom": (pieces(b"\xef\xbb\xbf" + HELLO, STOP, DONE), "complete"),
    "sse_no_space": (pieces(HELLO.replace(b"data: ", b"data:"), STOP, DONE), "complete"),
    "sse_multiline": (pieces(HELLO.replace(b'"index"', b'\ndata: "index"'), STOP, DONE), "complete"),
    "sse_split_crlf": (pieces(HELLO.replace(b"\n\n", b"\r"), b"\n\r", b"\n" + STOP, DONE), "complete"),
    "sse_split_field": (pieces(HELLO[:2], HELLO[2:], STOP, DONE), "complete"),
    "sse_giant_line": (pieces(HELLO, b"data: " + b"x" * 4_300_000), "server"),
    "sse_data_error": (
        chunks({"error": {"message": "Overloaded", "type": "overloaded_error"}}),
        "overloaded",
    ),
    "sse_bad_json": (pieces(HELLO, b'data: {"choices": [\n\n', STOP, DONE), "server"),
    "sse_done_early": (pieces(HELLO, DONE), "complete"),
    "sse_done_missing": (pieces(HELLO, STOP), "complete"),
    "sse_after_done": (pieces(HELLO, STOP, DONE, b"data: nonsense\n\n"), "complete"),
    "choices_empty": (chunks({"choices": []}, text(), STOPPED, {"choices": [], "usage": None}), "complete"),
    "choices_missing": (chunks({"id": "x"}, text(), STOPPED), "complete"),
    "delta_null": (chunks({"choices": [{"index": 0, "delta": None}]}, text(), STOPPED), "complete"),
    "content_list": (chunks(text(delta={"content": [{"type": "text", "text": "Hi."}]}), STOPPED), "complete"),
    "finish_null": (chunks(text()), "complete"),
    "finish_filter": (chunks(text(), text(delta={}, finish_reason="content_filter")), "filtered"),
    "stop_but_tools": (say(calls=[call("read_file", {"path": "a"})], finish="stop"), "complete"),
    "usage_missing": (say("Hi.", usage=None), "complete"),
    "usage_null": (chunks(text(usage=None), {**STOPPED, "usage": None}), "complete"),
    "usage_string": (
        chunks(text(), {**STOPPED, "usage": {"prompt_tokens": "x", "completion_tokens": "3"}}),
        "complete",
    ),
    "id_missing": (chunks(text(), STOPPED), "complete"),
    "unknown_field": (chunks({**text(), "a": 1, "b": {"c": [None]}}, STOPPED), "complete"),
    "lone_surrogate": (pieces(HELLO.replace(b"Hello", b"\\ud83d"), STOP, DONE), "complete"),
}

# Dealt with by other rooms, which have tests of their own, or told by a trace of stream_traces.jsonl.
ELSEWHERE = {
    "http_400_bad_json": "the compiler scrubs",
    "http_400_unsupported_param": "test_openai_compatible",
    "http_401_midrun": "the runner",
    "http_1xx": "test_transport",
    "dns_fail": "test_failures",
    "connect_timeout": "test_transport",
    "repetition_loop": "the total limit, test_openai_compatible",
    "tool_args_empty": "trace",
    "tool_args_double_encoded": "trace",
    "tool_args_huge": "test_assembly",
    "tool_unknown": "the runner",
    "tool_case": "the runner",
    "tool_empty_id": "trace",
    "tool_index_missing": "trace",
    "tool_name_split": "trace",
    "tool_name_repeated": "trace",
    "tool_parallel_20": "the runner",
    "tool_call_as_text": "trace",
    "tool_cancel_mid": "the runner",
    "tool_crash_mid": "the session",
    "models_list_fail": "test_openai_compatible",
    "cancel_races_done": "the room",
    "fallback_model": "rotation",
}


def test_every_fault_of_the_table_is_met_somewhere() -> None:
    rows = {
        row["fault_id"]
        for row in load_tsv("provider_faults.tsv")
        if row["api_family"] in ("any", "openai_chat")
    }
    assert rows == FAULTS.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_ends_as_it_should(
    fault: str, llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    answer, expected = FAULTS[fault]
    llm.script(answer)
    limits = StreamLimits(first_token=0.1, between_tokens=0.1) if expected == "timeout" else None
    found = await collect(wire(limits=limits))
    assert (found.error.kind if found.error else found.end) == expected
    llm.release()


WAITS = {
    "http_429_seconds": 7,
    "http_429_date_past": None,
    "http_429_garbage": None,
    "http_429_ms_header": 1.5,
    "http_503_retry_after": 3,
}


@pytest.mark.parametrize(("fault", "seconds"), WAITS.items())
async def test_the_wait_that_a_server_asks_for_is_handed_on(
    fault: str, seconds: float | None, llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    llm.script(FAULTS[fault][0])
    error = (await collect(wire())).error
    assert error is not None
    assert error.retry_after == seconds


async def test_what_was_said_before_a_reset_is_kept(
    llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    llm.script(cut(WORDS, 5))
    found = await collect(wire())
    assert found.text == "abcde"
    assert found.error is not None
    assert found.error.kind == "dropped"


async def test_a_compressed_stream_is_read_as_it_comes(
    llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    first, *rest = compressed(HELLO, STOP, DONE)
    steps = pieces(first, *rest)["steps"]
    llm.script({"steps": [steps[0], {"hold": "hold"}, *steps[1:]], "headers": GZIP})
    async with aclosing(wire().stream(ask())) as batches:
        assert await anext(batches) == (TextChunk("Hello"),)
