"""The text of a page: what a reader would read, in Markdown, however badly the page is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.hands.html_text import readable, title_of
from app.hands.html_tree import tree_of

URL = "https://example.com/docs/page"
LONG = "Words that fill a page, so that it is long enough to be one. " * 5


def text(html: str) -> str:
    return readable(tree_of(html), URL)[0]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One\n  two <b>three</b>.<p>Four", "One two three.\n\nFour"),
        ("plain <i>words</i> &amp; signs &lt;b&gt; &#8364;", "plain words & signs <b> €"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<h2>A <em>heading</em></h2>text", "## A heading\n\ntext"),
        ("<h1></h1>text", "text"),
        ("<h3><button>A question</button></h3>answer<button>Copy</button>", "### A question\n\nanswer"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "- a\n- b\n  - c\n- d"),
        ("<ol><li>a</li><li><p>b<p>c</li></ol>", "1. a\n2. b\n   c"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n\nb\n\nc\n\nd"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<pre>\n  a  b\n\nc</pre>", "```\n  a  b\n\nc\n```"),
        ("<pre><code>x<br>```</code></pre>", "````\nx\n```\n````"),
        ("use <code>a  &lt; b</code>.", "use `a < b`."),
        ("<table><tr><th>A<th>B<tr><td>1<td>2|3</table>", "| A | B |\n|---|---|\n| 1 | 2\\|3 |"),
        ("<table><caption>C</caption><tr><td>1</td><td>2</td></tr></table>", "C\n\n| 1 | 2 |"),
        ("<table><caption>C</caption><tr><td>1</table>", "C\n\n1"),
        ("<table><tr></tr></table>a", "a"),
        ("<table><tr><td><p>laid<p>out</td><td>x</td></tr></table>", "laid\n\nout\n\nx"),
        ("<img src=x alt='A cat'> <img src=y alt=''>", "[picture: A cat]"),
        ("<span><div>a</div></span><div>b</div>", "a\n\nb"),
        ("<my-box><p>a</my-box>b", "a\n\nb"),
        ("<p>a</div></p></b>b", "a\n\nb"),
        ("<div>a<p>b</div>c", "a\n\nb\n\nc"),
        ("a<p>b<!-- c -->d<p", "a\n\nbd"),
        ("<details><summary>More</summary>text</details>", "More\n\ntext"),
        ("a&nbsp;b", "a b"),
    ],
)
def test_elements_become_markdown(html: str, expected: str) -> None:
    assert text(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href='/x y'>a</a>", "[a](https://example.com/x%20y)"),
        ("<a href='other?q=1#part'>a</a>", "[a](https://example.com/docs/other?q=1#part)"),
        ("<a href='//b.example/(c)'> a </a>d", "[a](https://b.example/%28c%29) d"),
        ("<a href='mailto:a@b.example'>write</a>", "[write](mailto:a@b.example)"),
        ("<a href='#top'>up</a>", "up"),
        ("<h2>Part<a href='#part'>¶</a></h2>", "## Part"),
        ("<a href='#c'>C#</a> <a href='/c'>#</a>", "C# [#](https://example.com/c)"),
        ("<a name=x>here</a>", "here"),
        ("<a href='javascript:x()'>run</a>", "run"),
        ("<a href='data:text/html,x'>data</a>", "data"),
        ("<a href='http://[bad'>a</a>", "a"),
        ("<a href=/x><h3>Card</h3><p>body</p></a>", "[Card body](https://example.com/x)"),
        ("<a href=/x><img src=y alt=Logo></a>", "[[picture: Logo]](https://example.com/x)"),
        ("<a href=/x></a>a", "a"),
        ("<base href='https://b.example/c/'><a href=d>a</a>", "[a](https://b.example/c/d)"),
    ],
)
def test_links_are_kept_where_they_lead_somewhere(html: str, expected: str) -> None:
    assert text(html) == expected


@pytest.mark.parametrize(
    "hidden",
    [
        *("<script>no</script>", "<style>no</style>", "<template>no</template>", "<noscript>no</noscript>"),
        *("<p hidden>no</p>", "<p style='color:red; DISPLAY : none'>no</p>", "<p aria-hidden=true>no</p>"),
        *("<p style='visibility:hidden'>no</p>", "<span style='font-size:0'>no</span>", "<!-- no -->"),
        *("<table><tr style='display:none'><td>no<td>no</table>", "<table><caption hidden>no</table>"),
        *("<code><i hidden>no</i></code>", "<pre><i hidden>no</i></pre>", "<h2><i hidden>no</i></h2>"),
        *("<textarea>no</textarea>", "<select><option>no</select>", "<svg><text>no</text></svg>"),
        "<script>document.write('<p>no</p>')</script>",
    ],
)
def test_what_a_reader_does_not_see_is_not_text(hidden: str) -> None:
    assert text(f"<p>a</p>{hidden}<p>b</p>") == "a\n\nb"


@pytest.mark.parametrize(
    "shown",
    [
        *(
            "<p style='font-size:0.9em'>yes</p>",
            "<p style='display:block'>yes</p>",
            "<p aria-hidden=false>yes</p>",
        ),
        *("<p class=hidden>yes</p>", "<p>yes</p>"),
    ],
)
def test_what_a_reader_does_see_is(shown: str) -> None:
    assert text(f"<p>a</p>{shown}<p>b</p>") == "a\n\nyes\n\nb"


@pytest.mark.parametrize(
    "html",
    [
        f"<nav>menu</nav><main><p>{LONG}</main><footer>end</footer>",
        f"<div>menu</div><div role=main><nav>x</nav><p>{LONG}</div>",
        f"<header>menu</header><article><p>{LONG}</article>",
        f"<nav>menu</nav><p>{LONG}<aside>beside</aside><footer>end</footer>",
        f"<div role=navigation>menu</div><p>{LONG}",
    ],
)
def test_menus_and_what_stands_beside_the_text_are_left_out_and_that_is_said(html: str) -> None:
    found, is_part = readable(tree_of(html), URL)
    assert found == LONG.strip()
    assert is_part


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<nav><a href=/a>a</a></nav><footer>end</footer>", "end"),
        ("<nav>menu</nav><main>short</main>", "menu"),
        (f"<article>{LONG}</article><article>second</article>", "second"),
        (f"<main><p>{LONG}<aside>a note</aside></main>", "a note"),
        (f"<main hidden>{LONG}</main><p>{LONG} outside", "outside"),
    ],
)
def test_nothing_is_left_out_where_it_would_be_missed(html: str, kept: str) -> None:
    assert kept in text(html)


def test_a_title_is_one_line_and_a_page_may_have_none() -> None:
    assert title_of(tree_of("<title> A &amp;\n B </title><svg><title>no</title></svg>")) == "A & B"
    assert title_of(tree_of("<p>a")) == ""


WORDS = some.sampled_from(
    ["<p>", "</p>", "<li>", "<ul>", "</ul>", "<td>", "<table>", "<a href=x>", "</a>", "x", "<!"]
)


@given(some.lists(WORDS | some.text(max_size=8), max_size=40))
def test_no_page_breaks_the_reader(parts: list[str]) -> None:
    readable(tree_of("".join(parts)), URL)


def test_what_is_nested_without_an_end_becomes_flat() -> None:
    assert text("<div>" * 5_000 + "deep" + "</div>" * 5_000 + "after") == "deep\n\nafter"
