"""Messages of a session as a reader is shown them: who speaks, in which order, and nothing that is only for a model."""

from __future__ import annotations

from app.engine.messages import Image, Message, Reasoning, Text, ToolCall, ToolResult
from app.web.left_out import CHARACTERS_SHOWN, left_out
from tests.web.samples import TIME

SESSION = [
    Message("user", (Text("Look."),), "m1", TIME),
    Message(
        "assistant",
        (Reasoning("hidden"), Text("I look."), ToolCall("c1", "read_file", {"path": "a.txt"})),
        "m2",
        TIME,
    ),
    Message("tool", (ToolResult("c1", "two lines"),), "m3", TIME),
    Message("user", (Image("p.png", "image/png"),), "m4", TIME),
    Message("assistant", (Text("word " * CHARACTERS_SHOWN),), "m5", TIME),
]


def test_each_message_says_whose_it_is_and_what_was_said_or_done() -> None:
    shown = left_out(SESSION, "Coder", 0, 4)
    assert [(each.label, each.shown.text) for each in shown] == [
        ("You", "Look."),
        ("Coder", "I look.\n\n→ read a.txt"),
        ("Result of read", "two lines"),
        ("Shown to the model", "A picture"),
    ]


def test_who_speaks_to_a_member_that_was_sent_is_another_one() -> None:
    assert left_out(SESSION, "Coder", 0, 1, "Commander")[0].label == "Commander"


def test_a_part_of_them_is_cut_and_a_long_one_says_so() -> None:
    (last,) = left_out(SESSION, "Coder", 4, 50)
    assert len(last.shown.text) <= CHARACTERS_SHOWN
    assert "characters shown" in last.shown.note
