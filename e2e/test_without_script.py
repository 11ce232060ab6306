"""Without script the page is a plain site of forms: send, see, stop, queue, undo."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say


@pytest.fixture
def plain(conversation: str, new_context: NewContext) -> Talk:
    context = new_context(java_script_enabled=False)
    return Talk(context.new_page(), conversation).opened()


def send(talk: Talk, text: str, button: str = "Send") -> None:
    """Returns when the page that the form leads to is loaded: a page on its way cannot be loaded anew."""
    talk.box.fill(text)
    with talk.page.expect_navigation():
        talk.button(button).click()


def test_a_message_is_sent_and_its_answer_is_there_after_a_reload(plain: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("An answer", " in two parts."), 1))
    send(plain, "Hello")
    llm.wait_held()
    plain.again()
    expect(plain.articles("user")).to_contain_text("Hello")
    expect(plain.answer).to_contain_text("An answer")
    expect(plain.page.locator("meta[http-equiv=refresh]")).to_have_count(1)
    llm.release()
    plain.expect_answer("An answer in two parts.")
    expect(plain.page.locator("meta[http-equiv=refresh]")).to_have_count(0)


def test_what_runs_is_stopped_and_what_waits_is_seen(plain: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Begun ", "and never ended."), 1))
    send(plain, "Begin.")
    llm.wait_held()
    plain.again()
    send(plain, "Then this", button="Queue")
    expect(plain.queue).to_contain_text("Then this")
    plain.button("Stop").click()
    expect(plain.button("Send")).to_be_visible()
    expect(plain.articles("notice")).to_contain_text("Stopped by you")
    plain.button("Delete message 1").click()
    expect(plain.queue).to_have_count(0)


def test_tabs_menus_and_deleting_work_by_links_and_forms(plain: Talk, llm: FakeLLM) -> None:
    llm.script(say("Hello."))
    send(plain, "Hello")
    expect(plain.button("Conversation menu")).to_be_visible()
    plain.page.get_by_role("tab", name="Usage").click()
    expect(plain.page.get_by_role("tabpanel", name="Usage")).to_be_visible()
    plain.button("Conversation menu").click()
    plain.page.locator("#conversation-menu").get_by_role("button", name="Delete").click()
    plain.button("Undo").click()
    expect(plain.articles("user")).to_contain_text("Hello")


def test_an_example_fills_the_box(plain: Talk) -> None:
    plain.page.get_by_role("link", name="Show me around").click()
    expect(plain.box).to_have_value(re.compile("^Show me around"))


def test_a_source_is_tested_saved_and_edited(server: Server, llm: FakeLLM, new_context: NewContext) -> None:
    llm.knows(models=["big", "small"], keys=["sk-without-script"])
    page = new_context(java_script_enabled=False).new_page()
    page.goto(server.start())
    page.get_by_text("Use another key or address").click()
    form = page.get_by_role("form", name="Add a source")
    form.get_by_label("Name").fill("lab")
    form.get_by_label("Address").fill(llm.base_url)
    form.get_by_label("Key").first.fill("sk-without-script")
    form.get_by_role("button", name="Test").click()
    expect(form.get_by_role("status")).to_contain_text("2 models")
    expect(page).to_have_url(f"{server.url}/welcome")
    expect(form.get_by_label("Key").first).to_have_accessible_description(re.compile("waits for ten minutes"))
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("lab/big is set up.")).to_be_visible()
    page.goto(f"{server.url}/settings/models")
    page.get_by_role("link", name="Edit lab").click()
    form = page.get_by_role("form", name="Edit lab")
    form.get_by_label("Models").fill("small")
    form.get_by_role("button", name="Test").click()
    expect(form.get_by_role("status")).to_contain_text("2 models")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("list", name="Keys of lab").get_by_text("key 1", exact=True)).to_be_visible()
    expect(page.locator("#source-1")).to_contain_text("small")


def test_earlier_entries_are_pages_of_their_own(served: Server, new_context: NewContext) -> None:
    address = served.old_conversation([f"Message {number}." for number in range(1, 111)])
    talk = Talk(new_context(java_script_enabled=False).new_page(), address).opened()
    talk.page.get_by_role("link", name="Show 10 earlier entries").click()
    expect(talk.page.get_by_role("heading", level=1)).to_be_visible()
    articles = talk.page.get_by_role("region", name="Earlier entries").get_by_role("article")
    expect(articles).to_have_count(10)
    expect(articles.first).to_contain_text("Message 1.")
    talk.page.get_by_role("link", name="Latest").click()
    expect(talk.articles("user").last).to_contain_text("Message 110.")
