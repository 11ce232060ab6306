"""The message box: what is written is kept until the server has it, and is sent exactly once."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import CDPSession, expect

from e2e.line import Line
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

MEGABYTE = 1_000_000
TOO_BIG = 17 << 20


def test_a_draft_is_kept_over_a_reload_and_per_conversation(talk: Talk, served: Server, llm: FakeLLM) -> None:
    talk.box.fill("Half a thought\nin two lines")
    other = Talk(talk.page, served.new_conversation()).opened()
    expect(other.box).to_have_value("")
    other.box.fill("Another thought")
    talk.opened()
    expect(talk.box).to_have_value("Half a thought\nin two lines")
    talk.box.press("Enter")
    talk.expect_answer("You said: Half a thought in two lines.")
    expect(talk.box).to_have_value("")
    talk.again()
    expect(talk.box).to_have_value("")
    other.opened()
    expect(other.box).to_have_value("Another thought")


def test_shift_enter_breaks_the_line(talk: Talk) -> None:
    talk.box.type("one")
    talk.box.press("Shift+Enter")
    talk.box.type("two")
    expect(talk.box).to_have_value("one\ntwo")
    expect(talk.articles("user")).to_have_count(0)


def test_an_empty_message_is_not_sent(talk: Talk, llm: FakeLLM, watch: Watch) -> None:
    watch.allow("status of 422")
    talk.box.press("Enter")
    talk.button("Send").click()
    talk.box.fill("  \n ")
    talk.box.press("Enter")
    talk.button("Send").click()
    expect(talk.page.locator("#toast")).to_contain_text("There is nothing to send")
    talk.say("Something")
    talk.expect_answer("You said: Something.")
    expect(talk.articles("user")).to_have_count(1)
    assert len(llm.bodies()) == 1


def test_a_double_click_and_a_held_enter_send_once(talk: Talk, llm: FakeLLM) -> None:
    talk.box.fill("Once only")
    talk.button("Send").dblclick()
    talk.expect_answer("You said: Once only.")
    talk.box.fill("Only once")
    talk.page.evaluate(
        """() => {
            const box = document.getElementById("message");
            for (let n = 0; n < 5; n++) {
                box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
            }
        }"""
    )
    talk.expect_answer("You said: Only once.")
    talk.again()
    expect(talk.articles("user")).to_have_count(2)
    assert len(llm.bodies()) == 2


def test_a_message_of_a_megabyte_arrives_whole(talk: Talk, llm: FakeLLM) -> None:
    text = "0123456789" * (MEGABYTE // 10)
    llm.script(say("That was long."))
    talk.say(text)
    talk.expect_answer("That was long.")
    expect(talk.box).to_have_value("")
    assert llm.bodies()[0]["messages"][-1]["content"] == text


def test_what_is_refused_as_too_big_stays_in_the_box(talk: Talk, watch: Watch) -> None:
    watch.allow("status of 413")
    talk.page.evaluate(
        """(size) => {
        const ballast = Object.assign(document.createElement("input"), { type: "hidden", name: "ballast" });
        ballast.value = "x".repeat(size);
        document.getElementById("composer").append(ballast);
    }""",
        TOO_BIG,
    )
    talk.say("I am in heavy company")
    expect(talk.page.locator("#toast")).to_contain_text("larger than what Plancia takes")
    expect(talk.box).to_have_value("I am in heavy company")
    expect(talk.articles("user")).to_have_count(0)


def test_a_browser_without_room_for_drafts_sends_all_the_same(talk: Talk, llm: FakeLLM) -> None:
    talk.page.evaluate("""() => { for (let size = 1 << 22; size >= 1; size >>= 1) {
        try { localStorage.setItem(`full-${size}`, "x".repeat(size)); } catch { continue; } } }""")
    talk.say("No room")
    talk.expect_answer("You said: No room.")


def test_a_server_that_is_gone_takes_nothing_and_a_second_try_counts_once(
    distant: Talk, line: Line, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    line.down()
    expect(distant.reconnecting).to_be_visible()
    distant.say("Do you hear me?")
    expect(distant.page.locator("#toast")).to_contain_text("did not answer")
    expect(distant.box).to_have_value("Do you hear me?")
    line.up()
    distant.box.press("Enter")
    distant.expect_answer("You said: Do you hear me?.")
    expect(distant.box).to_have_value("")
    expect(distant.articles("user")).to_have_count(1)


def test_a_message_that_arrived_though_its_answer_did_not_is_not_sent_twice(
    distant: Talk, line: Line, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    line.lose_answers(1)
    distant.say("Only one of me")
    expect(distant.page.locator("#toast")).to_contain_text("did not answer")
    expect(distant.box).to_have_value("Only one of me")
    distant.expect_answer("You said: Only one of me.")
    distant.box.press("Enter")
    expect(distant.box).to_have_value("")
    distant.again()
    expect(distant.articles("user")).to_have_count(1)
    assert len(llm.bodies()) == 1


def test_text_that_is_written_while_a_message_is_sent_stays(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Yes."), 0))
    talk.say("First")
    talk.box.fill("Second, begun at once")
    llm.wait_held()
    llm.release()
    talk.expect_answer("Yes.")
    expect(talk.box).to_have_value("Second, begun at once")


@pytest.fixture
def keyboard(talk: Talk) -> CDPSession:
    return talk.page.context.new_cdp_session(talk.page)


def test_enter_that_ends_a_composition_does_not_send(talk: Talk, keyboard: CDPSession, llm: FakeLLM) -> None:
    talk.box.focus()
    keyboard.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    composing = {"windowsVirtualKeyCode": 229, "key": "Enter", "code": "Enter"}
    keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **composing})
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **composing})
    expect(talk.box).to_have_value("にほん")
    keyboard.send("Input.insertText", {"text": "日本"})
    expect(talk.box).to_have_value("日本")
    expect(talk.articles("user")).to_have_count(0)
    talk.box.press("Enter")
    talk.expect_answer("You said: 日本.")
    assert len(llm.bodies()) == 1


def test_an_example_is_put_into_the_box_not_sent(talk: Talk) -> None:
    talk.page.get_by_role("link", name="Show me around").click()
    expect(talk.box).to_have_value(re.compile("^Show me around"))
    expect(talk.box).to_be_focused()
    expect(talk.articles("user")).to_have_count(0)
