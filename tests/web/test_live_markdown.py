"""A text that streams: whatever the pieces, the page shows the same, little is sent, nothing is drawn twice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from app.web.growth import growth
from app.web.live_markdown import COLOURED, LiveMarkdown, Swap
from app.web.markdown import render_markdown
from tests.web.dom import read, shape, text_of

DOCUMENT = """# A heading

A paragraph with *stress*, `code` and [a link](https://e.example/x), long
enough for two lines.

- one
- two
  - inside

  still two
- three

1. first

2. second

```python
def f(x):
    return x  # ``` is not the end
```

| a | b |
|---|--:|
| 1 | 2 |
| 3 | 4 |

> quoted
> > twice

Setext
------

    indented code

~~~
open to the end ``` and
```
~~~

<!-- a comment

that ends --> here

The last line, with ümlaut and 👩‍👩‍👧.
"""

PIECES = (
    "word ", "\n", "\n\n", "- ", "  ", "1. ", "> ", "# ", "```", "```py\n", "~~~", "|", "| a | b |\n", "|---|---|\n",
    "*", "**", "`", "---", "===", "<b>", "<!--", "-->", "    ", "\r", "\r\n", "\t", "é", "\\", "![x](u)", "- [ ] ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


class Page:
    """What a browser holds: the closed blocks, the tail, and each swap applied to them as htmx would."""

    def __init__(self) -> None:
        self.closed: list[str] = []
        self.tail = read("")

    def take(self, swaps: Iterable[Swap]) -> None:
        for swap in swaps:
            match swap.place:
                case "before":
                    self.closed.append(swap.html)
                case "tail":
                    self.tail = read(swap.html)
                case "end":
                    self._append(swap)

    def _append(self, swap: Swap) -> None:
        target: Element = self.tail
        for _ in range(swap.depth):
            target = target[-1]
        rows = swap.html.lstrip().startswith("<tr>")
        added = read(f"<table><tbody>{swap.html}</tbody></table>")[0][0] if rows else read(swap.html)
        if len(target):
            target[-1].tail = (target[-1].tail or "") + (added.text or "")
        else:
            target.text = (target.text or "") + (added.text or "")
        target.extend(added)


def stream(chunks: Iterable[str]) -> tuple[LiveMarkdown, Page]:
    live, page = LiveMarkdown(), Page()
    for chunk in chunks:
        page.take(live.feed(chunk))
        assert "".join(page.closed) == "".join(live.closed)
        assert shape(page.tail) == shape(read(live.tail))
    return live, page


def without_colours(html: str) -> str:
    """An open fence has none yet."""
    return re.sub(r'<span class="tk-.">(.*?)</span>', r"\1", str(html), flags=re.DOTALL)


def split(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 1000])
def test_any_pieces_end_in_the_normal_rendering(size: int) -> None:
    live, _ = stream(split(DOCUMENT, size))
    assert live.html == render_markdown(DOCUMENT)
    assert live.finish() == render_markdown(DOCUMENT)


@given(TEXTS, st.integers(1, 9))
def test_whatever_is_written_the_page_ends_in_the_normal_rendering(text: str, size: int) -> None:
    whole = text + "\n\nend\n"
    live, _ = stream(split(whole, size))
    assert without_colours(live.html) == without_colours(render_markdown(whole))


@given(TEXTS, st.integers(1, 9))
def test_a_block_that_was_closed_never_changes(text: str, size: int) -> None:
    live = LiveMarkdown()
    before: list[str] = []
    for chunk in split(text, size):
        live.feed(chunk)
        assert live.closed[: len(before)] == before
        before = list(live.closed)


def test_a_reader_who_joins_late_sees_the_same() -> None:
    live = LiveMarkdown()
    for chunk in split(DOCUMENT[:300], 11):
        live.feed(chunk)
    late = LiveMarkdown()
    late.feed(DOCUMENT[:300])
    assert late.html == live.html


def test_an_open_fence_is_only_added_to() -> None:
    live = LiveMarkdown()
    live.feed("```python\nx = 1\n")
    assert live.feed("y = '<b>'\n") == (Swap("end", Markup("y = '&lt;b&gt;'\n"), depth=3),)


def test_what_may_be_the_end_of_a_fence_waits_for_the_rest_of_its_line() -> None:
    live = LiveMarkdown()
    live.feed("```\ncode\n")
    assert live.feed("``") == ()
    assert "``" not in text_of(read(live.tail))
    live.feed("x\n")
    assert text_of(read(live.tail)).strip() == "code\n``x"
    live.feed("```\n")
    assert [text_of(read(block)).strip() for block in live.closed] == ["code\n``x"]


def test_half_a_row_of_a_table_waits_for_its_line() -> None:
    live = LiveMarkdown()
    live.feed("| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert live.feed("| 3 ") == ()
    (swap,) = live.feed("| 4 |\n")
    assert (swap.place, swap.html) == ("end", "<tr><td>3</td><td>4</td></tr>\n")


def test_long_code_gets_its_colours_at_the_end() -> None:
    code = "```python\n" + "x = 'a'\n" * COLOURED + "```\n"
    live = LiveMarkdown()
    live.feed(code)
    assert "tk-s" not in live.html
    short = LiveMarkdown()
    short.feed("```python\nx = 'a'\n```\n")
    assert "tk-s" in short.html


def test_references_are_links_when_the_text_has_ended() -> None:
    live = LiveMarkdown()
    for chunk in ("See [the page][1].\n\n", "More.\n\n", "[1]: https://e.example\n"):
        live.feed(chunk)
    assert not list(read(live.html).iter("a"))
    assert [link.get("href") for link in read(live.finish()).iter("a")] == ["https://e.example"]


LONG_TEXTS = {
    "paragraph": "word " * 1500,
    "list": "".join(f"- item number {number} with some words\n" for number in range(200)),
    "code": "```\n" + "line of code\n" * 500,
    "quote": "> line of a quotation\n" * 300,
    "table": "| a | b |\n|---|---|\n" + "| one cell | another cell |\n" * 250,
    "document": DOCUMENT * 12,
}


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_not_much_more_is_sent_than_the_page_ends_with(name: str) -> None:
    live = LiveMarkdown()
    sent = sum(len(swap.html) for chunk in split(LONG_TEXTS[name], 40) for swap in live.feed(chunk))
    assert sent <= 5 * len(live.finish())


GROWN = [
    ("<p>a</p>\n", "<p>ab</p>\n", [("b", 1)]),
    ("<p>a</p>\n", "<p>a <em>b</em></p>\n", [(" <em>b</em>", 1)]),
    ("<p>a <em>b</em></p>\n", "<p>a <em>b</em> c</p>\n", [(" c", 1)]),
    ("<ul>\n<li>a</li>\n</ul>\n", "<ul>\n<li>ab</li>\n<li>c</li>\n</ul>\n", [("b", 2), ("<li>c</li>\n", 1)]),
    ("<p>a</p>\n", "<p>a</p>\n<p>b</p>\n", [("<p>b</p>\n", 0)]),
    ("<p>a</p>\n", "<h2>a</h2>\n", None),
    ("<p>a *b</p>\n", "<p>a <em>b</em></p>\n", None),
    ("<p>ab</p>\n", "<p>a</p>\n", None),
    ("<ul>\n<li>a</li>\n</ul>\n", "<ul>\n<li><p>a</p>\n</li>\n</ul>\n", None),
    ("", "<p>a</p>\n", [("<p>a</p>\n", 0)]),
]


@pytest.mark.parametrize(("old", "new", "added"), GROWN)
def test_growth_is_found_only_where_the_old_part_stays(
    old: str, new: str, added: list[tuple[str, int]] | None
) -> None:
    found = growth(old, new)
    assert (None if found is None else [(piece.html, piece.depth) for piece in found]) == added
