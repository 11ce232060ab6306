"""Several members in one conversation: at work at once, failing, stopped alone, taken up, handed the floor and back."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from e2e.conftest import with_model
from e2e.server import Server
from e2e.states import sends
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, fail, hold, say


def floor(talk: Talk) -> Locator:
    return talk.page.locator("#floor")


def task(page: Page, name: str) -> Locator:
    tasks = page.get_by_role("list", name="Given in this turn").get_by_role("listitem")
    return tasks.filter(has=page.get_by_role("link", name=name))


def test_three_at_once_one_fails_one_is_stopped_alone_and_a_reload_shows_the_same(
    talk: Talk, second: Talk, llm: FakeLLM
) -> None:
    sends(llm, say("Two parts are missing."))
    llm.script(hold(say("Sixty calls ", "a minute."), 1, "researcher"), member="Researcher")
    llm.script(fail(400, "This request is not valid."), member="Coder")
    llm.script(hold(say("The notes ", "are written."), 1, "writer"), member="Writer")
    talk.say("Find the limits, patch the client, write the notes.")
    for name in ("Researcher", "Writer"):
        expect(floor(talk)).to_contain_text(f"{name} is writing")
    expect(talk.articles("dispatch")).to_have_count(3)
    expect(talk.page.locator("#sr-status")).to_contain_text("are at work.")
    second.opened()
    talk.expect_same_as(second)
    expect(task(talk.page, "Write the notes")).to_contain_text("running")
    talk.button("Stop Writer").click()
    expect(task(talk.page, "Write the notes")).to_contain_text("stopped")
    expect(floor(talk)).to_contain_text("Researcher is writing")
    llm.release("researcher")
    talk.expect_answer("Two parts are missing.")
    expect(task(talk.page, "Find out")).to_contain_text("done")
    expect(talk.log.locator("article[data-member=researcher] [data-part=text]")).to_have_text(
        "Sixty calls a minute."
    )
    talk.expect_same_as(second)
    second.again()
    talk.expect_same_as(second)


def test_a_member_that_failed_is_tried_again_from_its_task(talk: Talk, llm: FakeLLM) -> None:
    job = [call("dispatch_to", {"to": "coder", "message": "Patch the client."})]
    llm.script(say("", calls=job), say("It failed."), member="Commander")
    llm.script(fail(400, "This request is not valid."), say("Patched."), member="Coder")
    talk.say("Patch it.")
    expect(task(talk.page, "Patch the client.")).to_contain_text("failed")
    expect(talk.button("Send")).to_be_visible()
    task(talk.page, "Patch the client.").get_by_text("What came of it").click()
    expect(task(talk.page, "Patch the client.")).to_contain_text("Coder did not finish it")
    talk.page.get_by_role("button", name="Retry: Patch the client.").click()
    talk.expect_answer("Patched.")
    expect(talk.articles("dispatch").last).to_contain_text("You asked Coder to try again: Patch the client.")
    task(talk.page, "Patch the client.").last.get_by_role("link").click()
    expect(talk.page.get_by_role("heading", name="What Coder heard, said and did")).to_be_visible()
    expect(talk.page.get_by_role("main")).to_contain_text("Patched.")


def test_a_guest_has_the_floor_over_five_messages_and_a_reload_until_it_hands_back(
    talk: Talk, llm: FakeLLM
) -> None:
    hand_off = [call("hand_off_to", {"to": "tutor", "message": "A lesson with exercises."})]
    llm.script(say("Tutor teaches that.", calls=hand_off), say("Welcome back."), member="Commander")
    llm.script(*(say(f"Step {number}.") for number in range(1, 6)), member="Tutor")
    back = [call("hand_back", {"reason": "The lesson is done."})]
    llm.script(say("Well done.", calls=back), member="Tutor")
    talk.say("Teach me.")
    talk.expect_answer("Step 1.")
    expect(talk.box).to_have_attribute("placeholder", "Message Tutor")
    for number in range(2, 6):
        talk.say(f"Answer {number}")
        talk.expect_answer(f"Step {number}.")
        expect(talk.answer).to_have_attribute("data-member", "tutor")
        if number == 3:
            talk.again()
            expect(talk.button("Take back the floor")).to_be_visible()
            expect(talk.box).to_have_attribute("placeholder", "Message Tutor")
    talk.say("I am done.")
    expect(talk.articles("dispatch").last).to_contain_text("Tutor handed the floor back to Commander")
    expect(talk.button("Take back the floor")).to_have_count(0)
    expect(talk.box).to_have_attribute("placeholder", "Message Commander")
    talk.say("Hello again")
    talk.expect_answer("Welcome back.")


def test_the_floor_is_taken_back_by_keys_and_what_is_typed_stays(talk: Talk, llm: FakeLLM) -> None:
    hand_off = [call("hand_off_to", {"to": "tutor", "message": "A lesson."})]
    llm.script(say("", calls=hand_off), say("Here I am."), member="Commander")
    llm.script(say("Step 1."), member="Tutor")
    talk.say("Teach me.")
    talk.expect_answer("Step 1.")
    talk.box.fill("Half a thought")
    talk.button("Take back the floor").focus()
    talk.page.keyboard.press("Enter")
    expect(talk.button("Take back the floor")).to_have_count(0)
    expect(talk.button("Take back")).to_have_count(0)
    expect(talk.box).to_have_value("Half a thought")
    talk.box.press("Enter")
    talk.expect_answer("Here I am.")


def test_what_a_crash_cut_off_is_named_and_taken_up_by_continue(
    llm: FakeLLM, server: Server, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    server.settings = with_model(llm)
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    job = [call("dispatch_to", {"to": "coder", "message": "Patch the client."})]
    llm.script(say("", calls=job), member="Commander")
    llm.script(hold(say("Half of ", "it."), 1), member="Coder")
    talk.say("Patch it.")
    llm.wait_held()
    expect(floor(talk)).to_contain_text("Coder is writing")
    server.kill()
    llm.reset()
    server.start_again()
    llm.script(say("Patched."), member="Coder")
    llm.script(say("All done."), member="Commander")
    expect(talk.articles("notice")).to_contain_text(
        "Continue takes up what was cut off with it: Coder (Patch the client.)."
    )
    expect(task(page, "Patch the client.")).to_contain_text("interrupted")
    talk.button("Continue").click()
    talk.expect_answer("All done.")
    expect(task(page, "Patch the client.")).to_contain_text("done")
    expect(talk.log.locator("article[data-member=coder] [data-part=text]").last).to_have_text("Patched.")


def test_the_list_of_tasks_is_worked_by_keys_alone(talk: Talk, llm: FakeLLM) -> None:
    sends(llm, say("All three."))
    for name in ("Researcher", "Coder", "Writer"):
        llm.script(hold(say("Wor", "ked."), 1, name), member=name)
    talk.say("Do all.")
    stop = talk.page.get_by_role("button", name="Stop Writer: Write the notes of the release.")
    stop.focus()
    talk.page.keyboard.press("Enter")
    expect(task(talk.page, "Write the notes")).to_contain_text("stopped")
    for name in ("Researcher", "Coder"):
        llm.release(name)
    talk.expect_answer("All three.")
    talk.page.get_by_text("As a table").focus()
    talk.page.keyboard.press("Enter")
    rows = talk.page.get_by_role("group", name="The timeline as a table").get_by_role("row")
    expect(rows).to_have_count(5)
