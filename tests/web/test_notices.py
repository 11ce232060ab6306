"""What a notice says: the tool, what happened, what to do; every number and name is somebody else's."""

from __future__ import annotations

from typing import Any

import pytest

from app.web.notices import notice_words

LINES: list[tuple[dict[str, Any], str]] = [
    (
        {"notice": "compaction", "before": 151_400, "after": 38_000},
        "Conversation organised: 151k → 38k tokens",
    ),
    (
        {"notice": "loop_warning", "name": "read_file", "count": 3},
        "3 rounds of the same call of read_file brought nothing new. The model was told; if it goes on like this, "
        "the run is stopped.",
    ),
    (
        {"notice": "loop_warning", "name": "read_file", "count": 6},
        "The last 6 steps brought nothing new. The model was told; if it goes on like this, the run is stopped.",
    ),
]
DECISIONS: list[tuple[dict[str, Any], str, str, str]] = [
    (
        {"notice": "limit", "reason": "loop", "name": "read_file", "steps": 5},
        "",
        "Stopped: the run went in circles with read_file",
        "Write below what to do differently",
    ),
    ({"notice": "limit", "reason": "loop"}, "", "Stopped: the run went in circles", "press Continue"),
    (
        {"notice": "limit", "reason": "steps", "steps": 120, "name": ""},
        "",
        "Stopped after 120 steps, as many as one turn may take",
        "as many steps again",
    ),
    ({"notice": "limit"}, "", "Stopped at the step limit", "as many steps again"),
    (
        {"notice": "interrupted", "reason": "output_limit"},
        "",
        "The answer reached the model's output limit",
        "It was written on once and cut off again. What was written is kept.",
    ),
    (
        {"notice": "interrupted", "reason": "output_limit"},
        "The server is gone",
        "The answer reached the model's output limit",
        "The server is gone. What was written is kept.",
    ),
    ({"notice": "interrupted"}, "", "The run was interrupted when Plancia restarted", "until you decide"),
    ({"notice": "interrupted", "reason": "dropped"}, "It broke off.", "It broke off", "until you decide"),
]


@pytest.mark.parametrize(("data", "line"), LINES)
def test_what_needs_nobody_is_one_line(data: dict[str, Any], line: str) -> None:
    words = notice_words(data, "")
    assert (words.text, words.more, words.action, words.needs_user) == (line, "", "", False)


@pytest.mark.parametrize(("data", "text", "heading", "more"), DECISIONS)
def test_where_the_user_decides_there_is_a_heading_a_reason_and_a_way_on(
    data: dict[str, Any], text: str, heading: str, more: str
) -> None:
    words = notice_words(data, text)
    assert (words.text, words.action, words.needs_user) == (heading, "Continue", True)
    assert more in words.more
    assert notice_words({**data, "settled": True}, text).action == ""
