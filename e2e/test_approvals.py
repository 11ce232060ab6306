"""What needs the user: asked in the log and in a dialog, answered by mouse, by keys and without script."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, hold, say

CLICKS_AT_ONCE = """() => new MutationObserver((changes, observer) => {
    const button = document.querySelector("#asks[open] [value=allow_once]");
    if (!button) return;
    observer.disconnect();
    button.click();
    document.body.dataset.clicked = "";
}).observe(document.getElementById("asks"), { attributes: true, childList: true, subtree: true })"""


@pytest.fixture
def cautious(conversation: str, served: Server, talk: Talk) -> Talk:
    served.post(f"{talk.path}/access", access="cautious")
    return talk.again()


def asks_to_write(llm: FakeLLM, *names: str) -> None:
    calls = [call("write_file", {"path": name, "content": f"For {name}.\n"}) for name in names]
    llm.script(*(say("I write it down.", calls=[one]) for one in calls), say("Written."))


def question(talk: Talk) -> Locator:
    return talk.page.get_by_role("dialog", name="Commander wants to change a file")


def written(served: Server, name: str) -> Path:
    return served.workspace / name


def decide(talk: Talk, name: str) -> None:
    expect(question(talk)).to_have_attribute("data-armed", "")
    question(talk).get_by_role("button", name=name).click()


def test_a_change_is_allowed_once_in_the_dialog(cautious: Talk, llm: FakeLLM, served: Server) -> None:
    asks_to_write(llm, "once.md")
    cautious.say("Write it down.")
    expect(question(cautious)).to_contain_text("For once.md.")
    expect(question(cautious).get_by_role("button", name="Deny")).to_be_focused()
    expect(cautious.page.locator("#floor")).to_contain_text("Commander is waiting for you")
    expect(cautious.page.locator("#sr-status")).to_have_text("Commander needs your approval.")
    assert not written(served, "once.md").exists()
    decide(cautious, "Allow once")
    expect(question(cautious)).to_be_hidden()
    cautious.expect_answer("Written.")
    assert written(served, "once.md").read_text() == "For once.md.\n"
    decided = cautious.articles("approval")
    expect(decided).to_have_attribute("data-decision", "allow_once")
    expect(decided).to_contain_text("You allowed this once")


def test_a_click_that_was_meant_for_something_else_allows_nothing(
    cautious: Talk, llm: FakeLLM, served: Server
) -> None:
    asks_to_write(llm, "hasty.md")
    cautious.page.evaluate(CLICKS_AT_ONCE)
    cautious.say("Write it down.")
    expect(cautious.page.locator("body")).to_have_attribute("data-clicked", "")
    expect(question(cautious)).to_have_attribute("data-armed", "")
    assert not written(served, "hasty.md").exists()
    decide(cautious, "Deny")
    cautious.expect_answer("Written.")


def test_escape_decides_nothing_and_the_question_stays_in_the_log(cautious: Talk, llm: FakeLLM) -> None:
    asks_to_write(llm, "later.md")
    cautious.say("Write it down.")
    expect(question(cautious)).to_be_visible()
    cautious.page.keyboard.press("Escape")
    expect(question(cautious)).to_be_hidden()
    expect(cautious.articles("approval")).to_have_attribute("data-wait", "user")
    cautious.again()
    expect(question(cautious)).to_be_visible()
    cautious.page.keyboard.press("Escape")
    cautious.page.keyboard.press("Alt+A")
    expect(question(cautious)).to_have_attribute("data-armed", "")
    cautious.page.keyboard.press("Enter")  # the focus is on Deny
    cautious.expect_answer("Written.")
    expect(cautious.articles("approval")).to_have_attribute("data-decision", "deny")


def test_whoever_is_writing_is_not_interrupted(cautious: Talk, llm: FakeLLM) -> None:
    writes = call("write_file", {"path": "quiet.md", "content": "x"})
    llm.script(hold(say("I write it down.", calls=[writes]), 0), say("Written."))
    cautious.say("Write it down.")
    llm.wait_held()
    cautious.box.fill("And")
    llm.release()
    expect(cautious.articles("approval")).to_have_attribute("data-wait", "user")
    cautious.box.press_sequentially(" then")
    expect(cautious.box).to_have_value("And then")
    expect(question(cautious)).to_be_hidden()
    cautious.articles("approval").get_by_role("button", name="Deny").click()
    cautious.expect_answer("Written.")


def test_a_refusal_has_its_reason_and_the_model_is_told(cautious: Talk, llm: FakeLLM, served: Server) -> None:
    asks_to_write(llm, "not.md")
    cautious.say("Write it down.")
    question(cautious).get_by_text("Say why not").click()
    question(cautious).get_by_label("Reason for a refusal").fill("Use the wiki.")
    decide(cautious, "Deny")
    cautious.expect_answer("Written.")
    expect(cautious.articles("approval")).to_contain_text("You denied this")
    assert "Use the wiki." in str(llm.bodies()[-1]["messages"][-1])
    assert not written(served, "not.md").exists()


def test_enter_behind_a_reason_refuses(cautious: Talk, llm: FakeLLM, served: Server) -> None:
    asks_to_write(llm, "enter.md")
    cautious.say("Write it down.")
    expect(question(cautious)).to_have_attribute("data-armed", "")
    question(cautious).get_by_text("Say why not").click()
    question(cautious).get_by_label("Reason for a refusal").fill("Not today.")
    cautious.page.keyboard.press("Enter")
    cautious.expect_answer("Written.")
    expect(cautious.articles("approval")).to_have_attribute("data-decision", "deny")
    assert not written(served, "enter.md").exists()


def test_always_shows_its_rule_and_does_not_ask_again(cautious: Talk, llm: FakeLLM, served: Server) -> None:
    asks_to_write(llm, "always.md", "always.md")
    cautious.say("Write it down twice.")
    expect(question(cautious)).to_contain_text("adds the rule write_file: always.md for this workspace")
    decide(cautious, "Always allow")
    cautious.expect_answer("Written.")
    expect(cautious.articles("approval")).to_have_count(1)


def test_stop_with_a_question_open_runs_nothing(cautious: Talk, llm: FakeLLM, served: Server) -> None:
    asks_to_write(llm, "stopped.md")
    cautious.say("Write it down.")
    expect(question(cautious)).to_be_visible()
    cautious.page.keyboard.press("Escape")
    cautious.button("Stop").click()
    expect(cautious.articles("approval")).to_contain_text("This request has already ended, nothing was run.")
    expect(cautious.button("Send")).to_be_visible()
    assert not written(served, "stopped.md").exists()


def test_without_script_the_question_is_a_form(
    conversation: str, served: Server, llm: FakeLLM, new_context: NewContext
) -> None:
    plain = Talk(new_context(java_script_enabled=False).new_page(), conversation).opened()
    plain.page.get_by_label("Access").select_option("cautious")
    plain.page.get_by_role("button", name="Use").first.click()
    expect(plain.page.get_by_label("Access")).to_have_value("cautious")
    asks_to_write(llm, "plain.md")
    plain.box.fill("Write it down.")
    with plain.page.expect_navigation():
        plain.button("Send").click()
    plain.articles("approval").get_by_role("button", name="Allow once").click()
    plain.expect_answer("Written.")
    assert written(served, "plain.md").exists()


def test_a_rule_is_taken_back_on_the_page(cautious: Talk, llm: FakeLLM) -> None:
    asks_to_write(llm, "ruled.md")
    cautious.say("Write it down.")
    decide(cautious, "Always allow")
    cautious.expect_answer("Written.")
    page = cautious.page
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Permissions").click()
    page.get_by_role("button", name="Revoke rule write_file: ruled.md").click()
    expect(page.get_by_role("button", name="Revoke rule write_file: ruled.md")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Revoke rule write_file: ruled.md")).to_have_count(0)


def test_the_tab_says_how_many_wait_and_keeps_the_name_of_the_conversation(
    cautious: Talk, llm: FakeLLM
) -> None:
    asks_to_write(llm, "tab.md")
    cautious.say("Write it down.")
    expect(cautious.page).to_have_title("(1) Write it down. · Plancia")
    decide(cautious, "Deny")
    expect(cautious.page).to_have_title("Write it down. · Plancia")
