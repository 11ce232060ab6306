"""Plans as a user sees them: set, worked off beside the chat, answered, changed, stopped and continued, by keys too."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from e2e.conftest import NewContext, with_model
from e2e.server import Server
from e2e.states import PHONE
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, fail, hold, say


def sets(llm: FakeLLM, *steps: dict[str, Any]) -> None:
    given = [{"index": index, "title": f"Part {index}", **step} for index, step in enumerate(steps, 1)]
    llm.script(say("It is a plan.", calls=[call("set_plan", {"steps": given})]), member="Commander")


def board(page: Page) -> Locator:
    panel = page.get_by_role("complementary", name="Details")
    panel.get_by_role("tab", name="Plan").click()
    return panel.get_by_role("tabpanel", name="Plan")


def expect_steps(page: Page, *statuses: str) -> None:
    for index, status in enumerate(statuses, 1):
        expect(page.locator(f"#step-{index}")).to_have_attribute("data-status", status)


def test_a_plan_is_worked_off_beside_the_chat_and_hands_results_on(talk: Talk, llm: FakeLLM) -> None:
    sets(
        llm,
        {"assignee": "coder", "input": "Count."},
        {"assignee": "writer", "input": "About {{step_1.output_summary}}"},
    )
    llm.script(hold(say("Two ", "files."), 1), member="Coder")
    llm.script(say("A text."), member="Writer")
    talk.say("Report on the files.")
    expect(board(talk.page).get_by_role("heading", name="Plan")).to_be_visible()
    llm.wait_held()
    expect_steps(talk.page, "in_progress", "pending")
    llm.release()
    expect_steps(talk.page, "done", "done")
    expect(talk.articles("plan")).to_contain_text("2 done")
    expect(talk.articles("dispatch").last).to_contain_text("About Two files.")
    expect(board(talk.page)).to_contain_text("2 of 2 done")
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_step_of_the_user_is_a_form_and_its_answer_is_handed_on(talk: Talk, llm: FakeLLM) -> None:
    sets(
        llm,
        {"assignee": "user", "input": "Which colour?"},
        {"assignee": "writer", "input": "In {{step_1.output_summary}}"},
    )
    llm.script(say("It is red."), member="Writer")
    talk.say("Paint it.")
    expect_steps(talk.page, "blocked", "pending")
    expect(talk.articles("form")).to_have_attribute("data-wait", "user")
    board(talk.page).get_by_role("link", name="Answer").click()
    talk.page.get_by_label("Which colour?").fill("Red.")
    talk.button("Send answers").click()
    expect_steps(talk.page, "done", "done")
    expect(talk.articles("dispatch")).to_contain_text("In Red.")


def test_a_board_is_used_by_keys_alone(talk: Talk, llm: FakeLLM) -> None:
    sets(
        llm,
        {"assignee": "coder", "on_failure": "abort_plan"},
        {"assignee": "writer"},
        {"assignee": "writer", "input": "Old."},
    )
    llm.script(fail(400, "This request is not valid."), member="Coder")
    llm.script(say("Three."), member="Writer")
    talk.say("Go.")
    board(talk.page)
    expect_steps(talk.page, "failed", "skipped", "skipped")
    keys = talk.page.keyboard
    llm.script(hold(say("On", "e."), 1), member="Coder")
    talk.button("Retry step 1").focus()
    keys.press("Enter")
    llm.wait_held()
    talk.button("Skip step 2").focus()
    keys.press("Enter")
    expect_steps(talk.page, "in_progress", "skipped", "pending")
    edit = talk.page.locator("#step-3-edit > summary")
    edit.focus()
    keys.press("Enter")
    keys.press("Tab")
    expect(talk.page.get_by_role("form", name="Edit step 3").get_by_label("Title")).to_be_focused()
    keys.press("Control+A")
    keys.type("The last part")
    for _ in range(4):
        keys.press("Tab")
    keys.press("Control+A")
    keys.type("New.")
    keys.press("Tab")
    expect(talk.button("Save step 3")).to_be_focused()
    keys.press("Enter")
    expect(talk.page.locator("#step-3 .title")).to_contain_text("The last part")
    expect(talk.page.get_by_role("form", name="Edit step 3")).to_be_hidden()
    expect(edit).to_be_focused()
    llm.release()
    expect_steps(talk.page, "done", "skipped", "done")
    expect(talk.articles("dispatch").last).to_contain_text("New.")


def test_what_is_typed_into_a_step_stays_while_others_end(talk: Talk, llm: FakeLLM) -> None:
    sets(llm, {"assignee": "coder"}, {"assignee": "writer"}, {"assignee": "writer"})
    llm.script(hold(say("On", "e."), 1), member="Coder")
    llm.script(hold(say("Tw", "o."), 1), say("Three."), member="Writer")
    talk.say("Go.")
    board(talk.page)
    llm.wait_held()
    talk.page.locator("#step-3-edit > summary").click()
    form = talk.page.get_by_role("form", name="Edit step 3")
    form.get_by_label("Input").fill("Half a thou")
    llm.release()
    expect_steps(talk.page, "done", "in_progress", "pending")
    expect(form.get_by_label("Input")).to_have_value("Half a thou")
    llm.wait_held()
    llm.release()
    expect_steps(talk.page, "done", "done", "done")
    expect(form).to_be_hidden()


def test_more_steps_are_done_at_the_same_time_once_the_board_says_so(talk: Talk, llm: FakeLLM) -> None:
    sets(llm, {"assignee": "coder", "wait_for": []}, {"assignee": "writer", "wait_for": []})
    llm.script(hold(say("On", "e."), 1, "first"), member="Coder")
    llm.script(hold(say("Tw", "o."), 1, "second"), member="Writer")
    talk.say("Go.")
    llm.wait_held("first")
    board(talk.page).get_by_label("Steps at the same time").select_option("2")
    llm.wait_held("second")
    expect_steps(talk.page, "in_progress", "in_progress")
    llm.release("first")
    llm.release("second")
    expect_steps(talk.page, "done", "done")


def test_a_plan_is_stopped_and_continued_and_one_that_a_crash_cut_off_goes_on(
    server: Server, llm: FakeLLM, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    server.settings = with_model(llm)
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    sets(llm, {"assignee": "coder"}, {"assignee": "writer"})
    llm.script(hold(say("On", "e."), 1, "first"), hold(say("On", "e."), 1, "second"), member="Coder")
    talk.say("Go.")
    board(page)
    llm.wait_held("first")
    talk.button("Stop the plan").click()
    expect_steps(page, "pending", "pending")
    board(page).get_by_role("button", name="Continue").click()
    llm.wait_held("second")
    expect_steps(page, "in_progress", "pending")
    server.kill()
    server.start_again()
    expect(board(page)).to_contain_text("It goes on from there.")
    expect_steps(page, "in_progress", "pending")
    expect(talk.articles("plan")).to_contain_text("1 cut off")
    llm.script(say("One."), member="Coder")
    llm.script(say("Two."), member="Writer")
    board(page).get_by_role("button", name="Continue").click()
    expect_steps(page, "done", "done")


def test_the_board_is_there_without_script(conversation: str, llm: FakeLLM, new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.set_viewport_size(PHONE)
    sets(llm, {"assignee": "coder", "on_failure": "abort_plan"})
    llm.script(fail(400, "This request is not valid."), say("One."), member="Coder")
    page.goto(conversation)
    page.get_by_role("textbox", name="Message").fill("Go.")
    page.get_by_role("button", name="Send").click()
    board_address = f"{conversation}&tab=plan" if "?" in conversation else f"{conversation}?tab=plan"
    retry = page.get_by_role("button", name="Retry step 1")
    for _ in range(50):
        page.goto(board_address)
        if retry.count():
            break
    page.get_by_role("button", name="Open details").click()
    retry.click()
    for _ in range(50):
        page.goto(board_address)
        if page.locator("#step-1[data-status=done]").count():
            break
    expect(page.locator("#step-1")).to_have_attribute("data-status", "done")


def test_a_plan_becomes_a_playbook_and_the_playbook_a_plan(talk: Talk, llm: FakeLLM) -> None:
    page = talk.page
    sets(llm, {"assignee": "coder", "input": "Count the {{things}}."})
    llm.script(say("Two."), say("Three."), member="Coder")
    talk.say("Go.")
    expect_steps(page, "done")
    board(page).get_by_text("Save as playbook").click()
    page.get_by_label("Name").fill("Count things")
    talk.button("Save playbook").click()
    expect(page.get_by_role("heading", name="Count things")).to_be_visible()
    talk.button("Add a step").press("Enter")
    expect(page.get_by_role("group", name="Step 2").get_by_label("Title")).to_be_focused()
    page.keyboard.type("Look at them")
    talk.button("Move step 2 up").press("Enter")
    expect(page.get_by_role("group", name="Step 1").get_by_label("Title")).to_have_value("Look at them")
    talk.button("Move step 1 down").press("Enter")
    talk.button("Remove step 2").press("Enter")
    page.get_by_label("Question").fill("Which things?")
    page.get_by_label("Title").first.press("Enter")
    page.get_by_label("Which things?").fill("boats")
    talk.button("Run").click()
    expect_steps(page, "done")
    expect(talk.articles("dispatch")).to_contain_text("Count the boats.")
    expect(talk.articles("user")).to_contain_text("Run the playbook “Count things”.")
