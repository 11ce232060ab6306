"""One answer while it arrives: what is shown of it and what is kept."""

from __future__ import annotations

import pytest

from app.engine.answer import Answer
from app.engine.assembly import CallAssembler
from app.engine.events import Event, ReasoningDelta, TextDelta, ToolDelta
from app.engine.messages import Message, Origin, Reasoning, Text, ToolCall
from app.engine.provider import (
    CallFragment,
    ReasoningChunk,
    Stop,
    StreamEvent,
    TextChunk,
    UsageReport,
)

ORIGIN = Origin("p", "m")


def answer_of(*batches: tuple[StreamEvent, ...]) -> tuple[Answer, list[Event]]:
    answer = Answer("m1", CallAssembler())
    return answer, [event for batch in batches for event in answer.take(batch)]


def stored(answer: Answer, calls: tuple[ToolCall, ...] = ()) -> Message | None:
    return answer.message(time="2026-11-30T14:00:00.000Z", origin=ORIGIN, calls=calls)


def test_neighbouring_pieces_of_one_batch_are_one_event() -> None:
    _, events = answer_of((TextChunk("a"), TextChunk("b")), (TextChunk("c"),))
    assert events == [TextDelta("ab", "m1"), TextDelta("c", "m1")]


def test_the_order_of_text_and_thinking_is_kept() -> None:
    answer, events = answer_of((TextChunk("a"), ReasoningChunk("hm"), TextChunk("b")))
    assert [type(event) for event in events] == [TextDelta, ReasoningDelta, TextDelta]
    message = stored(answer)
    assert message is not None
    assert message.blocks == (Text("a"), Reasoning("hm"), Text("b"))


def test_thinking_is_stored_with_its_signature_and_the_providers_own_form() -> None:
    answer, _ = answer_of(
        (ReasoningChunk("I see"),),
        (ReasoningChunk(signature="sig", data={"type": "thinking"}), TextChunk("Yes.")),
    )
    message = stored(answer)
    assert message is not None
    assert message.blocks[0] == Reasoning("I see", "sig", {"type": "thinking"})


def test_a_closed_block_of_thinking_is_followed_by_a_new_one() -> None:
    answer, _ = answer_of(
        (ReasoningChunk("a", data={"n": 1}), ReasoningChunk("b", data={"n": 2}), TextChunk("c"))
    )
    message = stored(answer)
    assert message is not None
    assert message.blocks[:2] == (Reasoning("a", None, {"n": 1}), Reasoning("b", None, {"n": 2}))


def test_calls_stand_behind_the_text_whatever_came_first() -> None:
    answer, events = answer_of(
        (CallFragment(0, "c1", "look", "{}"), TextChunk("I look."), Stop("tool_calls"))
    )
    assert ToolDelta("c1", "look", "{}") in events
    message = stored(answer, answer.calls())
    assert message is not None
    assert [type(block) for block in message.blocks] == [Text, ToolCall]


@pytest.mark.parametrize("piece", [ReasoningChunk("hm"), TextChunk(""), TextChunk(" \n"), UsageReport(1, 1)])
def test_nothing_but_thinking_or_blanks_is_no_content_and_is_not_stored(piece: StreamEvent) -> None:
    answer, _ = answer_of((piece, Stop("end")))
    assert not answer.has_content
    assert stored(answer) is None


def test_a_call_is_content_before_it_is_whole() -> None:
    answer, _ = answer_of((CallFragment(0, None, None, '{"pa'),))
    assert answer.has_content


def test_usage_and_the_reason_to_stop_are_kept() -> None:
    answer, events = answer_of((TextChunk("x"), UsageReport(3, 1), Stop("output_limit")))
    assert (answer.usage, answer.stop) == (UsageReport(3, 1), "output_limit")
    assert events == [TextDelta("x", "m1")]


def test_arguments_are_part_of_what_was_written() -> None:
    begin, end = CallFragment(0, "c1", "write", '{"text": '), CallFragment(0, arguments='"b"}')
    answer, _ = answer_of((TextChunk("a"), begin, end))
    assert answer.output == 'awrite{"text": "b"}'
