"""Calls assembled from fragments. The whole traces of a wire are read in ``tests/providers``."""

from __future__ import annotations

import json
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.assembly import MAX_ARGUMENTS, MAX_CALLS, CallAssembler, read_arguments
from app.engine.messages import ToolCall
from app.engine.provider import CallFragment, StopReason
from app.engine.surrogates import scrub_value


def assemble(*fragments: CallFragment, stop: StopReason | None = "tool_calls") -> tuple[ToolCall, ...]:
    numbers = count(1)
    calls = CallAssembler(lambda prefix: f"{prefix}_made_{next(numbers)}")
    for fragment in fragments:
        calls.add(fragment)
    return calls.finish(stop)


def test_a_call_is_known_by_its_id_as_soon_as_the_server_names_one() -> None:
    calls = CallAssembler()
    assert calls.add(CallFragment(index=0, name="read_file", arguments="")) is None
    assert calls.add(CallFragment(index=0, id="a", arguments="{}")) == "a"
    assert calls.add(CallFragment(index=0, arguments=" ")) == "a"
    assert [call.id for call in calls.finish("tool_calls")] == ["a"]


def test_calls_that_share_an_id_get_ids_of_their_own() -> None:
    calls = assemble(
        CallFragment(0, "same", "read_file", '{"path":"a"}'),
        CallFragment(1, "same", "read_file", '{"path":"b"}'),
    )
    assert [call.id for call in calls] == ["same", "call_made_1"]
    assert [call.arguments["path"] for call in calls] == ["a", "b"]


def test_an_id_that_is_taken_is_not_given_twice() -> None:
    calls = CallAssembler(lambda prefix: f"{prefix}_made", taken={"a"})
    assert calls.add(CallFragment(0, "a", "read_file", "{}")) is None
    assert [call.id for call in calls.finish("tool_calls")] == ["call_made"]


def test_two_calls_without_ids_that_both_say_index_0_are_two_calls() -> None:
    calls = assemble(
        CallFragment(0, None, "stat_file", '{"path":"a"}'), CallFragment(0, None, "stat_file", '{"path":"b"}')
    )
    assert [dict(call.arguments) for call in calls] == [{"path": "a"}, {"path": "b"}]
    assert len({call.id for call in calls}) == 2


def test_a_new_id_with_each_fragment_is_one_call_even_before_any_argument() -> None:
    calls = assemble(
        CallFragment(0, "x1", "read_file", ""),
        CallFragment(0, "x2", None, '{"path":'),
        CallFragment(0, "x3", None, '"a"}'),
        CallFragment(0, "x4", None, ""),
    )
    assert calls == (ToolCall("x1", "read_file", {"path": "a"}),)


def test_a_name_repeated_beside_a_brace_inside_a_string_opens_no_call() -> None:
    fragments = [CallFragment(0, None, "grep_files", piece) for piece in ('{"pattern":"x', "{1}", '"}')]
    assert [dict(call.arguments) for call in assemble(*fragments)] == [{"pattern": "x{1}"}]


@pytest.mark.parametrize("stop", [None, "output_limit"])
def test_a_call_without_arguments_in_an_unfinished_answer_is_incomplete(stop: StopReason | None) -> None:
    (call,) = assemble(CallFragment(0, "a", "delete_all", ""), stop=stop)
    assert call.problem == "incomplete"


def test_arguments_beyond_the_limit_are_neither_kept_nor_run() -> None:
    piece = "x" * 1_000_000
    start = CallFragment(0, "a", "write_file", '{"content":"')
    (call,) = assemble(start, *[CallFragment(0, arguments=piece)] * 20, CallFragment(0, arguments='"}'))
    assert call.problem == "incomplete"
    assert len(call.raw or "") <= MAX_ARGUMENTS


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"',
        '{"a',
        '{"a"',
        '{"a":',
        '{"a":tr',
        '{"a":1',
        '{"a":-',
        '{"a":1.',
        '{"a":1e+',
        '{"a":"\\',
        '{"a":"\\u00',
        '{"a":[1,',
    ],
)
def test_the_beginning_of_an_object_is_incomplete(text: str) -> None:
    assert read_arguments(text) == ({}, "incomplete")


@pytest.mark.parametrize(
    "text",
    [
        "{a:1}",
        "{'a':1}",
        '{"a":NaN}',
        '{"a":-Infinity}',
        '{"a":1e999}',
        '{"a":1}{"a":1}',
        '{"a":' + "9" * 5000 + "}",
    ],
)
def test_what_is_no_json_is_not_taken_for_cut_json(text: str) -> None:
    assert read_arguments(text) == ({}, "not_json")


def test_arguments_nested_beyond_reason_are_refused_and_nothing_breaks() -> None:
    arguments, problem = read_arguments('{"a":' * 100_000 + "1" + "}" * 100_000)
    assert (arguments, problem) == ({}, "not_json")


@pytest.mark.parametrize("text", ['"a"', "[]", "3", "true", "null", '"[1]"', '"\\"{}\\""'])
def test_json_that_is_no_object_is_refused(text: str) -> None:
    assert read_arguments(text) == ({}, "not_object")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ["\\ud83d", "\\uD83D\\uDE00"]}',
        '{"a": ["\ud83d", "\\ud83d\\ude00"]}',
        json.dumps('{"a": ["\\ud83d", "\\ud83d\\ude00"]}'),
        '"{\\"a\\": [\\"\\u005cud83d\\", \\"\\ud83d\\ude00\\"]}"',
    ],
)
def test_halves_of_characters_are_scrubbed_however_they_are_spelled(text: str) -> None:
    assert read_arguments(text) == ({"a": ["\ufffd", "\U0001f600"]}, None)


@given(
    st.recursive(
        st.text(st.characters(exclude_categories=()), max_size=3), lambda inner: st.lists(inner, max_size=3)
    )
)
def test_arguments_that_were_read_can_always_be_written(value: Any) -> None:
    for text in (json.dumps({"a": value}), json.dumps(json.dumps({"a": value}))):
        read, problem = read_arguments(text)
        assert problem is None
        assert read == {"a": scrub_value(value)}
        json.dumps(read, ensure_ascii=False).encode()


def test_a_key_that_stands_twice_is_refused_at_any_depth_also_inside_a_string() -> None:
    for text in ('{"a":{"b":1,"b":2}}', '[{"b":1,"b":1}]', json.dumps('{"b":1,"b":2}')):
        assert read_arguments(text) == ({}, "duplicate_key")


def json_values() -> st.SearchStrategy[Any]:
    scalars = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text()
    )
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | objects(inner), max_leaves=8)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.text(max_size=5), inner, max_size=4)


def cut_up(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@given(
    st.lists(
        st.tuples(objects(json_values()), st.booleans(), st.lists(st.integers(0, 10_000), max_size=5)),
        max_size=4,
    ),
    st.data(),
)
def test_any_objects_in_any_fragments_in_any_interleaving_come_out_whole(
    wanted: list[tuple[dict[str, Any], bool, list[int]]], data: st.DataObject
) -> None:
    streams = []
    for index, (value, escaped, places) in enumerate(wanted):
        pieces = cut_up(json.dumps(value, ensure_ascii=escaped), places)
        opening = CallFragment(index, f"id{index}", "tool", pieces[0])
        streams.append([opening, *(CallFragment(index, arguments=piece) for piece in pieces[1:])])
    order = data.draw(st.permutations([index for index, stream in enumerate(streams) for _ in stream]))
    calls = assemble(*(streams[index].pop(0) for index in order))
    assert [dict(call.arguments) for call in calls] == [value for value, _, _ in wanted]
    assert [call.problem for call in calls] == [None] * len(wanted)


@given(objects(json_values()).filter(bool), st.data())
def test_an_object_cut_anywhere_is_never_runnable(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert read_arguments(cut) == ({}, "incomplete")


@given(
    st.lists(
        st.builds(CallFragment, st.none() | st.integers(0, 2), *[st.none() | st.text(max_size=4)] * 3),
        max_size=8,
    )
)
def test_any_fragments_at_all_end_in_calls_with_ids_of_their_own(fragments: list[CallFragment]) -> None:
    calls = assemble(*fragments)
    ids = [call.id for call in calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all((call.raw is None) == (call.problem is None) for call in calls)


@pytest.mark.parametrize("width", [1, 2, 7, 20])
def test_long_arguments_with_the_name_in_every_fragment_are_one_call(width: int) -> None:
    text = json.dumps({"path": 'a\\"b', "content": 'He said {"x": [1, "\\\\"]} and }" left. ' * 400})
    assembler = CallAssembler()
    for start in range(0, len(text), width):
        assembler.add(CallFragment(0, None, "write_file", text[start : start + width]))
    (whole,) = assembler.finish("tool_calls")
    assert whole.arguments == json.loads(text)


def test_an_answer_has_no_more_calls_than_it_may_have() -> None:
    assembler = CallAssembler()
    added = [assembler.add(CallFragment(n, f"c{n}", "look", "{}")) for n in range(MAX_CALLS + 3)]
    assert added[-4:] == [f"c{MAX_CALLS - 1}", None, None, None]
    assert len(assembler.finish("tool_calls")) == MAX_CALLS


@given(
    st.recursive(
        st.text('ab"\\{}[] \u00e9'), lambda inner: st.lists(inner) | st.dictionaries(st.text('k"\\}'), inner)
    )
)
def test_arguments_in_any_pieces_with_a_name_in_each_are_one_call(value: object) -> None:
    text = json.dumps({"value": value})
    assembler = CallAssembler()
    for piece in text:
        assembler.add(CallFragment(0, None, "write_file", piece))
    assert [call.arguments for call in assembler.finish("tool_calls")] == [{"value": value}]
