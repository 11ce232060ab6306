"""Long runs as the user sees them: the conversation is organised, the run goes in circles, meets a limit, goes on."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, fail, hold, say
from tests.fakes.pictures import png

SLOTS = ("Goal", "Done", "In progress", "Next action", "Decisions", "Files touched")
SUMMARY = "\n".join(f"## {slot}\nWhat belongs to {slot.lower()}." for slot in SLOTS)
TOO_LONG = fail(400, "This model's maximum context length is 128000 tokens.", code="context_length_exceeded")
PAGE = "The tide tables of this harbour, line by line. \n" * 300


def reads(*paths: str) -> list[Answer]:
    return [say("", calls=[call("read_file", {"path": path})]) for path in paths]


def fill(talk: Talk, llm: FakeLLM, served: Server, *, summary: Answer) -> None:
    """Four pages are read, then the model says that the conversation is too long for it."""
    paths = [f"page-{number}.txt" for number in range(4)]
    for path in paths:
        (served.workspace / path).write_text(f"{path}\n{PAGE}")
    llm.script(*reads(*paths), TOO_LONG, summary, say("High water is at noon."))
    talk.box.fill("Read all pages and say when high water is.")
    talk.button("Send").click()


def organised(talk: Talk) -> Locator:
    return talk.articles("notice").filter(
        has_text=re.compile(r"Conversation organised: [\d.]+k → [\d.]+k tokens")
    )


def test_an_organised_conversation_shows_what_was_left_out(talk: Talk, llm: FakeLLM, served: Server) -> None:
    fill(talk, llm, served, summary=hold(say(SUMMARY), 0))
    llm.wait_held()
    expect(talk.page.locator("#floor")).to_contain_text("Commander organises the conversation")
    llm.release()
    talk.expect_answer("High water is at noon.")
    line = organised(talk)
    expect(line).to_have_count(1)
    line.locator("summary").focus()
    talk.page.keyboard.press("Enter")
    expect(line.get_by_role("heading", name="What the model reads instead")).to_be_visible()
    expect(line).to_contain_text("What belongs to goal.")
    expect(line).to_contain_text("The chat itself keeps everything.")
    gone = line.get_by_role("list", name="What it does not see any more").get_by_role("listitem")
    expect(gone.filter(has_text="page-0.txt").first).to_be_visible()
    assert "belongs to goal" in str(llm.bodies()[-1]["messages"])
    llm.script(say("At noon, as I said."))
    talk.say("When?")
    talk.expect_answer("At noon, as I said.")
    expect(gone.first).to_be_visible()
    talk.again()
    expect(gone).to_have_count(0)
    line.locator("summary").click()
    expect(gone.first).to_be_visible()


def test_of_many_messages_the_next_ones_come_on_request_and_get_the_focus(
    talk: Talk, llm: FakeLLM, served: Server
) -> None:
    for number in range(40):
        (served.workspace / f"note-{number}.txt").write_text(f"Note {number}. " * 60)
    llm.script(*reads(*(f"note-{number}.txt" for number in range(40))), TOO_LONG, say(SUMMARY), say("Read."))
    talk.say("Read all notes.")
    talk.expect_answer("Read.")
    organised(talk).locator("summary").click()
    gone = organised(talk).get_by_role("list", name="What it does not see any more").get_by_role("listitem")
    expect(gone).to_have_count(51)
    gone.last.get_by_role("link", name=re.compile(r"^Show the next \d+ of \d+$")).press("Enter")
    expect(gone.nth(50)).to_be_focused()
    expect(organised(talk).get_by_role("link")).to_have_count(0)


def test_without_script_what_was_left_out_is_a_page(
    conversation: str, llm: FakeLLM, served: Server, new_context: NewContext
) -> None:
    talk = Talk(new_context(java_script_enabled=False).new_page(), conversation).opened()
    fill(talk, llm, served, summary=say(SUMMARY))
    llm.wait_ended(6)
    talk.again()
    talk.expect_answer("High water is at noon.")
    organised(talk).locator("summary").click()
    organised(talk).get_by_role("link").click()
    expect(talk.page.get_by_role("heading", name="What it does not see any more")).to_be_visible()
    expect(talk.page.get_by_role("region", name="Conversation organised")).to_contain_text("page-0.txt")
    talk.page.get_by_role("link", name="Back to the conversation").click()
    expect(organised(talk)).to_be_visible()


def test_a_run_in_circles_is_warned_of_and_stopped_and_goes_on_with_a_hint(
    talk: Talk, llm: FakeLLM, served: Server
) -> None:
    (served.workspace / "same.txt").write_text("Always the same.\n")
    llm.script(*reads(*["same.txt"] * 5), say("I read another file."))
    talk.say("Look.")
    expect(talk.articles("notice").first).to_contain_text(
        "3 rounds of the same call of read_file brought nothing new"
    )
    stop = talk.articles("notice").last
    expect(stop.get_by_role("heading")).to_have_text("Stopped: the run went in circles with read_file")
    expect(stop.get_by_role("button", name="Continue")).to_be_visible()
    expect(talk.articles("tool_call").last).to_contain_text("not run")
    talk.say("Read another file.")
    talk.expect_answer("I read another file.")
    expect(talk.button("Continue")).to_have_count(0)
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_run_at_its_step_limit_says_so_and_continues(talk: Talk, llm: FakeLLM, served: Server) -> None:
    for number in range(120):
        (served.workspace / f"step-{number}.txt").write_text(f"Step {number}.\n")
    llm.script(
        *reads(*(f"step-{number}.txt" for number in range(120))), say("So far I have 120."), say("All done.")
    )
    talk.say("Read all.")
    expect(talk.articles("notice").get_by_role("heading")).to_have_text(
        "Stopped after 120 steps, as many as one turn may take", timeout=30_000
    )
    talk.expect_answer("So far I have 120.")
    talk.button("Continue").click()
    talk.expect_answer("All done.")
    expect(talk.button("Continue")).to_have_count(0)


def test_an_answer_that_meets_its_output_limit_twice_says_so_and_continues(talk: Talk, llm: FakeLLM) -> None:
    llm.script(say("One, two, ", finish="length"), say("three, four, ", finish="length"), say("five."))
    talk.say("Count.")
    expect(talk.articles("notice").get_by_role("heading")).to_have_text(
        "The answer reached the model's output limit"
    )
    expect(talk.answer).to_contain_text("One, two, three, four,")
    talk.button("Continue").focus()
    talk.page.keyboard.press("Enter")
    talk.expect_answer("five.")
    expect(talk.button("Continue")).to_have_count(0)


def test_a_picture_that_the_model_was_shown_is_seen_and_opened(
    talk: Talk, llm: FakeLLM, served: Server, watch: Watch
) -> None:
    # What Chromium and a recorder of the story put around a picture is barred like everything else.
    watch.allow("inline style", "Blocked script execution")
    (served.workspace / "chart.png").write_bytes(png(600, 300))
    llm.script(*reads("chart.png"), say("All black."))
    talk.say("What is in the chart?")
    talk.expect_answer("All black.")
    picture = talk.articles("tool_call").get_by_role("img", name="chart.png, as the model was shown it")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 600
    with talk.page.context.expect_page() as opened:
        talk.articles("tool_call").get_by_role("link").press("Enter")
    expect(opened.value.locator("img")).to_be_visible()
    assert opened.value.evaluate("document.images[0].naturalWidth") == 600
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_large_result_shows_both_ends_and_is_read_on(talk: Talk, llm: FakeLLM, served: Server) -> None:
    """Large for a model with a window of 16,000 tokens."""
    lines = [f"{number:06} the tide tables of this harbour\n" for number in range(700)]
    (served.workspace / "large.txt").write_text("".join(lines))
    served.post(f"{talk.path}/model", model="openai/gpt-3.5-turbo")
    llm.script(*reads("large.txt"), say("I look for more."))
    talk.say("Read it all.")
    talk.expect_answer("I look for more.")
    card = talk.articles("tool_call").first
    card.locator("summary").click()
    expect(card.locator("[data-part=output]")).to_contain_text("000000 the tide tables")
    gap = card.locator("[data-part=gap]")
    expect(gap).to_contain_text("characters are left out here; all of it is kept as res_")
    expect(card.get_by_role("group", name="End of the output")).to_contain_text("000699")
    ref = gap.inner_text().rpartition(" ")[2]
    looks = [
        call("search_result", {"ref": ref, "pattern": "000300"}),
        call("read_result", {"ref": ref, "start": 9000}),
    ]
    llm.script(say("", calls=looks), say("There it is."))
    talk.say("And in the middle?")
    talk.expect_answer("There it is.")
    cards = talk.articles("tool_call").locator("summary")
    expect(cards.nth(1)).to_contain_text(f"find in result000300 · {ref}")
    expect(cards.nth(2)).to_contain_text(f"read on{ref} · from 9,000")
