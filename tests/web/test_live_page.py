"""The open page of these tests does what htmx does with a frame, and reads HTML as a browser would."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element as Parsed

import html5lib
import pytest

from tests.web.live_page import LivePage, read_messages
from tests.web.tree import Element, joined, read_tree

PAGE = """<html><head><title>Old</title></head><body>
<div id="log"><p id="a">one</p> <p id="b">two <b>three</b></p></div><p id="sr-status"></p>
<div id="bus" hx-sse:connect="/stream?after=boot-3"></div></body></html>"""


def page() -> LivePage:
    return LivePage(PAGE)


def partial(target: str, swap: str, content: str = "") -> str:
    return f'<hx-partial hx-target="{target}" hx-swap="{swap}">{content}</hx-partial>'


def log_after(*partials: str) -> str:
    live = page()
    live.swap("".join(partials))
    return "".join(_source(live.element("log")))


def _source(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        else:
            name = f"{child.tag}#{child.id}" if child.id else child.tag
            yield f"<{name}>{''.join(_source(child))}</>"


@pytest.mark.parametrize(
    ("target", "swap", "content", "log"),
    [
        ("#a", "beforeend", "x<i>y</i>", "<p#a>onex<i>y</></> <p#b>two <b>three</></>"),
        ("#b > :last-child", "beforeend", "x", "<p#a>one</> <p#b>two <b>threex</></>"),
        ("#b > :last-child > :last-child", "beforeend", "x", "<p#a>one</> <p#b>two <b>three</></>"),
        ("#b", "beforebegin", "<hr>", "<p#a>one</> <hr></><p#b>two <b>three</></>"),
        ("#a", "innerMorph", "<i>new</i>", "<p#a><i>new</></> <p#b>two <b>three</></>"),
        ("#a", "outerMorph", '<p id="a">new</p>', "<p#a>new</> <p#b>two <b>three</></>"),
        ("#a", "outerHTML", "<i>1</i><i>2</i>", "<i>1</><i>2</> <p#b>two <b>three</></>"),
        ("#b", "textContent", "<i>only</i> words", "<p#a>one</> <p#b>only words</>"),
        ("#b", "delete", "", "<p#a>one</> "),
        ("#log", "entry", '<p id="c">new</p> ', "<p#a>one</> <p#b>two <b>three</></><p#c>new</>"),
        (
            "#log",
            "entry",
            '<p id="a">anew</p><p>nameless</p>',
            "<p#a>anew</> <p#b>two <b>three</></><p>nameless</>",
        ),
        ("#nowhere", "innerMorph", "lost", "<p#a>one</> <p#b>two <b>three</></>"),
    ],
)
def test_each_swap_changes_what_it_says(target: str, swap: str, content: str, log: str) -> None:
    assert log_after(partial(target, swap, content)) == log


def test_targets_are_found_before_anything_is_swapped() -> None:
    added = partial("#log", "entry", '<p id="c">new</p>')
    assert (
        log_after(added, partial("#c", "beforeend", "lost"))
        == "<p#a>one</> <p#b>two <b>three</></><p#c>new</>"
    )


def test_a_morph_keeps_the_elements_whose_names_stay() -> None:
    live = page()
    kept, lost = live.element("b"), live.element("a")
    kept.attributes["open"] = ""
    live.swap(partial("#log", "innerMorph", '<i id="a"></i><p id="b" class="x">more</p>'))
    assert live.element("b") is kept
    assert kept.attributes == {"id": "b", "class": "x", "open": ""}
    assert live.element("a") is not lost


def test_a_title_is_taken_and_a_named_event_changes_nothing() -> None:
    live = page()
    for message in read_messages(
        "id: boot-4\ndata: <title>New</title>\n\nevent: x\ndata: <title>Lost</title>\n\n"
    ):
        live.take(message)
    assert live.shown()[0] == "New"
    assert live.cursor == "boot-4"


@pytest.mark.parametrize("html", ["words", "<p>outside</p>", partial("#log", "beforeend", '<p id="a"></p>')])
def test_what_a_frame_must_not_do_is_refused(html: str) -> None:
    with pytest.raises(AssertionError):
        page().swap(html)


def test_a_frame_that_comes_twice_is_refused() -> None:
    live = page()
    live.take(read_messages("id: boot-4\ndata:\n\n")[0])
    with pytest.raises(AssertionError, match="twice"):
        live.take(read_messages("id: boot-4\ndata:\n\n")[0])


def test_a_stream_is_read_like_a_browser_reads_it() -> None:
    text = ": ping\r\n\r\nid: b-1\ndata: a\ndata:b\rdata:  c\n\nevent: x\n\nid: b-2\ndata: torn"
    assert [(one.id, one.name, one.data) for one in read_messages(text)] == [
        ("b-1", "", "a\nb\n c"),
        ("", "x", ""),
    ]


@pytest.mark.parametrize("html", ["<p>", "</p>", "<p><b></p></b>", '<p id="a" id="b"></p>'])
def test_html_that_is_not_well_formed_is_refused(html: str) -> None:
    with pytest.raises(AssertionError):
        read_tree(html)


@pytest.mark.parametrize(
    "html",
    [
        PAGE,
        "<pre>\n\n  x\n</pre><textarea>\ny &lt;b> &amp;amp; &#x2019;</textarea>",
        '<p class="a&quot;b">a<br>b<img alt="">c</p><svg><use href="#i"/><path d="M1"/></svg>',
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>",
    ],
)
def test_a_page_is_read_as_html5lib_reads_it(html: str) -> None:
    ours, theirs = read_tree(html), html5lib.parse(html, namespaceHTMLElements=False)
    body = next((each for each in ours.all("body")), ours)
    assert list(shape_of_ours(body)) == list(shape_of_theirs(theirs.find("body")))


def shape_of_ours(element: Element) -> Iterator[object]:
    for child in joined(element.children):
        if isinstance(child, str):
            yield child
        else:
            yield child.tag, sorted(child.attributes.items())
            yield from shape_of_ours(child)
            yield "end"


def shape_of_theirs(element: Parsed) -> Iterator[object]:
    if element.text:
        yield element.text
    for child in element:
        yield str(child.tag).rpartition("}")[2], sorted(child.attrib.items())
        yield from shape_of_theirs(child)
        yield "end"
        if child.tail:
            yield child.tail
