"""The page follows the end of the log while the reader is there, and never takes a reader anywhere else."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, insert, say

PARAGRAPHS = [f"Paragraph {number}. " + "Many words of it. " * 12 + "\n\n" for number in range(40)]


def in_two_halves() -> Answer:
    """A long answer that stands still after its first half, and once more before its end."""
    answer = insert(say(*PARAGRAPHS), 39, {"hold": "end"})
    return insert(answer, 20, {"hold": "half"})


@pytest.fixture
def reading(talk: Talk, llm: FakeLLM) -> Talk:
    """Half of an answer that is longer than the window has come; the reader is at its end."""
    llm.script(in_two_halves())
    talk.say("Tell me a lot.")
    llm.wait_held("half")
    expect(paragraph(talk, 19)).to_be_in_viewport()
    return talk


def paragraph(talk: Talk, number: int) -> Locator:
    return talk.answer.locator("p").filter(has_text=f"Paragraph {number}.")


def to_latest(talk: Talk) -> Locator:
    return talk.page.get_by_role("button", name="Latest")


def position(talk: Talk) -> float:
    top: float = talk.log.evaluate("(log) => log.scrollTop")
    return top


def wheel_up(talk: Talk) -> None:
    talk.log.hover()
    talk.page.mouse.wheel(0, -400)
    expect(to_latest(talk)).to_be_visible()


def test_who_is_at_the_end_sees_the_newest_words(reading: Talk, llm: FakeLLM) -> None:
    expect(to_latest(reading)).to_be_hidden()
    llm.release("half")
    llm.wait_held("end")
    expect(paragraph(reading, 38)).to_be_in_viewport()
    expect(to_latest(reading)).to_be_hidden()


def test_who_reads_further_up_is_left_alone_and_finds_the_way_back(reading: Talk, llm: FakeLLM) -> None:
    wheel_up(reading)
    reading.page.wait_for_function(STANDS_STILL)
    before = position(reading)
    llm.release("half")
    llm.wait_held("end")
    expect(paragraph(reading, 38)).to_be_attached()
    assert position(reading) == before
    to_latest(reading).click()
    expect(paragraph(reading, 38)).to_be_in_viewport()
    expect(to_latest(reading)).to_be_hidden()
    llm.release("end")
    expect(paragraph(reading, 39)).to_be_in_viewport()


def test_keys_of_the_reader_release_as_well(reading: Talk, llm: FakeLLM) -> None:
    reading.log.focus()
    reading.page.keyboard.press("Home")
    expect(to_latest(reading)).to_be_visible()
    reading.page.wait_for_function("() => document.getElementById('scroller').scrollTop === 0")
    llm.release("half")
    llm.wait_held("end")
    expect(paragraph(reading, 38)).to_be_attached()
    assert position(reading) == 0
    reading.log.focus()
    reading.page.keyboard.press("End")
    expect(to_latest(reading)).to_be_hidden()


def test_a_message_that_is_sent_goes_to_the_end(reading: Talk, llm: FakeLLM) -> None:
    wheel_up(reading)
    reading.say("Stop that.", key="Control+Enter")
    expect(reading.queue).to_have_count(1)
    expect(paragraph(reading, 19)).to_be_in_viewport()
    expect(to_latest(reading)).to_be_hidden()


def test_what_the_reader_opened_stays_open_while_the_answer_grows(talk: Talk, llm: FakeLLM) -> None:
    llm.script(insert(say("One. ", "Two. ", "Three.", reasoning=["I think. ", "Hard."]), 3, {"hold": "half"}))
    talk.say("Think.")
    llm.wait_held("half")
    thinking = talk.answer.locator("details")
    thinking.locator("summary").click()
    expect(talk.answer.get_by_text("I think. Hard.")).to_be_visible()
    llm.release("half")
    talk.expect_answer("One. Two. Three.")
    expect(talk.answer.get_by_text("I think. Hard.")).to_be_visible()


def test_a_selection_in_what_is_written_survives_what_comes(reading: Talk, llm: FakeLLM) -> None:
    paragraph(reading, 3).evaluate("(p) => getSelection().selectAllChildren(p)")
    before = reading.page.evaluate("() => String(getSelection())")
    llm.release("half")
    llm.wait_held("end")
    expect(paragraph(reading, 38)).to_be_attached()
    assert reading.page.evaluate("() => String(getSelection())") == before != ""


STANDS_STILL = """() => new Promise((done) => {
    const box = document.getElementById("scroller");
    const last = box.scrollTop;
    requestAnimationFrame(() => requestAnimationFrame(() => done(box.scrollTop === last)));
})"""
