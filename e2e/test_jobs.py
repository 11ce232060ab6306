"""Commands as a user sees them: their output in the chat, and jobs that go on after the turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import NewContext, with_model
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

ENDS_IN_VIEW = """(box) => {
    const { bottom } = box.firstElementChild.getBoundingClientRect();
    return bottom > 0 && bottom <= box.getBoundingClientRect().bottom;
}"""

ASKS = "printf '\\033[32mready\\033[0m\\nName: '; read name; echo \"Hello $name\"; read stay"


@pytest.fixture(scope="module")
def working(llm_process: FakeLLM, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Plancia of their own for stories that start it again, whose conversations ask for little."""
    server = Server(tmp_path_factory.mktemp("working"))
    server.settings = with_model(llm_process)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def trusted(working: Server, llm: FakeLLM, page: Page) -> Talk:
    talk = Talk(page, working.new_conversation())
    working.post(f"{talk.path}/access", access="trusted")
    return talk.opened()


def runs(llm: FakeLLM, command: str, **more: bool) -> None:
    llm.script(say("I run it.", calls=[call("bash", {"command": command, **more})]), say("It was run."))


def test_output_comes_live_in_its_colours_and_keeps_them(
    trusted: Talk, llm: FakeLLM, working: Server, new_context: NewContext
) -> None:
    go = working.workspace / "go"
    runs(llm, "printf '\\033[31mred\\033[0m\\n'; until [ -e go ]; do sleep 0.05; done; echo last; exit 3")
    trusted.say("Run it.")
    card = trusted.articles("tool_call")
    expect(card.locator("summary")).to_contain_text("running")
    card.locator("summary").click()
    output = card.locator("[data-part=output]")
    expect(output.locator(".out-red")).to_have_text("red")
    other = Talk(new_context().new_page(), trusted.address).opened()
    expect(other.articles("tool_call").locator(".out-red")).to_have_text("red")
    go.touch()
    expect(card.locator("summary")).to_contain_text("exit 3")
    expect(output).to_have_text("red\nlast\n")
    trusted.expect_answer("It was run.")
    trusted.again()
    expect(card.locator(".out-red")).to_have_text("red")
    expect(card).to_have_attribute("data-state", "done")


def test_a_long_output_shows_its_end_and_leads_to_all_of_it(trusted: Talk, llm: FakeLLM) -> None:
    runs(llm, "seq 1 30000")
    trusted.say("Count.")
    trusted.expect_answer("It was run.")
    card = trusted.articles("tool_call")
    card.locator("summary").click()
    expect(card.locator("[data-part=gap]")).to_have_text("last 200 lines shown")
    expect(card.locator("[data-part=output]")).to_contain_text("30000")
    assert card.locator("[data-part=output]").evaluate(ENDS_IN_VIEW)
    with trusted.page.expect_download() as waiting:
        card.get_by_role("link", name="All of it as plain text").click()
    whole = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert whole.count("\n") >= 30_000


def test_a_job_is_found_typed_into_kept_over_a_restart_and_stopped(
    trusted: Talk, llm: FakeLLM, working: Server, page: Page, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    runs(llm, ASKS, run_in_background=True)
    trusted.say("Start it.")
    trusted.expect_answer("It was run.")
    card = trusted.articles("tool_call")
    expect(card.locator("summary")).to_contain_text("as a job")
    expect(page.get_by_role("heading", name="Background jobs")).to_be_visible()
    workspace = page.get_by_role("navigation", name="Workspace")
    expect(workspace.get_by_role("link", name="Jobs")).to_contain_text("1")
    card.locator("summary").click()
    card.get_by_role("link", name="Open the job").click()
    output = page.get_by_role("log", name="Output").locator("[data-part=output]")
    expect(output).to_have_text("ready\nName: ")
    line = page.get_by_role("textbox", name="Line for its input")
    line.fill("Anna")
    line.press("Enter")
    expect(output).to_contain_text("Hello Anna")
    expect(line).to_have_value("")
    expect(line).to_be_focused()
    expect(output.locator(".out-green")).to_have_text("ready")
    page.get_by_role("switch", name="Keep when Plancia ends").click()
    page.get_by_role("link", name="All jobs").click()
    expect(page.get_by_role("switch", name=re.compile("^Keep "))).to_be_checked()
    working.stop()
    working.start_again()
    page.goto(working.at("/jobs"))
    job = page.get_by_role("list", name="Background jobs").get_by_role("listitem")
    expect(job).to_contain_text("running")
    expect(job).to_contain_text("Hello Anna")
    job.get_by_role("button", name=re.compile("^Stop ")).click()
    expect(job).to_contain_text("stopped")
    expect(workspace.get_by_role("link", name="Jobs")).to_have_text("Jobs")


def test_without_script_a_job_is_read_typed_into_and_stopped(
    trusted: Talk, llm: FakeLLM, working: Server, new_context: NewContext
) -> None:
    runs(llm, ASKS, run_in_background=True)
    trusted.say("Start it.")
    trusted.expect_answer("It was run.")
    page = new_context(java_script_enabled=False).new_page()
    page.goto(working.at("/jobs"))
    page.get_by_role("link", name=re.compile("^printf")).first.click()
    page.get_by_role("textbox", name="Line for its input").fill("Anna")
    page.get_by_role("button", name="Send").click()
    expect(page).to_have_url(re.compile("/jobs/job_"))
    page.get_by_role("link", name="Show what it wrote since").click()
    expect(page.get_by_role("log", name="Output")).to_contain_text("Hello Anna")
    page.get_by_role("switch", name="Keep when Plancia ends").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("switch", name="Keep when Plancia ends")).to_be_checked()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#job-state")).to_contain_text("stopped")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
