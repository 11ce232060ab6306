"""Names behind @: offered while they are begun, taken by keys or click, and never in the way of writing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import say


def offers(talk: Talk) -> Locator:
    return talk.page.get_by_role("listbox", name="Members").get_by_role("option")


def begin(talk: Talk, text: str) -> None:
    talk.box.focus()
    talk.page.keyboard.type(text)


def test_a_begun_name_is_offered_and_taken_by_tab(talk: Talk, llm: FakeLLM) -> None:
    begin(talk, "Ask @re")
    expect(offers(talk)).to_have_count(1)
    expect(offers(talk)).to_contain_text("Researcher")
    expect(talk.box).to_have_attribute("aria-activedescendant", "call-researcher")
    expect(talk.box).to_be_focused()
    talk.page.keyboard.press("Tab")
    expect(talk.box).to_have_value("Ask @Researcher ")
    expect(offers(talk)).to_have_count(0)
    llm.script(say("Sixty."), member="Researcher")
    talk.page.keyboard.type("how many")
    talk.page.keyboard.press("Enter")
    expect(talk.answer).to_have_attribute("data-member", "researcher")
    expect(talk.articles("user")).to_contain_text("To Researcher")


def test_arrows_go_round_and_enter_takes_without_sending(talk: Talk) -> None:
    begin(talk, "@")
    expect(offers(talk).first).to_have_attribute("aria-selected", "true")
    expect(offers(talk).first).to_contain_text("Commander")
    talk.page.keyboard.press("ArrowUp")
    expect(offers(talk).last).to_have_attribute("aria-selected", "true")
    talk.page.keyboard.press("ArrowDown")
    talk.page.keyboard.press("ArrowDown")
    talk.page.keyboard.press("Enter")
    expect(talk.box).to_have_value("@Researcher ")
    expect(talk.articles("user")).to_have_count(0)


def test_escape_closes_the_list_and_nothing_else_until_another_name_is_begun(talk: Talk) -> None:
    begin(talk, "@co")
    expect(offers(talk)).to_have_count(2)
    talk.page.keyboard.press("Escape")
    expect(offers(talk)).to_have_count(0)
    expect(talk.box).to_have_value("@co")
    expect(talk.box).to_be_focused()
    talk.page.keyboard.type("d")
    expect(offers(talk)).to_have_count(0)
    talk.page.keyboard.type(" and @t")
    expect(offers(talk)).to_have_count(1)


@pytest.mark.parametrize(
    "text", ["mail me@re", "@@", "@nobody", "@Researcher", "@Coder please", "no name", "@re\n"]
)
def test_what_calls_nobody_or_is_written_out_offers_nothing(talk: Talk, text: str) -> None:
    talk.box.fill(text)
    expect(offers(talk)).to_have_count(0)


def test_a_name_that_is_written_out_is_sent_by_enter(talk: Talk, llm: FakeLLM) -> None:
    llm.script(say("Here."), member="Coder")
    begin(talk, "@Coder")
    talk.page.keyboard.press("Enter")
    talk.expect_answer("Here.")
    expect(talk.answer).to_have_attribute("data-member", "coder")


def test_a_click_takes_a_name_and_the_box_keeps_the_focus(talk: Talk) -> None:
    begin(talk, "@w")
    offers(talk).filter(has_text="Writer").click()
    expect(talk.box).to_have_value("@Writer ")
    expect(talk.box).to_be_focused()


def test_a_name_of_several_words_is_found_by_any_of_them(served: Server, talk: Talk) -> None:
    served.post("/agents", name="Harbour Pilot", description="Knows the way in", prompt="You pilot.")
    talk.again()
    begin(talk, "@pil")
    expect(offers(talk)).to_have_text(["Harbour PilotKnows the way in"])
    talk.page.keyboard.press("Escape")
    talk.box.fill("")
    begin(talk, "Hi @harbour p")
    expect(offers(talk)).to_have_count(1)
    talk.page.keyboard.press("Enter")
    expect(talk.box).to_have_value("Hi @Harbour Pilot ")
    served.post("/agents/harbour-pilot/remove")


def test_a_name_that_is_being_composed_is_left_to_the_input_method(talk: Talk) -> None:
    begin(talk, "@co")
    client = talk.page.context.new_cdp_session(talk.page)
    client.send("Input.imeSetComposition", {"text": "こ", "selectionStart": 1, "selectionEnd": 1})
    client.send(
        "Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Enter", "windowsVirtualKeyCode": 229}
    )
    expect(talk.box).to_have_value("@coこ")
    expect(talk.articles("user")).to_have_count(0)


def test_without_script_a_name_is_plain_text(
    served: Server, conversation: str, new_context: NewContext, llm: FakeLLM
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(conversation)
    talk = Talk(page, conversation)
    expect(page.locator("#complete")).to_be_hidden()
    llm.script(say("Here."), member="Coder")
    talk.box.fill("@Coder come")
    talk.button("Send").click()
    expect(talk.articles("user")).to_contain_text("To Coder")
