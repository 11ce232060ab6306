"""No barrier on any screen in any state, light and dark, wide and narrow; and the names that the contract gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import with_model
from e2e.server import Server
from e2e.states import STATES, Stage
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
TALL = 2_600
"""Pixels: nothing is cut by the edge of a box that scrolls, which would look like a target that is too small."""

FIND_BARRIERS = """async (rules) => {
    const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
}"""

SIDEWAYS = """() => [...document.querySelectorAll("html, body, main, .scroller, .panel, .rail, dialog")]
    .filter((box) => box.scrollWidth > box.clientWidth && box.clientWidth)
    .map((box) => `${box.className || box.localName}: ${box.scrollWidth} > ${box.clientWidth}`)"""


@pytest.fixture(scope="module")
def looked_at(llm_process: FakeLLM, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Plancia of their own for stories that kill it."""
    server = Server(tmp_path_factory.mktemp("looked-at"))
    server.settings = with_model(llm_process)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return {}


@pytest.mark.parametrize("state", STATES)
def test_there_is_no_barrier_and_nothing_scrolls_sideways(
    looked_at: Server, llm: FakeLLM, page: Page, watch: Watch, made: dict[str, str], state: str
) -> None:
    watch.allow("status of 401", "status of 404", "status of 422", *LINE_BROKEN)
    STATES[state](Stage(looked_at, llm, page, made))
    page.evaluate(AXE)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": TALL})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(FIND_BARRIERS, RULES) == [], f"{state}, {scheme}, {width}"
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(SIDEWAYS) == [], f"{state}, {width}"


def test_what_happens_is_said_once_to_those_who_listen(talk: Talk, llm: FakeLLM) -> None:
    status = talk.page.locator("#sr-status")
    llm.script(hold(say("One. ", "Two."), 1))
    talk.say("Count.")
    expect(status).to_have_text("Commander is writing.")
    expect(talk.answer).to_have_attribute("aria-busy", "true")
    assert talk.log.evaluate("(log) => log.querySelectorAll('[aria-live], [role=status]').length") == 0
    expect(talk.log).to_have_attribute("aria-live", "off")
    llm.release()
    expect(status).to_have_text("Commander has ended its turn.")
    expect(talk.answer).not_to_have_attribute("aria-busy", "true")


def test_everything_has_the_name_that_the_contract_gives_it(talk: Talk, llm: FakeLLM) -> None:
    page = talk.page
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()
    expect(page.get_by_role("navigation", name="Workspace")).to_be_visible()
    expect(page.get_by_role("complementary", name="Details")).to_be_visible()
    for name in ("Tasks", "Plan", "Files", "Usage"):
        expect(
            page.get_by_role("complementary", name="Details").get_by_role("tab", name=name)
        ).to_be_visible()
    expect(page.get_by_role("combobox", name="Model")).to_be_visible()
    for name in ("New conversation", "Send"):
        expect(talk.button(name)).to_be_visible()
    llm.script(hold(say("Half ", "and whole."), 1))
    talk.say("Hello")
    llm.wait_held()
    for name in ("Steer", "Queue", "Stop"):
        expect(talk.button(name)).to_be_visible()
    expect(talk.answer).to_have_attribute("data-state", "streaming")
    llm.release()
    talk.expect_answer("Half and whole.")
    said, answered = talk.articles("user"), talk.articles("assistant")
    expect(said).to_have_accessible_name("You")
    expect(said).to_have_attribute("data-member", "user")
    expect(answered).to_have_accessible_name("Commander")
    expect(answered).to_have_attribute("data-member", "commander")
    expect(answered).to_have_attribute("data-state", "done")
    for article in (said, answered):
        expect(article.locator("time")).to_have_attribute(
            "datetime", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
        )
        expect(article.locator("[data-part=text]")).to_have_count(1)
