"""Views of messages: what a row says to a template, and what it does not."""

from __future__ import annotations

import pytest

from app.web.live_markdown import LiveMarkdown
from app.web.notices import notice_words
from app.web.views import (
    AssistantView,
    ErrorView,
    ToolView,
    first_sentence,
    member_label,
    message_view,
    message_views,
)
from tests.web.samples import row


def test_a_kind_without_a_template_is_not_drawn() -> None:
    assert message_views([row("plan"), row("user", "done", "x", member="user")])[0].kind == "user"
    with pytest.raises(LookupError):
        message_view(row("plan"))


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
    assert (running.output.shown.text, running.stat) == ("half", "running")
    assert (ended.output.shown.text, ended.stat) == ("all", "")


@pytest.mark.parametrize("kind", ["auth", "balance", "unreachable", "unknown_model"])
def test_trouble_with_a_source_leads_to_the_settings(kind: str) -> None:
    view = message_view(row("error", "failed", "No. Try.", kind=kind))
    assert isinstance(view, ErrorView)
    assert (view.settings, view.can_retry) == (True, True)
    settled = message_view(row("error", "failed", "No. Try.", kind=kind, settled=True))
    assert isinstance(settled, ErrorView)
    assert (settled.settings, settled.can_retry) == (False, False)


def test_trouble_of_another_kind_does_not() -> None:
    view = message_view(row("error", "failed", "No. Try.", kind="timeout"))
    assert isinstance(view, ErrorView)
    assert view.settings is False


@pytest.mark.parametrize(
    ("member", "label"),
    [("commander", "Commander"), ("user", "You"), ("my_agent", "My agent"), ("", "Somebody")],
)
def test_a_member_is_called_by_a_name(member: str, label: str) -> None:
    assert member_label(member) == label
