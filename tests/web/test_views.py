"""Views of messages: what a row says to a template, and what it does not."""

from __future__ import annotations

import pytest

from app.web.entries import ToolView
from app.web.live_markdown import LiveMarkdown
from app.web.notices import notice_words
from app.web.plain import first_sentence
from app.web.times import local
from app.web.views import (
    AssistantView,
    ErrorView,
    NoticeView,
    Remedy,
    member_label,
    message_view,
    message_views,
)
from tests.web.samples import row


def test_a_kind_without_a_template_is_not_drawn() -> None:
    assert message_views([row("later"), row("user", "done", "x", member="user")])[0].kind == "user"
    with pytest.raises(LookupError):
        message_view(row("later"))


SENTENCES = [
    ("The key was refused (401). It may be mistyped.", ("The key was refused (401)", "It may be mistyped.")),
    ("No answer from 127.0.0.1. Is it on?", ("No answer from 127.0.0.1", "Is it on?")),
    ("gpt-5.1 is busy", ("gpt-5.1 is busy", "")),
    ("Why? Nobody knows.", ("Why?", "Nobody knows.")),
    ("One line\nand another", ("One line", "and another")),
    ("", ("", "")),
]


@pytest.mark.parametrize(("text", "parts"), SENTENCES)
def test_the_first_sentence_is_the_heading(text: str, parts: tuple[str, str]) -> None:
    assert first_sentence(text) == parts


def test_a_notice_of_a_later_version_is_still_said() -> None:
    assert notice_words({"notice": "unheard_of"}, "Words.").text == "Words."


def test_a_text_that_streams_shows_what_has_been_said_by_now_and_not_what_was_saved() -> None:
    live = LiveMarkdown()
    live.feed("All of it.\n\nAnd\nmore")
    view = message_view(row("assistant", "streaming", "All"), live, "so far")
    assert isinstance(view, AssistantView)
    assert view.html == "<p>All of it.</p>\n"
    assert view.tail == "<p>And\nmore</p>\n"
    assert view.thought == "so far"


def test_a_text_that_has_ended_has_no_open_end_whatever_is_left_of_its_stream() -> None:
    view = message_view(row("assistant", "done", "Ended.", thought_ms=1500), LiveMarkdown())
    assert isinstance(view, AssistantView)
    assert (view.html, view.tail, view.thought_seconds) == ("<p>Ended.</p>\n", None, 1.5)


def test_a_call_shows_its_progress_until_it_has_a_result() -> None:
    running = message_view(
        row("tool_call", "streaming", call_id="c", name="read_file", arguments={}, progress="half")
    )
    ended = message_view(
        row("tool_call", "done", call_id="c", name="read_file", arguments={}, progress="half", result="all")
    )
    assert isinstance(running, ToolView)
    assert isinstance(ended, ToolView)
    assert running.screen is not None
    assert (running.screen.open, running.stat) == ("half", "running")
    assert (ended.screen, ended.output.shown.text, ended.stat) == (None, "all", "")


REMEDIES = [
    ("auth", "lab/m", "lab did not accept the key.", "Replace key", "/settings/models#of-lab"),
    ("subscription", "lab/m", "The plan at lab has ended.", "Replace key", "/settings/models#of-lab"),
    ("auth", "lab/m", "OpenAI has no key yet. Set OPENAI_API_KEY.", "Add key", "/settings/models#of-lab"),
    ("auth", "", "lab wants a key, and none is set.", "Add key", "/settings/models"),
    ("balance", "lab/m", "No credit left.", "Models and keys", "/settings/models"),
    ("unreachable", "lab/m", "Nothing answers.", "Models and keys", "/settings/models"),
    ("unknown_model", "", "Nobody has it.", "Models and keys", "/settings/models"),
]


@pytest.mark.parametrize(("kind", "model", "text", "label", "href"), REMEDIES)
def test_trouble_with_a_source_leads_to_what_puts_it_right(
    kind: str, model: str, text: str, label: str, href: str
) -> None:
    view = message_view(row("error", "failed", text, kind=kind, model=model))
    assert isinstance(view, ErrorView)
    assert (view.remedy, view.another_model, view.can_retry) == (Remedy(label, href), True, True)
    assert view.model == model
    settled = message_view(row("error", "failed", text, kind=kind, model=model, settled=True))
    assert isinstance(settled, ErrorView)
    assert (settled.remedy, settled.another_model, settled.can_retry) == (None, False, False)


@pytest.mark.parametrize(("kind", "another"), [("timeout", True), ("policy", True), ("storage", False)])
def test_trouble_of_another_kind_offers_a_model_where_that_may_help(kind: str, another: bool) -> None:
    view = message_view(row("error", "failed", "No. Try.", kind=kind))
    assert isinstance(view, ErrorView)
    assert (view.remedy, view.another_model) == (None, another)


def test_a_wait_that_lasts_has_an_end_and_one_that_is_over_has_none() -> None:
    data = {"notice": "retry", "attempt": 1, "wait_ms": 20_000, "until": "2026-11-30T12:00:20.000Z"}
    waiting = message_view(row("notice", "streaming", "lab is busy. Try again later.", **data))
    over = message_view(row("notice", "done", "lab is busy. Try again later.", **data))
    assert isinstance(waiting, NoticeView)
    assert isinstance(over, NoticeView)
    words = waiting.words
    assert (words.text, words.wait, words.tail) == (
        "lab is busy. Trying again in",
        "20\u00a0s",
        "(attempt 2).",
    )
    assert waiting.until == local("2026-11-30T12:00:20.000Z")
    assert waiting.hurry == "/conversations/conv_1/hurry"
    assert over.until is None


@pytest.mark.parametrize(
    ("member", "label"),
    [("commander", "Commander"), ("user", "You"), ("my_agent", "My agent"), ("", "Somebody")],
)
def test_a_member_is_called_by_a_name(member: str, label: str) -> None:
    assert member_label(member) == label


def test_a_notice_says_whose_jobs_continue_takes_up() -> None:
    jobs = [["coder", "Patch it.\nThen test it."], ["own-one", "Tell it."]]
    view = message_view(row("notice", notice="interrupted", jobs=jobs))
    assert isinstance(view, NoticeView)
    assert view.words.more.endswith(
        "Continue takes up what was cut off with it: Coder (Patch it.), Own one (Tell it.)."
    )
