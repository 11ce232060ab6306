"""A tool call in one line: what it acts on, how it ended, and as much of its output as a page can carry."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.large_results import MemoryResults, fit
from app.engine.tools import ToolOutput
from app.web.tool_words import (
    CHARACTERS_SHOWN,
    ENDING_CHARACTERS,
    ENDING_LINES,
    LINES_SHOWN,
    cut,
    cut_ending,
    output_of,
    target_of,
    trouble_of,
    words_for,
)

TARGETS: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "src/a.py", "range": {"unit": "line"}}, "src/a.py"),
    ("grep_files", {"pattern": "http.get", "root": "src/"}, "http.get · src/"),
    ("grep_files", {"pattern": "http.get"}, "http.get"),
    ("read_file", {}, ""),
    ("read_file", {"path": None}, ""),
    ("read_file", {"path": "a\nb\u202ec"}, "a b\ufffdc"),
    ("read_file", {"path": "x" * 1000}, "x" * 300),
    ("generate_image", {"prompt": "a cat", "path": "art/cat.png"}, "art/cat.png"),
    ("web_search", {"query": "tides", "count": 3}, "tides"),
    ("web_fetch", {"url": "https://a.example/"}, "https://a.example/"),
    ("of_a_connector", {"query": "tides", "limit": 3}, "tides"),
    ("of_a_connector", {"limit": 0}, "0"),
    ("of_a_connector", {"start": 20_000}, "20000"),
    ("read_result", {"ref": "res_1", "start": 20_000, "end": 30_000}, "res_1 · from 20,000 · up to 30,000"),
    ("read_result", {"ref": "res_1"}, "res_1"),
    ("read_result", {"ref": "res_1", "start": "{0.real}"}, "res_1 · {0.real}"),
    ("search_result", {"ref": "res_1", "pattern": "high water"}, "high water · res_1"),
    ("bash", {"command": "make test"}, "make test"),
    ("bash", {"command": "\ncd src\nmake\n", "timeout_ms": 5}, "cd src …"),
    ("job_write", {"job_id": "job_1", "text": "yes\n"}, "yes · job_1"),
    ("job_write", {"job_id": "job_1", "text": "\x03"}, "job_1"),
]


@pytest.mark.parametrize(("name", "arguments", "target"), TARGETS)
def test_a_call_names_what_it_acts_on(name: str, arguments: dict[str, Any], target: str) -> None:
    assert target_of(name, arguments) == target


def test_a_tool_of_somebody_else_is_called_by_its_name() -> None:
    assert words_for("search_issues\n").verb == "search_issues"
    assert words_for("").verb == "call"


def test_a_failure_is_said_in_words() -> None:
    assert trouble_of("E_STALE") == "stale, read again"
    assert trouble_of("E_OF_LATER") == trouble_of(None) == "failed"


def test_a_long_output_is_cut_and_says_so() -> None:
    lines = cut("line\n" * 1000)
    assert lines.text.count("\n") == LINES_SHOWN - 1
    assert lines.note == "first 200 of 1,001 lines shown"
    wide = cut("x" * 20_000)
    assert len(wide.text) == CHARACTERS_SHOWN
    assert wide.note == "first 8,000 of 20,000 characters shown"
    assert cut("short\n").note == ""


def test_an_output_is_cut_after_its_colours_are_gone() -> None:
    coloured = "\x1b[31mx\x1b[0m" * CHARACTERS_SHOWN
    assert cut(coloured).text == "x" * CHARACTERS_SHOWN


@pytest.mark.anyio
async def test_of_a_result_that_was_shortened_both_ends_are_shown_and_what_is_between() -> None:
    text = "".join(f"line {number}\n" for number in range(40_000))
    output = output_of((await fit(ToolOutput(text), MemoryResults())).text)
    assert output.shown.text.startswith("line 0\n")
    assert output.gap.endswith(" characters are left out here; all of it is kept as res_1")
    assert output.ending is not None
    assert output.ending.text.endswith("line 39999")
    assert output.ending.text.count("\n") == ENDING_LINES - 1
    assert output.ending.note.startswith("last 40 of ")


def test_a_whole_result_has_no_gap() -> None:
    assert output_of("a\n\n[… much …]\n\nb").ending is None
    assert output_of("") == output_of("\x00"[1:])


def test_the_end_of_an_output_is_cut_at_its_beginning() -> None:
    assert cut_ending("one\ntwo\n").text == "one\ntwo"
    assert cut_ending("one\ntwo\n").note == ""
    wide = cut_ending("x" * 5_000)
    assert (len(wide.text), wide.note) == (ENDING_CHARACTERS, "last 1 of 1 lines shown")
