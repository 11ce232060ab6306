"""Stop: at once, whatever is going on; what was written stays, and the conversation goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, fail, hold, say

AT_ONCE = 1_000


def expect_stopped(talk: Talk) -> None:
    talk.button("Stop").click()
    expect(talk.button("Send")).to_be_visible(timeout=AT_ONCE)
    expect(talk.button("Stop")).to_have_count(0)
    expect(talk.articles("notice").last).to_contain_text("Stopped by you")


def expect_goes_on(talk: Talk, llm: FakeLLM) -> None:
    llm.script(say("Here I am again."))
    talk.say("And now?")
    talk.expect_answer("Here I am again.")
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_stream_stops_at_once_and_its_text_stays(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Kept words. ", "Never said."), 1))
    talk.say("Talk without end.")
    llm.wait_held()
    expect(talk.answer).to_contain_text("Kept words.")
    expect_stopped(talk)
    assert llm.wait_ended(0)["ended"] in {"left", "reset"}
    talk.expect_state("interrupted")
    expect(talk.answer.locator("[data-part=text]")).to_have_text("Kept words.")
    expect_goes_on(talk, llm)


def test_a_model_that_says_nothing_yet_is_stopped_too(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Too late."), 0))
    talk.say("Are you there?")
    llm.wait_held()
    expect_stopped(talk)
    expect(talk.articles("assistant")).to_have_count(0)
    expect_goes_on(talk, llm)


def test_arguments_of_a_tool_that_still_arrive_are_stopped(talk: Talk, llm: FakeLLM) -> None:
    wanted = call("write_file", {"path": "half.txt", "content": "half"}, pieces=4)
    llm.script(hold(say("I write.", calls=[wanted]), 3))
    talk.say("Write a file.")
    llm.wait_held()
    expect(talk.articles("tool_call")).to_have_attribute("data-state", "streaming")
    expect_stopped(talk)
    expect(talk.articles("tool_call")).to_have_attribute("data-state", "interrupted")
    expect_goes_on(talk, llm)


def test_a_wait_before_the_next_try_is_stopped(talk: Talk, llm: FakeLLM) -> None:
    llm.script(fail(429, "Rate limit reached.", retry_after=60))
    talk.say("Hello?")
    expect(talk.articles("notice")).to_contain_text("Trying again in")
    expect_stopped(talk)
    expect_goes_on(talk, llm)


def test_escape_goes_to_stop_and_enter_presses_it(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("One. ", "Two."), 1))
    talk.say("Count.")
    llm.wait_held()
    talk.box.press("Escape")
    expect(talk.button("Stop")).to_be_focused()
    talk.page.keyboard.press("Enter")
    expect(talk.button("Send")).to_be_visible(timeout=AT_ONCE)
    expect(talk.articles("notice")).to_contain_text("Stopped by you")


def test_what_was_stopped_can_be_continued(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("First. ", "Second."), 1), say("Second, after all."))
    talk.say("Say two things.")
    llm.wait_held()
    expect(talk.answer).to_contain_text("First.")
    expect_stopped(talk)
    talk.button("Continue").click()
    talk.expect_answer("Second, after all.")
    expect(talk.button("Continue")).to_have_count(0)


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_who_stops_with_the_keyboard_goes_on_writing(talk: Talk, llm: FakeLLM, key: str) -> None:
    llm.script(hold(say("Kept words. ", "Never said."), 1))
    talk.say("Talk without end.")
    llm.wait_held()
    talk.page.keyboard.press("Escape")
    expect(talk.button("Stop")).to_be_focused()
    talk.page.keyboard.press(key)
    expect(talk.box).to_be_focused()
    expect(talk.button("Stop")).to_have_count(0)
    expect(talk.box).to_be_focused()
    talk.page.keyboard.type("And now?")
    expect(talk.box).to_have_value("And now?")
