"""Two pages on one conversation agree, whichever of them acts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say


@pytest.fixture
def both(talk: Talk, second: Talk) -> tuple[Talk, Talk]:
    return talk, second.opened()


def expect_agreement(both: tuple[Talk, Talk]) -> None:
    one, other = both
    other.expect_same_as(one)
    one.expect_same_as(other)


def test_a_message_sent_in_one_appears_in_both_with_its_answer(both: tuple[Talk, Talk], llm: FakeLLM) -> None:
    one, other = both
    llm.script(say("Hello to both."))
    one.say("Hello")
    other.expect_answer("Hello to both.")
    one.expect_answer("Hello to both.")
    expect_agreement(both)


def test_stop_in_one_stops_both(both: tuple[Talk, Talk], llm: FakeLLM) -> None:
    one, other = both
    llm.script(hold(say("Begun. ", "Never ended."), 1))
    one.say("Begin.")
    llm.wait_held()
    expect(other.answer).to_contain_text("Begun.")
    other.button("Stop").click()
    expect(one.button("Send")).to_be_visible()
    expect(one.articles("notice")).to_contain_text("Stopped by you")
    expect_agreement(both)


def test_the_queue_is_one_for_both(both: tuple[Talk, Talk], llm: FakeLLM) -> None:
    one, other = both
    llm.script(hold(say("Busy. ", "Done."), 1), say("Answered."))
    one.say("Be busy.")
    llm.wait_held()
    one.say("From the first tab", key="Control+Enter")
    other.say("From the second tab", key="Control+Enter")
    expect(one.queue).to_have_count(2)
    expect_agreement(both)
    other.button("Delete message 1").click()
    expect(one.queue).to_have_count(1)
    expect(one.queue).to_contain_text("From the second tab")
    expect_agreement(both)
    llm.release()
    one.expect_answer("Answered.")
    expect(other.queue).to_have_count(0)
    expect_agreement(both)


def test_a_title_and_a_model_chosen_in_one_stand_in_both(both: tuple[Talk, Talk], llm: FakeLLM) -> None:
    one, other = both
    llm.script(say("Hello."))
    one.say("Hello")
    one.expect_answer("Hello.")
    other.button("Conversation menu").click()
    other.page.get_by_role("button", name="Rename").first.click()
    other.page.get_by_label("Title").fill("Named in the other tab")
    other.page.get_by_label("Title").press("Enter")
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Named in the other tab")
    expect(one.page.get_by_role("navigation", name="Conversations")).to_contain_text("Named in the other tab")
    expect_agreement(both)


def test_a_page_that_one_comes_back_to_is_live_again(both: tuple[Talk, Talk], llm: FakeLLM) -> None:
    one, other = both
    one.page.get_by_role("link", name="Settings").click()
    expect(one.page.get_by_role("heading", name="Settings")).to_be_visible()
    other.say("While you were away")
    other.expect_answer("You said: While you were away.")
    one.page.go_back()
    one.expect_answer("You said: While you were away.")
    other.say("And now")
    one.expect_answer("You said: And now.")
    expect_agreement(both)
