"""Conversations in the rail: made, named, deleted with a question and a way back, long ones shown piece by piece."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail, hold, say

LONG = 250


@pytest.fixture
def named(talk: Talk, llm: FakeLLM) -> Talk:
    """A conversation with an answer, and so with a title."""
    talk.say("A thing to delete")
    talk.expect_answer("You said: A thing to delete.")
    return talk


def in_rail(talk: Talk, page: Page | None = None) -> Locator:
    """The line of this conversation in the list, on its own page or on another."""
    navigation = (page or talk.page).get_by_role("navigation", name="Conversations")
    return navigation.locator(f"a[href='{talk.path}']")


def menu(talk: Talk, item: str) -> None:
    talk.button("Conversation menu").click()
    talk.page.locator("#conversation-menu").get_by_role("button", name=item, exact=True).click()


def confirm(talk: Talk) -> Locator:
    return talk.page.get_by_role("dialog", name="Delete “A thing to delete”?")


def test_the_first_message_names_a_conversation(named: Talk) -> None:
    expect(named.page.get_by_role("heading", level=1)).to_have_text("A thing to delete")
    expect(in_rail(named)).to_have_text("A thing to delete")
    expect(in_rail(named)).to_have_attribute("aria-current", "page")
    expect(named.page).to_have_title("A thing to delete · Plancia")


def test_a_new_conversation_is_one_click_away(named: Talk) -> None:
    named.button("New conversation").click()
    expect(named.page).not_to_have_url(named.address)
    expect(named.page.get_by_role("heading", name="What shall we work on?")).to_be_visible()
    expect(named.box).to_be_focused()
    in_rail(named).click()
    named.expect_answer("You said: A thing to delete.")


def test_a_conversation_is_renamed_in_place(named: Talk) -> None:
    menu(named, "Rename")
    field = named.page.get_by_label("Title")
    expect(field).to_be_focused()
    expect(field).to_have_value("A thing to delete")
    field.fill("<b>Plans</b> & ‮more")
    field.press("Enter")
    expect(field).to_be_hidden()
    expect(named.page.get_by_role("heading", level=1)).to_contain_text("<b>Plans</b> & ")
    expect(in_rail(named)).to_contain_text("<b>Plans</b> & ")
    shown = named.shown()
    named.again().expect_shows(shown)


def test_escape_and_cancel_delete_nothing(named: Talk) -> None:
    menu(named, "Delete")
    expect(confirm(named)).to_be_visible()
    expect(confirm(named).get_by_role("button", name="Cancel")).to_be_focused()
    named.page.keyboard.press("Escape")
    expect(confirm(named)).to_be_hidden()
    menu(named, "Delete")
    confirm(named).get_by_role("button", name="Cancel").click()
    expect(confirm(named)).to_be_hidden()
    named.again()
    named.expect_answer("You said: A thing to delete.")


def test_what_was_deleted_comes_back_by_undo(named: Talk) -> None:
    menu(named, "Delete")
    confirm(named).get_by_role("button", name="Delete", exact=True).click()
    toast = named.page.get_by_role("status").filter(has=named.page.get_by_role("button", name="Undo"))
    expect(toast).to_be_visible()
    expect(toast).to_contain_text("A thing to delete")
    expect(in_rail(named)).to_have_count(0)
    toast.get_by_role("button", name="Undo").click()
    named.expect_answer("You said: A thing to delete.")
    expect(in_rail(named)).to_have_text("A thing to delete")


def test_deleting_stops_what_runs_and_tells_the_other_tab(talk: Talk, second: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Still ", "running"), 1))
    talk.say("A thing to delete")
    llm.wait_held()
    expect(talk.answer).to_contain_text("Still")
    second.opened()
    menu(talk, "Delete")
    confirm(talk).get_by_role("button", name="Delete", exact=True).click()
    expect(talk.button("Undo")).to_be_visible()
    assert llm.wait_ended(0)["ended"] in {"left", "reset"}
    expect(in_rail(talk, second.page)).to_have_count(0)


def test_the_list_says_in_every_tab_what_runs_and_what_failed(
    talk: Talk, llm: FakeLLM, served: Server, new_context: NewContext
) -> None:
    watcher = Talk(new_context().new_page(), served.new_conversation()).opened()
    llm.script(hold(say("On ", "and off"), 1), fail(400, "This cannot be."))
    talk.say("Run, then fail")
    llm.wait_held()
    line = in_rail(talk, watcher.page)
    expect(line.get_by_role("img", name="running")).to_be_visible()
    llm.release()
    expect(line.get_by_role("img")).to_have_count(0)
    talk.expect_answer("On and off")
    talk.say("Now fail")
    expect(line.get_by_role("img", name="failed")).to_be_visible()


def test_the_model_of_a_conversation_is_chosen_in_the_message_box(talk: Talk, llm: FakeLLM) -> None:
    picker = talk.page.get_by_role("combobox", name="Model")
    expect(picker.locator("option:checked")).to_have_text("Model order: openai/fake-model")
    with talk.page.expect_response("**/model") as chosen:
        picker.select_option(index=1)
    assert chosen.value.ok
    name = picker.locator("option:checked").inner_text()
    talk.again()
    expect(picker.locator("option:checked")).to_have_text(name)
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    assert f"openai/{llm.bodies()[0]['model']}" == name != "openai/fake-model"


def test_earlier_entries_of_a_long_conversation_come_on_request(served: Server, page: Page) -> None:
    talk = Talk(page, served.old_conversation([f"entry {number}" for number in range(LONG)])).opened()
    expect(talk.log.get_by_role("article")).to_have_count(100)
    expect(talk.log.get_by_text("entry 249", exact=True)).to_be_in_viewport()
    for shown, more in ((100, 150), (200, 50)):
        expect(talk.log.get_by_role("article")).to_have_count(shown)
        top = talk.log.get_by_role("article").first
        link = talk.log.get_by_role("link", name=f"Show {more} earlier entries")
        link.scroll_into_view_if_needed()
        before = top.bounding_box()
        name = top.get_attribute("id")
        link.click()
        expect(talk.log.get_by_role("article")).to_have_count(min(shown + 100, LONG))
        after = talk.log.locator(f"[id='{name}']").bounding_box()
        assert before is not None
        assert after is not None
        assert abs(after["y"] - before["y"]) <= 1
    texts = talk.log.locator("article [data-part=text]").all_inner_texts()
    assert texts == [f"entry {number}" for number in range(LONG)]
    expect(talk.log.locator(".day")).to_have_count(1)
