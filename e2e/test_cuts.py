"""The line breaks, the server goes and comes back: nothing is lost, nothing is doubled, and the page says so."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import NewContext, with_model
from e2e.line import Line
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, insert, say

PARTS = 4
WORDS_OF_A_PART = 120
SAVED_AFTER_MS = 1_100
"""A text that grows is written to the disk once a second."""
ENDS = ("", ",", ".  ", ".\n\n", "\n- ")


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_three_cuts_at_random_bytes_lose_and_double_nothing(
    distant: Talk, line: Line, llm: FakeLLM, watch: Watch, new_context: NewContext, seed: int
) -> None:
    watch.allow(*LINE_BROKEN)
    chance = random.Random(seed)
    words = [f"word-{number}{chance.choice(ENDS)} " for number in range(PARTS * WORDS_OF_A_PART)]
    answer = say(*words)
    for part in reversed(range(PARTS)):
        answer = insert(answer, part * WORDS_OF_A_PART, {"hold": f"part-{part}"})
    llm.script(answer)
    distant.say("Count.")
    llm.wait_held("part-0")
    llm.release("part-0")
    for part in range(1, PARTS):
        llm.wait_held(f"part-{part}")
        line.cut_after(chance.randrange(1, 2_000))
        llm.release(f"part-{part}")
        line.wait_cut(part)
    distant.expect_state("done")
    said = distant.answer.locator("[data-part=text]").inner_text()
    assert [word.strip(",.-") for word in said.split() if word != "-"] == [
        f"word-{number}" for number in range(PARTS * WORDS_OF_A_PART)
    ]
    distant.expect_same_as(Talk(new_context().new_page(), distant.address).opened())


def test_what_happens_while_the_line_is_down_is_there_when_it_is_back(
    distant: Talk, line: Line, llm: FakeLLM, watch: Watch, new_context: NewContext
) -> None:
    watch.allow(*LINE_BROKEN)
    llm.script(hold(say("Before. ", "After."), 1), say("And the next."))
    distant.say("Go on while I am away.")
    llm.wait_held()
    expect(distant.answer).to_contain_text("Before.")
    line.down()
    expect(distant.reconnecting).to_be_visible()
    llm.release()
    near = Talk(new_context().new_page(), distant.address).opened()
    near.expect_answer("Before. After.")
    near.say("One more.")
    near.expect_answer("And the next.")
    line.up()
    # Not a click: the page may be back by itself before the button is reached.
    distant.page.locator("[data-action=reconnect]").dispatch_event("click")
    distant.expect_answer("And the next.")
    expect(distant.reconnecting).to_be_hidden()
    distant.expect_same_as(near)


def test_a_page_in_the_background_catches_up_when_it_is_seen_again(
    talk: Talk, second: Talk, llm: FakeLLM
) -> None:
    llm.script(hold(hold(say("Seen. ", "Unseen. ", "Seen again."), 2, "later"), 1))
    talk.say("Hello")
    llm.wait_held()
    expect(talk.answer).to_contain_text("Seen.")
    show(talk.page, hidden=True)
    llm.release()
    llm.wait_held("later")
    second.opened()
    expect(second.answer).to_contain_text("Unseen.")
    show(talk.page, hidden=False)
    talk.expect_same_as(second)
    llm.release("later")
    talk.expect_answer("Seen. Unseen. Seen again.")


def test_a_server_that_restarts_in_the_middle_leaves_a_turn_that_can_be_continued(
    server: Server, llm: FakeLLM, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    server.settings = with_model(llm)
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    spoken = insert(say("The first half, ", "as I ", "never said."), 1, {"wait_ms": SAVED_AFTER_MS})
    llm.script(hold(spoken, 2), say("and the second half."))
    talk.say("Tell me both halves.")
    llm.wait_held()
    expect(talk.answer).to_contain_text("The first half, as I")
    talk.box.fill("What I write meanwhile")
    server.kill()
    expect(talk.reconnecting).to_contain_text("Lost contact with Plancia.")
    server.start_again()
    expect(talk.answer).to_have_attribute("data-state", "interrupted")
    expect(talk.answer).to_contain_text("The first half,")
    expect(talk.reconnecting).to_be_hidden()
    expect(talk.box).to_have_value("What I write meanwhile")
    assert talk.log.inner_text().count("What was written is kept") == 1
    notice = talk.articles("notice")
    expect(notice).to_have_attribute("data-wait", "user")
    expect(talk.button("Continue")).to_have_count(1)
    talk.button("Continue").click()
    talk.expect_answer("and the second half.")
    expect(notice).not_to_have_attribute("data-wait", "user")
    expect(talk.button("Continue")).to_have_count(0)
    expect(talk.articles("user")).to_have_count(1)
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_server_that_is_stopped_and_started_keeps_what_was_written(
    server: Server, llm: FakeLLM, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    server.settings = with_model(llm)
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    llm.script(hold(say("Written at once, ", "never said."), 1), say("and the rest."))
    talk.say("Tell me.")
    llm.wait_held()
    expect(talk.answer).to_contain_text("Written at once,")
    assert server.stop() == 0
    expect(talk.reconnecting).to_be_visible()
    server.start_again()
    expect(talk.answer).to_have_attribute("data-state", "interrupted")
    expect(talk.answer).to_contain_text("Written at once,")
    talk.button("Continue").click()
    talk.expect_answer("and the rest.")


def test_a_page_whose_conversation_was_deleted_says_so_when_it_reconnects(
    distant: Talk, line: Line, served: Server, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow("status of 404", *LINE_BROKEN)
    distant.say("Hello")
    distant.expect_answer("You said: Hello.")
    served.post(f"{distant.path}/delete")
    line.cut()
    expect(distant.page.get_by_text("This conversation was deleted.")).to_be_visible()


def show(page: Page, *, hidden: bool) -> None:
    """The tab goes to the background, or comes back."""
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )
