"""Output of a program as HTML: its colours are classes, it grows by its end, and much of it is cut at its beginning."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.terminal import KEPT_CHARACTERS, KEPT_LINES, LONGEST_LINE, Terminal

LOOKS = [
    ("\x1b[31mred\x1b[0m plain", '<span class="out-red">red</span> plain'),
    ("\x1b[91mred\x1b[39m plain", '<span class="out-red">red</span> plain'),
    ("\x1b[1;32mPASS\x1b[m", '<span class="out-bold out-green">PASS</span>'),
    ("\x1b[1mbold\x1b[22m not", '<span class="out-bold">bold</span> not'),
    ("\x1b[30;42m PASS \x1b[0m", '<span class="out-bold out-green"> PASS </span>'),
    ("\x1b[37mwhite\x1b[0m", "white"),
    ("\x1b[90mgrey\x1b[0m", '<span class="out-grey">grey</span>'),
    ("\x1b[38;5;196mred", '<span class="out-red">red</span>'),
    ("\x1b[38;5;12mblue", '<span class="out-blue">blue</span>'),
    ("\x1b[38;5;240mgrey", '<span class="out-grey">grey</span>'),
    ("\x1b[38;2;200;40;40mred\x1b[0m", '<span class="out-red">red</span>'),
    ("\x1b[38;2;255;255;255mwhite", "white"),
    ("\x1b[38;5mnothing follows", "nothing follows"),
    ("\x1b[99999999999m\x1b[;mstill plain", "still plain"),
    ("\x1b[31m<b>&\x1b[0m", '<span class="out-red">&lt;b&gt;&amp;</span>'),
    ("\x1b]0;a title\x07\x1b[2Kno moves", "no moves"),
    ("[31m is no colour", "[31m is no colour"),
]


@pytest.mark.parametrize(("written", "html"), LOOKS)
def test_colours_are_classes_and_all_else_is_text(written: str, html: str) -> None:
    assert Terminal(written).open == html


def test_a_colour_goes_on_over_lines_until_it_is_taken_back() -> None:
    terminal = Terminal("\x1b[31mone\ntwo\x1b[0m\nthree")
    assert terminal.closed == '<span class="out-red">one</span>\n<span class="out-red">two</span>\n'
    assert terminal.open == "three"


def test_a_line_that_is_written_over_shows_what_was_written_last() -> None:
    terminal = Terminal("start\n")
    for percent in range(0, 101, 10):
        assert terminal.feed(f"\r{percent:3} %") == ""
    assert terminal.open == "100 %"
    assert terminal.feed("\ndone") == "100 %\n"


def test_what_a_reader_adds_is_what_a_page_shows_that_is_loaded_then() -> None:
    terminal = Terminal()
    added = terminal.feed("a\nb")
    assert added == "a\n"
    assert terminal.feed("c\nd") == "bc\n"
    assert (terminal.closed, terminal.open) == ("a\nbc\n", "d")


def test_of_a_long_output_the_end_stays_and_it_is_known_how_much_is_gone() -> None:
    terminal = Terminal()
    redrawn = 0
    for number in range(1, 2_001):
        redrawn += terminal.feed(f"line {number}\n") is None
        assert terminal.count <= 2 * KEPT_LINES
    assert redrawn < 10
    assert terminal.closed.endswith("line 2000\n")
    assert terminal.left_out + terminal.count == 2_000
    terminal.trim()
    assert (terminal.count, terminal.left_out) == (KEPT_LINES, 2_000 - KEPT_LINES)


def test_what_is_gone_before_it_is_shown_is_counted_and_still_colours_what_follows() -> None:
    terminal = Terminal("first\n\x1b[31m")
    assert terminal.feed("".join(f"line {number}\n" for number in range(5_000))) is None
    assert terminal.left_out + terminal.count == 5_001
    assert terminal.closed.startswith('<span class="out-red">line 4800</span>')


def test_wide_lines_are_cut_and_many_of_them_are_few() -> None:
    terminal = Terminal("x" * 10 * LONGEST_LINE)
    assert terminal.open == "x" * LONGEST_LINE
    for _ in range(100):
        terminal.feed("\n" + "y" * LONGEST_LINE)
    assert len(terminal.closed) <= 2 * KEPT_CHARACTERS + LONGEST_LINE


def test_an_open_line_that_is_told_again_is_there_once() -> None:
    terminal = Terminal("ready\nName: ")
    terminal.begin_line_anew()
    assert terminal.feed("Name: Anna\nHello ") == "Name: Anna\n"
    assert (terminal.closed, terminal.open) == ("ready\nName: Anna\n", "Hello ")


@given(pieces=st.lists(st.text(st.sampled_from("ab\n\r\x1b[31m0;<é"), max_size=12), max_size=12))
def test_nothing_that_a_program_writes_becomes_markup_of_its_own(pieces: list[str]) -> None:
    terminal = Terminal()
    for piece in pieces:
        terminal.feed(piece)
    html = terminal.closed + terminal.open
    assert re.sub(r'<span class="(?:out-\w+ ?)+">|</span>', "", html).count("<") == 0
    assert "\x1b" not in html
