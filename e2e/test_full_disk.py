"""The disk is full while an answer is written: it is said, nothing is lost, and all goes on once there is room."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import with_model
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

ANSWER = "Half of it is said. "
FULL = "is full"


@contextmanager
def full_disk(server: Server) -> Iterator[None]:
    """As if a quota were used up: no file of the server may be written."""
    limits = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
    yield
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def talk(server: Server, llm: FakeLLM, page: Page) -> Talk:
    """A conversation whose first answer stands in the middle."""
    server.settings = with_model(llm)
    server.start()
    llm.script(hold(say(ANSWER, "The other half."), 1))
    talk = Talk(page, server.new_conversation()).opened()
    talk.say("Tell me all of it.")
    llm.wait_held()
    expect(talk.answer).to_contain_text(ANSWER.strip())
    return talk


def expect_ended(talk: Talk) -> None:
    """What was said is there, why it ended is said, nothing runs."""
    expect(talk.answer.locator("[data-part=text]")).to_contain_text(ANSWER.strip())
    expect(talk.articles("error")).to_have_count(1)
    expect(talk.articles("error")).to_contain_text(FULL)
    expect(talk.articles("error")).to_contain_text("Free some space")
    expect(talk.button("Send")).to_be_visible()
    expect(talk.button("Stop")).to_have_count(0)
    expect(talk.log.locator("[data-state=streaming]")).to_have_count(0)
    expect(talk.page.get_by_role("tabpanel", name="Tasks")).to_contain_text("failed")


def test_it_is_said_in_the_chat_and_a_message_is_kept_until_there_is_room(
    talk: Talk, server: Server, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow("status of 503")
    with full_disk(server):
        llm.release()
        expect_ended(talk)
        talk.say("Are you there?")
        expect(talk.page.get_by_role("status").filter(has_text=FULL)).to_be_visible()
        expect(talk.box).to_have_value("Are you there?")
        shown = talk.shown()
        talk.again().expect_shows(shown)
        expect_ended(talk)
    llm.script(say("All is well."))
    talk.say("Are you there?")
    talk.expect_answer("All is well.")
    expect(talk.button("Retry")).to_have_count(0)
    assert ANSWER.strip() in str(llm.bodies()[-1])
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_what_could_not_be_stored_is_stored_once_there_is_room_and_outlives_the_process(
    talk: Talk, server: Server, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    with full_disk(server):
        llm.release()
        expect_ended(talk)
    rail = talk.page.get_by_role("navigation", name="Conversations")
    expect(rail.get_by_role("img", name="failed")).to_be_visible()
    shown = talk.shown()
    server.stop()
    server.start_again()
    talk.page.goto(server.at(talk.path))
    talk.expect_shows(shown)
    expect_ended(talk)


def test_retry_works_once_there_is_room(talk: Talk, server: Server, llm: FakeLLM) -> None:
    with full_disk(server):
        llm.release()
        expect_ended(talk)
    llm.script(say("All of it."))
    talk.button("Retry").click()
    talk.expect_answer("All of it.")
    expect(talk.articles("error")).to_have_count(1)
