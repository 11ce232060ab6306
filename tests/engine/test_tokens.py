"""Estimates of tokens: near the tokenizer for every kind of text, nearer once a provider has reported."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.messages import Block, Image, Marker, Message, Reasoning, Text, ToolCall, ToolResult
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.tokens import (
    LEAST,
    MOST,
    PER_IMAGE,
    Estimator,
    estimate_fixed,
    estimate_message,
    estimate_request,
    estimate_tokens,
)
from tests.case_tables import load_jsonl
from tests.engine.histories import NOON, wild_histories

CORPUS: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
for _row in load_jsonl("token_corpus.jsonl"):
    CORPUS[_row["class"]].append(_row)

TOOL = ToolDefinition(
    "read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)


def said(*blocks: Block, id: str = "m") -> Message:
    return Message("user", blocks, id, NOON)


@pytest.mark.parametrize("kind", CORPUS)
def test_each_kind_of_text_is_near_the_tokenizer(kind: str) -> None:
    estimated = sum(estimate_tokens(row["text"]) for row in CORPUS[kind])
    assert 0.8 <= estimated / sum(row["o200k_base"] for row in CORPUS[kind]) <= 1.3


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base", "anthropic", "deepseek"])
@pytest.mark.parametrize("kind", [kind for kind, rows in CORPUS.items() if rows[0]["core"]])
def test_after_three_reports_a_session_is_within_five_percent(kind: str, tokenizer: str) -> None:
    estimator = Estimator()
    messages: tuple[Message, ...] = ()
    real = 0
    for call in range(4):
        for number, row in enumerate(CORPUS[kind] * 3):
            messages += (said(Text(row["text"]), id=f"{call}-{number}"),)
            real += row[tokenizer] + 4
        estimated = estimator.request("", (), messages)
        if call == 3:
            assert 0.95 <= estimated / real <= 1.05
        estimator.correct(estimated, real)


def test_an_odd_report_is_held_within_bounds_and_forgotten() -> None:
    estimator = Estimator()
    messages = (said(Text("How high is the tide today? " * 40)),)
    fair = estimator.request("", (), messages)
    estimator.correct(fair, fair * 1_000)
    assert estimator.factor == MOST
    for _ in range(6):
        estimator.correct(estimator.request("", (), messages), fair)
    assert estimator.request("", (), messages) == pytest.approx(fair, rel=0.05)


def test_a_report_that_leaves_out_what_a_cache_served_teaches_nothing() -> None:
    estimator = Estimator()
    estimator.correct(1_000, 900)
    estimator.correct(900, 30)
    assert estimator.factor == 0.9
    estimator.correct(900, round(1_000 * LEAST))
    assert LEAST < estimator.factor < 0.9


@pytest.mark.parametrize(("estimated", "reported"), [(0, 100), (100, 0), (100, -5), (0, 0)])
def test_a_report_without_sense_changes_nothing(estimated: int, reported: int) -> None:
    estimator = Estimator()
    estimator.correct(estimated, reported)
    assert estimator.factor == 1.0


def test_pictures_thinking_and_calls_count() -> None:
    nothing = estimate_message(said())
    assert estimate_message(said(Image("img1"), Image("img2"))) == nothing + 2 * PER_IMAGE
    thought = "The tide turns at noon. " * 50
    assert estimate_message(said(Reasoning(thought))) > 200
    sealed = Reasoning("", data={"encrypted": "QmFzZTY0" * 100})
    assert estimate_message(said(sealed)) > 200
    call = ToolCall("c1", "write_file", {"path": "a.md", "content": thought})
    assert estimate_message(said(call)) > 200
    assert estimate_message(said(Marker("interrupted"))) > nothing


def test_a_request_is_its_prompt_its_tools_and_its_messages() -> None:
    messages = (said(Text("Hello")), said(ToolResult("c1", "x" * 4_000)))
    request = ModelRequest("model", "You are Commander.", messages, (TOOL,))
    fixed = estimate_fixed("You are Commander.", (TOOL,))
    assert estimate_request(request) == fixed + sum(map(estimate_message, messages))
    assert fixed > estimate_tokens("You are Commander.") + estimate_tokens(json.dumps(TOOL.parameters))


def test_what_cannot_be_encoded_is_estimated_too() -> None:
    assert estimate_tokens("\ud83d\x00 half") > 0
    assert estimate_message(said(ToolCall("c", "t", {"n": float("nan"), "s": "\ud83d", "o": object()}))) > 0


@given(st.text())
def test_every_text_has_at_least_one_token_and_none_has_none(text: str) -> None:
    assert estimate_tokens(text) >= 1 if text else estimate_tokens(text) == 0


@given(st.lists(wild_histories(), min_size=1, max_size=4))
def test_an_estimator_says_of_any_history_what_a_fresh_one_says(
    histories: list[tuple[Message, ...]],
) -> None:
    estimator = Estimator()
    for history in histories:
        for end in (len(history), len(history) // 2, len(history)):
            assert estimator.request("s", (TOOL,), history[:end]) == Estimator().request(
                "s", (TOOL,), history[:end]
            )
            assert estimator.sizes(history[:end]) == tuple(map(estimate_message, history[:end]))


def test_a_longer_history_costs_only_what_is_new() -> None:
    class Counted(str):
        read = 0

        def isascii(self) -> bool:
            Counted.read += 1
            return super().isascii()

    estimator = Estimator()
    messages: list[Message] = []
    for number in range(100):
        messages.append(said(Text(Counted("hello")), id=str(number)))
        estimator.request("", (), tuple(messages))
    estimator.request("", (), (said(Text("summary")), *messages[50:]))
    assert Counted.read == 100
