"""Texts of which a page draws the ends alone."""

from __future__ import annotations

from app.web.live_markdown import LiveMarkdown
from app.web.long_texts import ENDING, LONGEST, beginning, rest_of, shortened
from app.web.views import AssistantView, UserView, message_view
from tests.web.samples import TEMPLATES, row

ALL_THAT_FITS = "x" * (LONGEST + ENDING)
LONG = "a" * LONGEST + "b" * 61_000_000 + "c" * ENDING


def test_a_text_that_fits_is_drawn_whole() -> None:
    assert beginning(ALL_THAT_FITS) == ALL_THAT_FITS
    assert rest_of(ALL_THAT_FITS, "/whole") is None
    assert shortened(ALL_THAT_FITS) == ALL_THAT_FITS


def test_of_a_longer_one_both_ends_are_drawn_and_what_is_missing_is_said() -> None:
    rest = rest_of(LONG, "/whole")
    assert rest is not None
    assert beginning(LONG) == "a" * LONGEST
    assert (rest.left_out, rest.ending, rest.href) == ("61M", "c" * ENDING, "/whole")
    assert "\n\n… 61M characters left out …\n\nccc" in shortened(LONG)


def test_an_article_of_many_megabytes_is_small_and_leads_to_all_of_it() -> None:
    for kind in ("assistant", "user"):
        view = message_view(row(kind, "done", LONG))
        assert isinstance(view, AssistantView | UserView)
        html = TEMPLATES.render_message(view)
        assert len(html) < LONGEST + ENDING + 3_000
        assert f'href="/conversations/conv_1/texts/{view.id}"' in html
        assert "… 61M characters left out …" in html
        assert "Copy answer" not in html


def test_thinking_of_many_megabytes_is_shortened_too() -> None:
    view = message_view(row("assistant", "done", "So.", reasoning=LONG))
    assert isinstance(view, AssistantView)
    assert len(view.thought) < LONGEST + ENDING + 100


def test_a_text_that_grows_is_drawn_up_to_there_however_it_is_chopped() -> None:
    text = "word and\n\n" * (LONGEST // 10) + "more"
    whole, chopped = LiveMarkdown(), LiveMarkdown()
    whole.feed(text)
    for at in range(0, len(text), 7_001):
        chopped.feed(text[at : at + 7_001])
    assert whole.is_full
    assert chopped.is_full
    assert whole.html == chopped.html
    assert "more" not in whole.html
    assert chopped.feed("and more") == ()
