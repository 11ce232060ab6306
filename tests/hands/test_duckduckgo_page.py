"""DuckDuckGo's page: its list, its refusal and its emptiness, told apart by how the page is built."""

from __future__ import annotations

import pytest

from app.hands.search_engines import DuckDuckGo
from tests.fakes.web_server import Serve, page
from tests.hands.online import search_at

pytestmark = pytest.mark.anyio

DUCK = DuckDuckGo("http://html.duckduckgo.com/html/")


def result(title: str, href: str, snippet: str, kind: str = "") -> str:
    return (
        f"<div class='result results_links web-result {kind}'><h2 class=result__title><a rel=nofollow class=result__a "
        f"href='{href}'>{title}</a></h2><a class=result__snippet href='{href}'>{snippet}</a></div>"
    )


def behind(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={url}&amp;rut=abc"


LISTED = (
    "<div id=links class=results>"
    + result("First &amp; <b>best</b>", behind("https%3A%2F%2Fa.example%2Fx%3Fy%3D1"), "About <b>it</b>.")
    + result("Buy", "https://duckduckgo.com/y.js?ad_domain=x", "An advertisement", "result--ad")
    + result("Buy", "//duckduckgo.com/y.js?ad=1", "Another one")
    + result("Straight", "https://b.example/", "")
    + result("Twice", "https://b.example", "the same")
    + result("Odd", behind("javascript%3Aalert(1)"), "no address")
    + "</div>"
)
CHALLENGE = (
    "<form id=challenge-form action='//duckduckgo.com/anomaly.js?sv=html' method=POST><div class=anomaly-modal__mask>"
    "<div class=anomaly-modal__title>Unfortunately, bots use DuckDuckGo too.</div></div></form>"
)


async def test_duckduckgo_is_asked_without_a_key_and_its_list_is_read() -> None:
    output, request = await search_at(DUCK, page(LISTED), "ferry & “times”")
    assert request.query == {"q": "ferry & “times”"}
    assert request.headers["host"] == "html.duckduckgo.com"
    assert (
        "1. First & best\n   https://a.example/x?y=1\n   About it.\n\n2. Straight\n   https://b.example/"
        in output.text
    )
    assert "advertisement" not in output.text
    assert "Another one" not in output.text
    assert "Twice" not in output.text
    assert "Odd" not in output.text
    assert output.text.startswith("[DuckDuckGo finds for 'ferry & “times”'. Up to the line")


@pytest.mark.parametrize(
    "serve",
    [page(CHALLENGE), page(CHALLENGE, status=202), page("", status=403), page("slow down", status=429)],
    ids=["challenge", "challenge with 202", "403", "429"],
)
async def test_that_duckduckgo_turns_programs_away_is_said_as_such(serve: Serve) -> None:
    output, _ = await search_at(DUCK, serve)
    assert output.error == "E_DENIED"
    assert "asks for proof that a person is searching" in output.text
    assert "Brave, Tavily or a SearXNG server" in output.text


@pytest.mark.parametrize(
    "words",
    [
        *(
            "What is a captcha?",
            "class=&quot;anomaly-modal__title&quot;",
            "Bots use DuckDuckGo too: complete the challenge",
        ),
        "&lt;form action=&quot;//duckduckgo.com/anomaly.js&quot;&gt;",
    ],
)
async def test_pages_about_captchas_are_results_like_others(words: str) -> None:
    output, _ = await search_at(DUCK, page(result(words, "https://a.example/captcha", words)), "captcha")
    assert output.error is None
    assert "https://a.example/captcha" in output.text


async def test_nothing_found_differs_from_a_page_that_is_not_understood() -> None:
    empty, _ = await search_at(DUCK, page("<div class='no-results'>No results.</div>"))
    assert empty.text == "[DuckDuckGo finds nothing for 'ferry'. Try other words.]"
    changed, _ = await search_at(DUCK, page("<div class=new-design>No results.</div>"))
    assert changed.error == "E_FAILED"
    assert "not understood" in changed.text
