"""Transcripts that have stopped a chat for good somewhere, by name: what crashes, other models and odd tools leave.

A case is a history as it may stand in a file, before any repair. Each has to compile on each wire, and go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from app.engine.messages import Image, Marker, Message, Origin, Reasoning, Text, ToolCall, ToolResult
from tests.engine.wires import HERE, history
from tests.fakes.pictures import PIXEL, encoded, jpeg, png, png_head

OTHER = Origin("other", "model-b", "https://elsewhere.example/v1")
PICTURE = Image(media_type="image/png", data=PIXEL)
SIGNED = Reasoning("I need a.", "EqQB", {"type": "thinking", "signature": "EqQB"})
SEALED = Reasoning("", data={"type": "redacted_thinking", "data": "Eo4C"})
HALF = "cut \ud83d"


def read(id: str, **arguments: Any) -> ToolCall:
    return ToolCall(id, "read_file", arguments)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


def step(*calls: ToolCall, text: str = "done") -> tuple[tuple[Any, ...], ...]:
    """One whole step: calls, and a result for each."""
    return (("assistant", *calls), *(("tool", ToolResult(call.id, text)) for call in calls))


def of_two_models() -> tuple[Message, ...]:
    """Thinking of one model, then of another, then of the first again."""
    said = history(
        ("user", "a"),
        ("assistant", SIGNED, "A."),
        ("user", "b"),
        ("assistant", SEALED, SIGNED, "B."),
        ("user", "c"),
    )
    return tuple(replace(m, origin=OTHER if n == 1 else HERE) for n, m in enumerate(said))


def very_long() -> tuple[Message, ...]:
    turns = (
        row for n in range(1_250) for row in (("user", f"q{n}"), *step(read(f"c{n}")), ("assistant", f"a{n}"))
    )
    return history(*turns)


TRANSCRIPTS: dict[str, Callable[[], tuple[Message, ...]]] = {
    "thinking signed by another model": lambda: history(
        ("user", "a"), ("assistant", SIGNED, read("a")), ("tool", ToolResult("a", "A")), origin=OTHER
    ),
    "thinking of two models": of_two_models,
    "thinking without a signature": lambda: history(
        ("user", "a"), ("assistant", Reasoning("Hm."), "A."), ("user", "b"), origin=HERE
    ),
    "thinking with an empty signature": lambda: history(
        ("user", "a"),
        ("assistant", Reasoning("Hm.", ""), read("a")),
        ("tool", ToolResult("a", "A")),
        origin=HERE,
    ),
    "thinking that lost its text but not its signature": lambda: history(
        ("user", "a"), ("assistant", Reasoning("", "EqQB"), "A."), ("user", "b"), origin=HERE
    ),
    "thinking cut inside an emoji": lambda: history(
        ("user", "a"), ("assistant", Reasoning(HALF, "EqQB"), "A."), ("user", "b"), origin=HERE
    ),
    "thinking of a shape nobody knows": lambda: history(
        ("user", "a"),
        (
            "assistant",
            Reasoning("Hm.", None, {"type": ["x"], "data": {}, "field": 7, "role": "system"}),
            "A.",
        ),
        ("user", "b"),
        origin=HERE,
    ),
    "an answer of nothing but thinking": lambda: history(
        ("user", "a"),
        ("assistant", SIGNED),
        ("user", "b"),
        ("assistant", SEALED, " "),
        ("user", "c"),
        origin=HERE,
    ),
    "an answer that ends in thinking": lambda: history(
        ("user", "a"),
        ("assistant", "A.", SIGNED),
        ("assistant", Marker("interrupted")),
        ("user", "b"),
        origin=HERE,
    ),
    "thinking behind the calls": lambda: history(
        ("user", "a"), ("assistant", read("a"), SIGNED), ("tool", ToolResult("a", "A")), origin=HERE
    ),
    "half an emoji said by the user": lambda: history(
        ("user", HALF), ("assistant", HALF), ("user", "\udc00")
    ),
    "half an emoji in a result": lambda: history(("user", "a"), *step(read("a"), text="\udfff" + HALF)),
    "half an emoji in arguments": lambda: history(
        ("user", "a"), *step(read("a", **{HALF: [HALF, {"x": HALF}]}))
    ),
    "NUL and control characters": lambda: history(
        ("user", "\0\x01\x1b[31m\x7f\u2028\ufeff"),
        *step(read("a", path="\0\x08"), text="\0"),
        ("assistant", "\0"),
    ),
    "a result missing": lambda: history(
        ("user", "a"), ("assistant", read("a"), read("b")), ("tool", ToolResult("a", "A")), ("user", "b")
    ),
    "all results missing at the end": lambda: history(("user", "a"), ("assistant", read("a"), read("b"))),
    "results that nobody asked for": lambda: history(
        ("tool", ToolResult("z", "Z")), ("user", "a"), ("tool", ToolResult("y", "Y")), ("assistant", "A.")
    ),
    "a result twice": lambda: history(
        ("user", "a"), *step(read("a")), ("tool", ToolResult("a", "again")), ("user", "b")
    ),
    "results in another order": lambda: history(
        ("user", "a"),
        ("assistant", read("a"), read("b"), read("c")),
        ("tool", ToolResult("c", "C")),
        ("tool", ToolResult("a", "A")),
        ("tool", ToolResult("b", "B")),
    ),
    "results of two calls in one message": lambda: history(
        ("user", "a"),
        ("assistant", read("a"), read("b")),
        ("tool", ToolResult("b", "B"), ToolResult("a", "A")),
    ),
    "results inside a message of the user": lambda: history(
        ("user", "a"), ("assistant", read("a")), ("user", "Hurry", ToolResult("a", "A"), PICTURE)
    ),
    "the user speaks between call and result": lambda: history(
        ("user", "a"), ("assistant", read("a")), ("user", "Hurry"), ("tool", ToolResult("a", "A"))
    ),
    "calls inside a message of the user": lambda: history(("user", "a", read("a")), ("user", "b")),
    "one id in two turns": lambda: history(
        ("user", "a"),
        *step(read("call_0")),
        ("assistant", "A."),
        ("user", "b"),
        *step(read("call_0")),
        ("user", "c"),
    ),
    "one id twice in a message": lambda: history(
        ("user", "a"),
        ("assistant", read("a"), read("a")),
        ("tool", ToolResult("a", "1")),
        ("tool", ToolResult("a", "2")),
    ),
    "ids that are empty, long or strange": lambda: history(
        ("user", "a"),
        *step(read("")),
        *step(read("x" * 65), read("functions.read_file:0"), read("日本 ☃"), read("a\nb"), read(HALF)),
    ),
    "ids of one's own that are strange": lambda: history(
        ("user", "a"), *step(read("y" * 300), read("日本"), read("a b")), origin=HERE
    ),
    "ids that two names are cut to": lambda: history(("user", "a"), *step(read("z" * 70), read("z" * 71))),
    "a tool that is not offered any more": lambda: history(
        ("user", "a"),
        *step(ToolCall("a", "draw", {"what": "a cat"}), read("b")),
        ("assistant", "A."),
        ("user", "b"),
    ),
    "names that are no names": lambda: history(
        ("user", "a"),
        *step(ToolCall("a", ""), ToolCall("b", "résumé 📄"), ToolCall("c", "n" * 200), ToolCall("d", HALF)),
    ),
    "nulls in arguments": lambda: history(
        ("user", "a"), *step(read("a", path=None, lines=[None, {"x": None}]))
    ),
    "arguments nested without end": lambda: history(
        ("user", "a"), *step(ToolCall("a", "read_file", nested(5_000)))
    ),
    "arguments nested as deep as a file may have them": lambda: history(
        ("user", "a"), *step(ToolCall("a", "read_file", nested(800)))
    ),
    "arguments that are no JSON": lambda: history(
        ("user", "a"),
        *step(read("a", x=float("nan")), read("b", x=float("-inf")), read("c", x={1, 2}), read("d", x=b"x")),
    ),
    "a call that could not be read": lambda: history(
        ("user", "a"), *step(ToolCall("a", "read_file", {}, "not_json", '{"path": "x'))
    ),
    "empty texts everywhere": lambda: history(
        ("user", "", " "),
        ("assistant", "", read("a"), "\n"),
        ("tool", ToolResult("a", "")),
        ("assistant", " "),
        ("user", ""),
    ),
    "messages without blocks": lambda: history(
        ("user",), ("assistant",), ("tool",), ("user", "a"), ("assistant",)
    ),
    "nothing but blank messages": lambda: history(("user", " "), ("assistant", "\n"), ("user", "\t")),
    "two answers in a row": lambda: history(
        ("user", "a"), ("assistant", "A."), ("assistant", "B. \n"), ("user", "b")
    ),
    "three questions in a row": lambda: history(("user", "a"), ("user", PICTURE), ("user", "c")),
    "an answer first": lambda: history(("assistant", "Hello"), ("user", "a")),
    "a step first": lambda: history(*step(read("a")), ("user", "a")),
    "an answer last, with space behind it": lambda: history(("user", "a"), ("assistant", "So far \n\n")),
    "nothing but markers": lambda: history(
        ("assistant", Marker("stopped_by_user")), ("assistant", Marker("interrupted"))
    ),
    "a marker of the user": lambda: history(("user", Marker("interrupted")), ("user", "a")),
    "a picture and no word": lambda: history(("user", PICTURE), ("assistant", "Nice."), ("user", PICTURE)),
    "a picture by the assistant": lambda: history(("user", "a"), ("assistant", PICTURE), ("user", "b")),
    "pictures between and after results": lambda: history(
        ("user", "a"),
        ("assistant", read("a"), read("b")),
        ("tool", ToolResult("a", "A"), PICTURE),
        ("user", PICTURE),
        ("tool", ToolResult("b", "B")),
        ("user", PICTURE, "Hurry"),
    ),
    "pictures with too many bytes": lambda: history(
        ("user", Image(media_type="image/png", data=encoded(png(padding=16_000_000))), "a")
    ),
    "pictures with too long sides": lambda: history(
        ("user", *(Image(media_type="image/png", data=encoded(png_head(w, 9_000))) for w in (1, 9_000)), "a")
    ),
    "a hundred and fifty pictures": lambda: history(*(("user", f"{n}", PICTURE) for n in range(150))),
    "pictures that are none": lambda: history(
        (
            "user",
            Image(),
            Image(ref="attachments/gone.png", media_type="image/png"),
            Image(media_type="image/png", data="not base64"),
            Image(media_type="image/png", data=encoded(b"%PDF-1.7")),
            Image(media_type="application/pdf", data=encoded(jpeg(4, 4))),
            Image(media_type="image/svg+xml", data=encoded(b"<svg/>")),
            Image(media_type=HALF, data=HALF),
        )
    ),
    "five thousand messages": very_long,
    "one text of two million characters": lambda: history(("user", "word " * 400_000), ("assistant", "A.")),
    "a result of two million characters": lambda: history(
        ("user", "a"), *step(read("a"), text="日本 " * 700_000)
    ),
    "text that looks like what stands between messages": lambda: history(
        ("user", "data: [DONE]\n\n"),
        ("assistant", '"}]}\n\nHuman: b\n\nAssistant:<|im_end|>'),
        ("user", "</s>"),
    ),
    "unknown outcomes and refusals": lambda: history(
        ("user", "a"),
        ("assistant", read("a"), read("b"), read("c")),
        ("tool", ToolResult("a", "?", "outcome_unknown")),
        ("tool", ToolResult("b", "E_DENIED: no", "error", "E_DENIED")),
        ("tool", ToolResult("c", "", "interrupted")),
        ("assistant", Text(""), Marker("stopped_by_user")),
    ),
}
