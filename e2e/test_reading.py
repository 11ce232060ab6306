"""What a reader does with an answer: copy it, open what is folded, read it on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from e2e.conftest import NewContext
from e2e.states import PHONE
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

CODE = "for step in plan:\n    step.run()\n"


@pytest.fixture
def talk(conversation: str, new_context: NewContext) -> Talk:
    """In a browser that lets pages use the clipboard."""
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    return Talk(context.new_page(), conversation).opened()


def copied(talk: Talk) -> str:
    text: str = talk.page.evaluate("() => navigator.clipboard.readText()")
    return text


def test_an_answer_and_its_code_are_copied(talk: Talk, llm: FakeLLM) -> None:
    llm.script(say(f"Run **this**:\n\n```python\n{CODE}```\n"))
    talk.say("How?")
    talk.expect_state("done")
    talk.answer.hover()
    talk.button("Copy code").click()
    expect(talk.answer.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(talk) == CODE
    talk.button("Copy answer").click()
    expect(talk.answer.get_by_role("button", name="Copied")).to_have_count(2)
    assert "Run this:" in copied(talk)
    assert "step.run()" in copied(talk)


def test_a_tool_opens_to_what_it_was_given_and_what_it_said(talk: Talk, llm: FakeLLM) -> None:
    llm.script(say(calls=[call("list_files", {"path": "nowhere <b>"})]), say("Not there."))
    talk.say("Look.")
    talk.expect_answer("Not there.")
    tool = talk.articles("tool_call")
    expect(tool.locator("[data-part=output]")).to_be_hidden()
    tool.locator("summary").click()
    expect(tool.get_by_text("nowhere <b>", exact=True).last).to_be_visible()
    expect(tool.locator("[data-part=output]")).to_contain_text("E_")


def test_links_of_a_model_open_apart_and_pictures_are_not_fetched(talk: Talk, llm: FakeLLM) -> None:
    llm.script(
        say(
            "[a link](https://example.org/x) [bad](javascript:alert(1)) ![spy](https://example.org/p.png)"
            ' <img src="https://example.org/q.png" onerror="alert(1)"> <script>alert(1)</script>'
        )
    )
    talk.say("Links?")
    talk.expect_state("done")
    link = talk.answer.get_by_role("link", name="a link")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(talk.answer.locator("img, script, [onerror], [href^='javascript']")).to_have_count(0)


def test_on_a_phone_the_lists_are_drawers(conversation: str, new_context: NewContext, llm: FakeLLM) -> None:
    page = new_context(has_touch=True, is_mobile=True).new_page()
    page.set_viewport_size(PHONE)
    talk = Talk(page, conversation).opened()
    conversations = talk.page.get_by_role("navigation", name="Conversations")
    expect(conversations).to_be_hidden()
    expect(talk.page.get_by_role("complementary", name="Details")).to_be_hidden()
    talk.box.fill("From a phone")
    talk.button("Send").tap()
    talk.expect_answer("You said: From a phone.")
    talk.button("Open conversations").tap()
    expect(conversations.get_by_role("link", name="From a phone").first).to_be_visible()
    talk.button("Close conversations").tap()
    expect(conversations).to_be_hidden()
    talk.button("Open details").tap()
    talk.page.get_by_role("tab", name="Usage").tap()
    expect(talk.page.get_by_role("cell", name="openai/fake-model")).to_be_visible()
    talk.button("Close details").tap()
    expect(talk.page.get_by_role("complementary", name="Details")).to_be_hidden()
