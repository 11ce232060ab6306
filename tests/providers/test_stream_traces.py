"""Every recorded stream of the wires that speak HTTP themselves, from the socket to the assembled answer."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from app.engine.messages import ToolCall
from app.providers.direct import DirectWire
from tests.case_tables import load_jsonl
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, chunks, pieces
from tests.providers.answers import collect

pytestmark = pytest.mark.anyio

SPOKEN = ("openai_chat", "openai_responses", "anthropic", "ollama")
ROWS = [row for row in load_jsonl("stream_traces.jsonl") if row["dialect"] in SPOKEN]
KINDS = {"protocol": "server"}
"""What the table calls a stream that breaks the rules of its wire is a failure of the server."""


def script(row: dict[str, Any]) -> Answer:
    if "bytes_b64" in row:
        return pieces(*(base64.b64decode(piece) for piece in row["bytes_b64"]))
    return chunks(*row["events"], done=False)


def written(call: ToolCall, wanted: dict[str, Any]) -> dict[str, Any]:
    """The call as the table writes it."""
    id = "?" if wanted["id"] == "?" and call.id else call.id
    outcome = {"error": call.problem} if call.problem else {"arguments": dict(call.arguments)}
    return {"id": id, "name": call.name, **outcome}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
async def test_a_trace_becomes_its_answer(
    row: dict[str, Any], llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    llm.script(script(row))
    found = await collect(speak(row["dialect"]))
    expected = row["expect"]
    calls = found.calls
    assert found.text == expected["text"]
    assert found.reasoning == expected.get("reasoning", "")
    assert [written(*pair) for pair in zip(calls, expected["calls"], strict=True)] == expected["calls"]
    assert len({call.id for call in calls}) == len(calls)
    assert found.end in expected["end"].split(" | ")
    if found.error is not None:
        assert found.error.kind in [KINDS.get(kind, kind) for kind in expected["error"].split(" | ")]
