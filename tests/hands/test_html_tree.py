"""HTML as a tree: what is not closed is closed, and nothing grows beyond its page."""

from __future__ import annotations

import pytest

from app.hands.html_tree import DEEPEST, Element, tree_of


def outline(element: Element) -> str:
    """``ul(li(a) li)``: elements by name, texts by their words."""
    inside = " ".join(part.strip() if isinstance(part, str) else outline(part) for part in element.children)
    return f"{element.tag}({inside})" if inside.strip() else element.tag


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<p>b", "p(a) p(b)"),
        ("<p>a<div>b</div>c", "p(a) div(b) c"),
        ("<div><p>a<div>b", "div(p(a) div(b))"),
        ("<p><button><p>a", "p(button(p(a)))"),
        ("<ul><li>a<li>b</ul>c", "ul(li(a) li(b)) c"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "ul(li(a ul(li(b))) li(c))"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt(a) dd(b) dt(c))"),
        ("<table><tr><td>a<td>b<tr><th>c</table>d", "table(tr(td(a) td(b)) tr(th(c))) d"),
        ("<table><thead><tr><th>a<tbody><tr><td>b", "table(thead(tr(th(a))) tbody(tr(td(b))))"),
        ("<table><tr><td><table><tr><td>a</table><td>b", "table(tr(td(table(tr(td(a)))) td(b)))"),
        ("<select><option>a<option>b</select>", "select(option(a) option(b))"),
        ("<b>a<i>b</b>c", "b(a i(b)) c"),
        ("a</b>c</p>", "a c"),
        ("a<br>b<img>c<input/>", "a br b img c input"),
        ("<B>a</b><x-y>c</X-Y>", "b(a) x-y(c)"),
        ("<script>a<b></script>c", "script(a<b>) c"),
        ("a<!-- <b> -->c<!doctype x>d<?php e ?>f", "a c d f"),
        ("a<b", "a"),
        ("a < b & c", "a < b & c"),
    ],
)
def test_what_is_not_closed_is_closed_as_it_was_meant(html: str, expected: str) -> None:
    assert outline(tree_of(html)).removeprefix("(").removesuffix(")") == expected


def test_the_first_of_two_equal_attributes_counts() -> None:
    (element, *_) = tree_of("<a href=x HREF=y disabled class='b  c'>").elements()
    assert element.attributes == {"href": "x", "disabled": "", "class": "b  c"}
    assert element.has_class("c")
    assert not element.has_class("b  c")


def test_a_page_is_no_deeper_than_can_be_read() -> None:
    elements = list(tree_of("<div>" * 5_000).elements())
    deepest, depth = elements[0], 1
    while inner := [part for part in deepest.children if isinstance(part, Element) and part.children]:
        deepest, depth = inner[0], depth + 1
    assert depth < DEEPEST
