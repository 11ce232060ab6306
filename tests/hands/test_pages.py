"""Pages are read by a program of their own, which is ended when a page takes too much."""

from __future__ import annotations

import pytest

from app.hands.errors import Refused
from app.hands.pages import ask_page, read_page
from tests.hands.places import running

pytestmark = pytest.mark.anyio

URL = "https://example.com/docs/page"


async def test_a_page_is_read_by_a_program_of_its_own() -> None:
    page = await read_page("<title>T</title><p>a<nav>menu</nav>", URL)
    assert (page.title, page.text, page.note) == ("T", "a\n\nmenu", "")


async def test_a_page_that_takes_too_long_is_given_up_and_its_program_ended() -> None:
    programs = running()
    with pytest.raises(Refused, match="takes too much to read it"):
        await ask_page({"wanted": "page", "url": URL}, "<b>" * 1_000_000, seconds=0.2)
    assert running() == programs


async def test_a_program_that_breaks_off_is_a_page_that_cannot_be_read() -> None:
    with pytest.raises(Refused, match="E_FAILED"):
        await ask_page({}, "<p>a")


async def test_of_a_text_without_measure_the_beginning_is_given() -> None:
    page = await read_page("a" * 4_000_001, URL)
    assert len(page.text) == 4_000_000
    assert page.note == "only the first 4,000,000 characters of its text"
