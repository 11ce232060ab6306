"""Pieces of calls, whatever their types."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.provider import CallFragment
from app.providers.fragments import MOST_DETAILS, add_details, read_calls, read_legacy_call


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (
            {"index": 1, "id": "a", "function": {"name": "f", "arguments": "{}"}},
            CallFragment(1, "a", "f", "{}"),
        ),
        ({"index": "1", "id": 7, "function": {"name": "f"}}, CallFragment(1, "7", "f")),
        ({"function": {"arguments": {"x": "à"}}}, CallFragment(None, None, None, '{"x": "à"}')),
        ({"index": "9" * 5_000, "id": "a"}, CallFragment(None, "a")),
        ({"id": "", "function": None}, CallFragment()),
        (
            {"extra_content": {"google": {"s": "x"}}},
            CallFragment(data={"extra_content": {"google": {"s": "x"}}}),
        ),
        ({"extra_content": None, "provider_specific_fields": {}, "more": 1}, CallFragment()),
    ],
)
def test_a_piece_is_read_as_far_as_it_makes_sense(call: dict[str, Any], fragment: CallFragment) -> None:
    assert list(read_calls([call], numbered=False)) == [fragment]


def test_the_place_stands_for_a_missing_index_where_calls_come_whole() -> None:
    assert [one.index for one in read_calls([{}, {"index": 5}, {}], numbered=True)] == [0, 5, 2]


@pytest.mark.parametrize("calls", [None, "x", {}, [None, 3]])
def test_what_is_no_list_of_calls_holds_none(calls: Any) -> None:
    assert list(read_calls(calls, numbered=True)) == []


def test_the_old_form_is_one_call() -> None:
    assert list(read_legacy_call({"name": "f", "arguments": "{"})) == [CallFragment(0, None, "f", "{")]
    assert list(read_legacy_call(None)) == []


def test_pieces_of_structured_thinking_grow_by_index() -> None:
    known: list[dict[str, Any]] = []
    add_details(known, [{"index": 0, "type": "text", "text": "a"}, None, {"index": 1, "type": "sealed"}])
    add_details(
        known, [{"index": 0, "type": "text", "text": "b", "signature": "s"}, {"index": 1, "type": "text"}]
    )
    assert known == [
        {"index": 0, "type": "text", "text": "ab", "signature": "s"},
        {"index": 1, "type": "sealed"},
        {"index": 1, "type": "text"},
    ]


def test_structured_thinking_has_an_end() -> None:
    known: list[dict[str, Any]] = []
    add_details(known, [{"index": index, "type": "text", "text": "a"} for index in range(MOST_DETAILS + 5)])
    add_details(known, [{"index": 0, "type": "text", "text": "b"}])
    assert len(known) == MOST_DETAILS
    assert known[0]["text"] == "ab"
