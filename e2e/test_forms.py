"""Forms: filled in by keys, kept while they are not sent, answered with and without script, and after a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import FilePayload, Locator, Page, expect

from e2e.conftest import NewContext, with_model
from e2e.server import Server
from e2e.states import FORM
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say


def asks(llm: FakeLLM, *fields: dict[str, Any]) -> None:
    given = {"title": FORM["title"], "fields": fields} if fields else FORM
    llm.script(say("Some choices are yours.", calls=[call("ask_user", given)]), say("Thank you."))


def form_of(page: Page) -> Locator:
    return page.get_by_role("form", name="Choices for the November report")


def told(llm: FakeLLM) -> dict[str, Any]:
    """The answers as the model got them."""
    text = llm.bodies()[-1]["messages"][-1]["content"]
    answers: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return answers


def test_a_form_is_filled_in_by_keys_alone_and_the_model_gets_the_answers(talk: Talk, llm: FakeLLM) -> None:
    asks(llm)
    talk.say("Write the report.")
    expect(talk.articles("form")).to_have_attribute("data-wait", "user")
    expect(talk.page.locator("#floor")).to_contain_text("Commander is waiting for your answers")
    expect(talk.page.locator("#sr-status")).to_have_text("Commander needs your answers.")
    expect(talk.page).to_have_title("(1) Write the report. · Plancia")
    keys = talk.page.keyboard
    talk.page.keyboard.press("Alt+A")
    expect(form_of(talk.page).get_by_label("Title")).to_be_focused()
    talk.box.focus()
    talk.button("1 waiting for you").click()
    expect(form_of(talk.page).get_by_label("Title")).to_be_focused()
    for key in ("Tab", "ArrowDown", "Tab", "Tab", "Space", "Tab", "Tab", "Tab"):
        keys.press(key)
    keys.type("10")
    for _ in ("a path", "a file", "a note"):
        keys.press("Tab")
    keys.type("The crane stood still.")
    keys.press("Tab")
    keys.press("Space")
    keys.press("Tab")
    expect(form_of(talk.page).get_by_role("button", name="Send answers")).to_be_focused()
    keys.press("Enter")
    talk.expect_answer("Thank you.")
    expect(talk.articles("form")).to_have_attribute("data-answer", "sent")
    expect(talk.articles("form")).to_contain_text("You answered")
    expect(talk.articles("form").locator("time").last).to_be_visible()
    expect(talk.page).to_have_title("Write the report. · Plancia")
    expect(talk.page.locator("#waiting-button")).to_be_hidden()
    assert told(llm) == {
        "title": "Harbour traffic",
        "reader": "Harbour office",
        "berths": ["Molo Vecchio", "Darsena Sud"],
        "step": 10,
        "before": None,
        "note": "The crane stood still.",
        "charts": False,
    }


def test_a_wrong_answer_is_named_beside_its_field_and_gone_to(talk: Talk, llm: FakeLLM, watch: Watch) -> None:
    watch.allow("status of 422")
    asks(llm)
    talk.say("Write the report.")
    form = form_of(talk.page)
    form.get_by_label("Anything that must be mentioned").fill("Two\nlines")
    form.get_by_label("Molo Vecchio").uncheck()
    form.get_by_label("Round tonnage to").fill("ten")
    form.get_by_role("button", name="Send answers").click()
    expect(form.get_by_role("alert")).to_contain_text("Look again at: Berths to include, Round tonnage to.")
    expect(form.get_by_label("Molo Vecchio")).to_be_focused()
    step = form.get_by_label("Round tonnage to")
    expect(step).to_have_attribute("aria-invalid", "true")
    expect(step).to_have_accessible_description("Type a number, such as 12 or 1.5. Tonnes. Last month: 10.")
    expect(step).to_have_value("ten")
    expect(form.get_by_label("Anything that must be mentioned")).to_have_value("Two\nlines")
    expect(talk.page.locator("#toast")).to_be_hidden()
    form.get_by_label("Darsena Sud").check()
    step.fill("1.5")
    form.get_by_role("button", name="Send answers").click()
    talk.expect_answer("Thank you.")
    assert told(llm)["step"] == 1.5
    assert told(llm)["berths"] == ["Darsena Sud"]


def test_a_file_has_to_be_one_that_can_be_read(
    talk: Talk, llm: FakeLLM, served: Server, watch: Watch
) -> None:
    watch.allow("status of 422")
    (served.workspace / "november.txt").write_text("Traffic")
    asks(llm, {"id": "before", "type": "file", "label": "Last report", "required": True})
    talk.say("Write the report.")
    box = form_of(talk.page).get_by_label("Last report")
    for path, why in (
        ("", "Name a file."),
        ("october.txt", "There is no such file."),
        (".", "This is no file."),
        ("/etc/passwd", "outside"),
    ):
        box.fill(path)
        box.press("Enter")
        expect(form_of(talk.page).locator(".field .err")).to_contain_text(why)
    box.fill("november.txt")
    box.press("Enter")
    talk.expect_answer("Thank you.")
    assert told(llm) == {"before": "november.txt"}


def test_a_file_is_chosen_and_sent_with_the_form(talk: Talk, llm: FakeLLM, watch: Watch) -> None:
    watch.allow("status of 422")
    asks(llm, {"id": "before", "type": "file", "label": "Last report", "required": True})
    talk.say("Write the report.")
    form, kind = form_of(talk.page), "text/plain"
    for name, words in (("empty.txt", ""), ("november.txt", "Traffic")):
        file: FilePayload = {"name": name, "mimeType": kind, "buffer": words.encode()}
        form.get_by_label("Or choose a file").set_input_files(file)
        form.get_by_role("button", name="Send answers").click()
        if not words:
            expect(form.locator(".field .err")).to_contain_text("empty.txt is empty")
    talk.expect_answer("Thank you.")
    assert Path(str(told(llm)["before"])).read_text() == "Traffic"
    expect(talk.articles("form").get_by_role("definition")).to_have_text("november.txt")


def test_a_half_filled_form_is_kept_over_a_reload_and_let_go_when_it_is_sent(
    talk: Talk, llm: FakeLLM
) -> None:
    asks(llm)
    talk.say("Write the report.")
    form = form_of(talk.page)
    form.get_by_label("Title").fill("Half")
    form.get_by_label("Written for").select_option("Press")
    form.get_by_label("Fuel pier").check()
    form.get_by_label("A chart for each berth").uncheck()
    expect(form.get_by_text("Draft kept in this browser.")).to_be_visible()
    talk.again()
    expect(form.get_by_label("Title")).to_have_value("Half")
    expect(form.get_by_label("Written for")).to_have_value("Press")
    expect(form.get_by_label("Fuel pier")).to_be_checked()
    expect(form.get_by_label("A chart for each berth")).not_to_be_checked()
    form.get_by_label("Round tonnage to").fill("1")
    form.get_by_role("button", name="Send answers").click()
    talk.expect_answer("Thank you.")
    assert told(llm)["title"] == "Half"
    assert (
        talk.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('plancia.form.'))") == []
    )


def test_a_form_is_declined_and_the_model_is_told(talk: Talk, llm: FakeLLM) -> None:
    asks(llm)
    talk.say("Write the report.")
    form_of(talk.page).get_by_role("button", name="Decline").click()
    talk.expect_answer("Thank you.")
    expect(talk.articles("form")).to_have_attribute("data-answer", "declined")
    assert "declined to answer" in str(llm.bodies()[-1]["messages"][-1])


def test_stop_ends_a_form(talk: Talk, llm: FakeLLM) -> None:
    asks(llm)
    talk.say("Write the report.")
    expect(form_of(talk.page)).to_be_visible()
    talk.button("Stop").click()
    expect(talk.articles("form")).to_have_attribute("data-answer", "stale")
    expect(talk.articles("form")).to_contain_text("This form has already ended, nothing was sent.")


def test_without_script_it_is_a_form_all_the_same(
    conversation: str, llm: FakeLLM, new_context: NewContext, watch: Watch
) -> None:
    watch.allow("status of 422")
    plain = Talk(new_context(java_script_enabled=False).new_page(), conversation).opened()
    asks(llm)
    plain.box.fill("Write the report.")
    with plain.page.expect_navigation():
        plain.button("Send").click()
    plain.again()
    form = form_of(plain.page)
    expect(plain.page.locator("noscript meta")).to_have_count(0)
    form.get_by_label("Title").fill("Mine")
    form.get_by_role("button", name="Send answers").click()
    expect(form.get_by_label("Round tonnage to")).to_be_focused()
    expect(form.get_by_label("Title")).to_have_value("Mine")
    form.get_by_label("Round tonnage to").fill("10")
    form.get_by_role("button", name="Send answers").click()
    plain.expect_answer("Thank you.")
    assert told(llm)["title"] == "Mine"


def test_a_form_survives_the_server_and_its_answer_alone_makes_the_member_go_on(
    server: Server, llm: FakeLLM, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    server.settings = with_model(llm)
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    asks(llm)
    talk.say("Write the report.")
    expect(form_of(page)).to_be_visible()
    server.stop()
    server.start_again()
    expect(talk.button("Continue")).to_be_visible()
    llm.script(say("Thank you."))
    form_of(page).get_by_label("Round tonnage to").fill("10")
    form_of(page).get_by_role("button", name="Send answers").click()
    talk.expect_answer("Thank you.")
    expect(talk.button("Continue")).to_have_count(0)


def test_a_form_that_is_half_filled_survives_the_server_and_continue(
    server: Server, llm: FakeLLM, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    server.settings = with_model(llm)
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    asks(llm)
    talk.say("Write the report.")
    form_of(page).get_by_label("Title").fill("Kept")
    server.kill()
    server.start_again()
    expect(talk.articles("notice")).to_contain_text("interrupted")
    expect(form_of(page).get_by_label("Title")).to_have_value("Kept")
    form_of(page).get_by_label("Fuel pier").check()
    asked = len(llm.bodies())
    talk.button("Continue").click()
    expect(page.locator("#floor")).to_contain_text("Commander is waiting for your answers")
    expect(form_of(page).get_by_label("Title")).to_have_value("Kept")
    expect(form_of(page).get_by_label("Fuel pier")).to_be_checked()
    assert len(llm.bodies()) == asked
    llm.script(say("Thank you."))
    form_of(page).get_by_label("Round tonnage to").fill("10")
    form_of(page).get_by_role("button", name="Send answers").click()
    talk.expect_answer("Thank you.")
    assert told(llm)["title"] == "Kept"
    expect(talk.button("Continue")).to_have_count(0)
