"""Messages that wait: queued or steered, seen, edited, moved, deleted, sent at once, held after Stop."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, hold, say

STEER, QUEUE = "Enter", "Control+Enter"


@pytest.fixture
def busy(talk: Talk, llm: FakeLLM) -> Talk:
    """A run is live: its answer stands after its first word."""
    llm.script(hold(say("Working. ", "Done."), 1))
    talk.say("Work.")
    llm.wait_held()
    expect(talk.answer).to_contain_text("Working.")
    return talk


def said(llm: FakeLLM) -> list[str]:
    """What the user said, as the last call of the model was told it."""
    return [one["content"] for one in llm.bodies()[-1]["messages"] if one["role"] == "user"]


def test_while_a_run_is_live_the_buttons_say_what_the_keys_do(busy: Talk) -> None:
    expect(busy.button("Steer")).to_have_attribute("data-key", "enter")
    expect(busy.button("Queue")).to_have_attribute("data-key", "modified")
    expect(busy.button("Stop")).to_be_visible()
    expect(busy.button("Send")).to_have_count(0)


def test_a_queued_message_waits_for_the_end_of_the_turn(busy: Talk, llm: FakeLLM) -> None:
    llm.script(say("Now the next one."))
    busy.say("Then this", key=QUEUE)
    expect(busy.queue).to_have_count(1)
    expect(busy.queue).to_contain_text("Then this")
    expect(busy.box).to_have_value("")
    busy.again()
    expect(busy.queue).to_contain_text("Then this")
    llm.release()
    busy.expect_answer("Now the next one.")
    expect(busy.queue).to_have_count(0)
    assert said(llm) == ["Work.", "Then this"]


def test_several_queued_messages_are_answered_by_one_turn(busy: Talk, llm: FakeLLM) -> None:
    llm.script(say("All at once."))
    for text in ("one", "two", "three"):
        busy.say(text, key=QUEUE)
        expect(busy.queue.filter(has_text=text)).to_have_count(1)
    llm.release()
    busy.expect_answer("All at once.")
    expect(busy.articles("user")).to_have_count(4)
    assert len(llm.bodies()) == 2


def test_a_steered_message_is_folded_into_the_running_turn(talk: Talk, llm: FakeLLM, served: Server) -> None:
    (served.workspace / "a.txt").write_text("A\n")
    reads: Answer = say("I look.", calls=[call("read_file", {"path": "a.txt"})])
    llm.script(hold(reads, 1), say("With your change."))
    talk.say("Look.")
    llm.wait_held()
    talk.say("But mind the gap", key=STEER)
    expect(talk.queue).to_contain_text("steers")
    llm.release()
    talk.expect_answer("With your change.")
    expect(talk.articles("user").last).to_have_attribute("data-sent", "steer")
    expect(talk.queue).to_have_count(0)
    assert said(llm)[-1] == "But mind the gap"
    shown = talk.shown()
    talk.again().expect_shows(shown)


@pytest.fixture
def settings(served: Server, new_context: NewContext) -> Iterator[Page]:
    """The settings in another tab; what is chosen there is taken back after the story."""
    page = new_context().new_page()
    page.goto(served.at("/settings"))
    yield page
    served.post("/settings", **{"composer.enter": "steer"})


def test_the_setting_swaps_the_two_keys_on_open_pages_too(busy: Talk, settings: Page) -> None:
    settings.get_by_role("radio", name=re.compile("^Queues")).check()
    settings.get_by_role("region", name="Conversation").get_by_role("button", name="Save").click()
    expect(settings.get_by_text("Saved.")).to_be_visible()
    expect(busy.button("Queue")).to_have_attribute("data-key", "enter")
    busy.say("Queued by Enter", key=STEER)
    expect(busy.queue).to_have_count(1)
    expect(busy.queue).not_to_contain_text("steers")
    busy.say("Steered by the other", key=QUEUE)
    expect(busy.queue.filter(has_text="Steered by the other")).to_contain_text("steers")


def test_a_waiting_message_is_edited(busy: Talk, llm: FakeLLM) -> None:
    llm.script(say("Right."))
    busy.say("Wrong words", key=QUEUE)
    busy.button("Edit message 1").click()
    editor = busy.page.get_by_role("textbox", name="Edit message 1")
    expect(editor).to_be_focused()
    editor.fill("Right words")
    busy.button("Save").click()
    expect(editor).to_be_hidden()
    expect(busy.queue).to_contain_text("Right words")
    llm.release()
    busy.expect_answer("Right.")
    assert said(llm)[-1] == "Right words"


def test_an_editor_keeps_its_text_while_the_queue_changes_around_it(busy: Talk, second: Talk) -> None:
    busy.say("The one I edit", key=QUEUE)
    busy.button("Edit message 1").click()
    editor = busy.page.get_by_role("textbox", name="Edit message 1")
    editor.fill("Half of a new te")
    second.opened()
    second.say("Another one", key=QUEUE)
    expect(busy.queue).to_have_count(2)
    expect(editor).to_be_focused()
    busy.page.keyboard.type("xt")
    busy.button("Save").click()
    expect(busy.queue.first).to_contain_text("Half of a new text")


def test_waiting_messages_are_moved_and_deleted(busy: Talk, llm: FakeLLM) -> None:
    llm.script(say("In order."))
    for text in ("first", "second", "third"):
        busy.say(text, key=QUEUE)
        expect(busy.queue.filter(has_text=text)).to_have_count(1)
    busy.button("Move down message 1").click()
    expect(busy.queue.nth(0)).to_contain_text("second")
    busy.button("Move up message 3").click()
    expect(busy.queue.nth(1)).to_contain_text("third")
    busy.button("Delete message 3").click()
    expect(busy.queue).to_have_count(2)
    shown = busy.shown()
    busy.again().expect_shows(shown)
    llm.release()
    busy.expect_answer("In order.")
    assert said(llm)[-1].split() == ["second", "third"] or said(llm)[-2:] == ["second", "third"]


def test_send_now_steers_what_was_queued(busy: Talk, llm: FakeLLM) -> None:
    llm.script(say("At once, then."))
    busy.say("Not so late", key=QUEUE)
    send_now = busy.queue.get_by_role("button", name="Send now")
    send_now.click()
    expect(busy.queue).to_contain_text("steers")
    expect(send_now).to_have_count(0)
    llm.release()
    busy.expect_answer("At once, then.")
    expect(busy.articles("user").last).to_have_attribute("data-sent", "steer")


def test_after_stop_what_waits_is_held_until_the_user_sends_it(busy: Talk, llm: FakeLLM) -> None:
    busy.say("Wait for me", key=QUEUE)
    expect(busy.queue).to_have_count(1)
    busy.button("Stop").click()
    expect(busy.button("Send")).to_be_visible()
    expect(busy.queue).to_contain_text("held")
    busy.again()
    expect(busy.queue).to_contain_text("Wait for me")
    assert len(llm.bodies()) == 1
    llm.script(say("Sent at last."))
    busy.queue.get_by_role("button", name="Send now").click()
    busy.expect_answer("Sent at last.")
    expect(busy.queue).to_have_count(0)
