"""Frames are what a browser's parser makes the same HTML of again, whatever is in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.web.frames import behaviour, frame
from tests.web.live_page import Message, read_messages

ANY_TEXT = st.text(st.one_of(st.characters(), st.sampled_from("\n\r\0:\u2028\ufeff")))


@given(html=ANY_TEXT)
def test_a_frame_brings_its_html_with_every_line_end_the_same(html: str) -> None:
    (message,) = read_messages(frame("boot-7", html).decode())
    lines = html.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    assert message == Message("boot-7", "", lines)


@given(htmls=st.lists(ANY_TEXT, max_size=5))
def test_frames_that_are_sent_together_come_apart_again(htmls: list[str]) -> None:
    sent = b"".join(frame(f"boot-{number}", html) for number, html in enumerate(htmls))
    assert [message.id for message in read_messages(sent.decode())] == [
        f"boot-{n}" for n in range(len(htmls))
    ]


def test_text_that_looks_like_fields_or_ends_stays_text() -> None:
    html = "a\n\nid: 9\nevent: reload\n: comment\nretry: 1\rdata: x"
    (message,) = read_messages(frame("boot-1", html).decode())
    assert message == Message("boot-1", "", html.replace("\r", "\n"))


def test_half_a_character_does_not_break_the_frame() -> None:
    assert frame("b-1", "a\ud83db") == b"id: b-1\ndata: a?b\n\n"


def test_a_named_event_has_no_number_and_swaps_nothing() -> None:
    assert behaviour("reload") == b"event: reload\ndata: \n\n"
    assert read_messages(behaviour("toast", "one\ntwo").decode()) == [Message("", "toast", "one\ntwo")]
