"""Stories of agents: made, changed in two windows, switched off, removed and brought back, taken over, tried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

AGENT = "---\nname: code-reviewer\ndescription: Use it: code changed\ntools: Read, Task\nmodel: sonnet\n---\nReview.\n"


@pytest.fixture
def agents(served: Server, page: Page) -> Iterator[Page]:
    """The list of agents; what a story leaves behind is gone after it."""
    page.goto(served.at("/agents"))
    yield page
    for path in (served.data / "agents").iterdir():
        path.unlink()


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name))


def fill(page: Page, **fields: str) -> None:
    labels = {"name": "Name", "description": "What it is for", "prompt": "Instructions"}
    for name, value in fields.items():
        page.get_by_label(labels[name], exact=True).fill(value)


def make(page: Page, name: str) -> None:
    page.get_by_role("link", name="New agent").click()
    fill(page, name=name, description="Knows the berths.", prompt="Keep the books.")
    page.get_by_text("Rose").click()
    page.get_by_role("radio", name="Only these").check()
    page.get_by_role("checkbox", name="read_file").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()


def test_one_is_made_and_tried(agents: Page, served: Server) -> None:
    make(agents, "Harbour clerk")
    assert (served.data / "agents" / "harbour-clerk.md").read_text() == (
        "---\nname: Harbour clerk\ndescription: Knows the berths.\ncolor: rose\ntools: [read_file]\n---\n\n"
        "Keep the books.\n"
    )
    agents.get_by_role("button", name="Try it").click()
    expect(agents.get_by_role("textbox", name="Message")).to_have_value("@Harbour clerk ")


def test_what_is_wrong_is_said_at_its_field_and_nothing_typed_is_lost(agents: Page, watch: Watch) -> None:
    watch.allow("status of 422")
    agents.get_by_role("link", name="New agent").click()
    fill(agents, name="Coder", prompt="Code in Pascal.")
    agents.get_by_role("button", name="Save").click()
    name = agents.get_by_label("Name", exact=True)
    expect(name).to_have_accessible_description("There is an agent called Coder already (coder).")
    expect(name).to_be_focused()
    expect(agents.get_by_label("Instructions")).to_have_value("Code in Pascal.")


def test_a_form_that_was_changed_is_not_left_without_a_word(agents: Page) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    agents.on("dialog", stay)
    row(agents, "Writer").get_by_role("link", name="Edit Writer").click()
    fill(agents, description="Writes verse.")
    agents.get_by_role("link", name="Settings").click()
    expect(agents.get_by_label("What it is for")).to_have_value("Writes verse.")
    agents.get_by_role("button", name="Save").click()
    expect(agents.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    agents.get_by_role("link", name="Settings").click()
    expect(agents.get_by_role("heading", name="Settings")).to_be_visible()
    assert asked == ["beforeunload"]


def test_two_windows_do_not_write_over_each_other(
    agents: Page, served: Server, new_context: NewContext, watch: Watch
) -> None:
    watch.allow("status of 409")
    make(agents, "Harbour clerk")
    other = new_context().new_page()
    other.goto(served.at("/agents/harbour-clerk"))
    fill(agents, description="Mine.")
    fill(other, description="Theirs.")
    agents.get_by_role("button", name="Save").click()
    expect(agents.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("alert")).to_contain_text("has been changed meanwhile")
    expect(other.get_by_label("What it is for")).to_have_value("Theirs.")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert "Theirs." in (served.data / "agents" / "harbour-clerk.md").read_text()


def test_the_team_is_changed_switched_off_and_reset(agents: Page) -> None:
    row(agents, "Writer").get_by_role("link", name="Edit Writer").click()
    fill(agents, description="Writes verse.")
    agents.get_by_role("button", name="Save").click()
    agents.get_by_role("button", name="Switch off").click()
    expect(row(agents, "Writer")).to_contain_text("changed by you")
    expect(row(agents, "Writer").get_by_role("button", name="Try Writer")).to_have_count(0)
    agents.get_by_role("button", name="Switch on Writer").click()
    row(agents, "Writer").get_by_role("link", name="Edit Writer").click()
    agents.get_by_role("button", name="Reset").click()
    expect(row(agents, "Writer")).not_to_contain_text("Writes verse.")
    agents.get_by_role("button", name="Undo").click()
    expect(agents.get_by_label("What it is for")).to_have_value("Writes verse.")


def test_agents_of_another_program_are_taken_over_from_a_folder_and_as_files(
    agents: Page, tmp_path: Path
) -> None:
    home = tmp_path / ".claude" / "agents"
    home.mkdir(parents=True)
    (home / "code-reviewer.md").write_text(AGENT)
    (home / "README.md").write_text("# About")
    agents.get_by_label("A folder or file").fill(str(tmp_path))
    agents.get_by_role("button", name="Take over").click()
    report = agents.get_by_role("region", name="Taken over")
    expect(report.get_by_role("listitem")).to_have_count(2)
    expect(report).to_contain_text("The model “sonnet” names no provider")
    expect(report).to_contain_text("It is no agent")
    agents.get_by_label("or files").set_input_files(home / "code-reviewer.md")
    agents.get_by_role("button", name="Take over").click()
    expect(report).to_contain_text("There is an agent code-reviewer already")


def test_all_of_it_works_without_script(served: Server, new_context: NewContext, watch: Watch) -> None:
    watch.allow("status of 422")
    page = new_context(java_script_enabled=False).new_page()
    page.goto(served.at("/agents"))
    make(page, "Night watch")
    page.get_by_role("button", name="Remove").click()
    expect(row(page, "Night watch")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Night watch")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_label("A folder or file").fill("nowhere")
    page.get_by_role("button", name="Take over").click()
    expect(page.get_by_text("nowhere is no whole path: it begins with / or ~.")).to_be_visible()


def test_the_form_is_filled_in_by_keys_alone(agents: Page) -> None:
    agents.get_by_role("link", name="New agent").press("Enter")
    agents.get_by_label("Name", exact=True).focus()
    agents.keyboard.type("Night watch")
    for words in ("Watches.", None, None, "Watch."):  # past the colours and the model
        agents.keyboard.press("Tab")
        agents.keyboard.type(words or "")
    agents.keyboard.press("Tab")
    agents.keyboard.press("ArrowDown")
    expect(agents.get_by_role("radio", name="Only these")).to_be_checked()
    agents.keyboard.press("Tab")
    agents.keyboard.press("Space")
    expect(agents.get_by_role("checkbox", name="read_file")).to_be_checked()
    agents.get_by_role("button", name="Save").press("Enter")
    expect(agents.get_by_role("heading", name="Night watch")).to_be_visible()
    expect(agents.get_by_label("Instructions")).to_have_value("Watch.")


def test_one_is_made_of_a_conversation(talk: Talk, llm: FakeLLM, agents: Page) -> None:
    llm.script(say("The tide turns at noon."))
    talk.opened().say("When does the tide turn?")
    talk.expect_answer("The tide turns at noon.")
    proposal = {"name": "Tide clerk", "description": "Knows the tides.", "prompt": "Say when it turns."}
    llm.script(say(calls=[call("save_agent", proposal)]), say("There it is."))
    talk.button("Conversation menu").click()
    talk.button("Make an agent of this").click()
    dialog = talk.page.get_by_role("dialog", name="Commander proposes an agent")
    expect(dialog).to_contain_text("Say when it turns.")
    expect(dialog).to_have_attribute("data-armed", "")
    dialog.get_by_role("button", name="Allow once").click()
    talk.expect_answer("There it is.")
    talk.page.get_by_role("link", name="Agents").click()
    expect(row(talk.page, "Tide clerk")).to_be_visible()
