"""Where a text shows words instead of saying them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.asides import asides


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("say `a b` twice", ["`a b`"]),
        ("``a ` b`` é `c`", ["``a ` b``", "`c`"]),
        ("```py\na\n```\nb", ["```py\na\n```"]),
        ("~~~\nopen\nto the end", ["~~~\nopen\nto the end"]),
        ("1. do\n   ```\n   a\n   ```", ["```\n   a\n   ```"]),
        ("x:\n\n\ta\n", ["a\n"]),
        ("> a\n> b\n\nc", ["> a\n> b\n"]),
        ("- > a\n  > b\n", ["> a\n  > b\n"]),
        ("> a `b`\n", ["> a `b`\n"]),
        ("🚢 `a`\r\n> b\r\n", ["`a`", "> b\r\n"]),
        ("<pre>\na\n</pre>\nb", ["<pre>\na\n</pre>\n"]),
        ("<!--\na\n-->", ["<!--\na\n-->"]),
    ],
)
def test_code_and_quotations_are_found(text: str, shown: list[str]) -> None:
    assert [text[first:end] for first, end in asides(text)] == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5 > 3",
        "a ` b",
        "a\n    b",  # a paragraph that goes on
        "- a\n  b",
        "<div>\na\n</div>",
        "\\`a\\`",
    ],
)
def test_what_only_looks_like_it_is_said(text: str) -> None:
    assert asides(text) == []


def test_a_line_after_a_quotation_is_said_though_markdown_lets_the_quotation_run_on() -> None:
    assert asides("> quoted\nmeant `x`") == [(0, 9), (15, 18)]


@given(st.text(st.sampled_from("`~>- \t\n\r<!pré🚢@\\\ud800"), max_size=60))
def test_places_are_in_order_and_inside_the_text(text: str) -> None:
    edges = [edge for place in asides(text) for edge in place]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)


@pytest.mark.parametrize("piece", ["`", ">", "> ", "```\n", "[", "<!--", "- ", "> a\n"])
def test_a_hostile_text_is_read_all_the_same(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    assert all(first < end <= len(text) for first, end in asides(text))
