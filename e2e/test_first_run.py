"""The first run: a guide that works without a key, finds what is there, and ends in a conversation."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from e2e.conftest import with_model
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import Watch
from tests.fakes.llm_client import FakeLLM


def test_without_a_key_the_demo_shows_two_members_at_work(server: Server, page: Page) -> None:
    page.goto(server.start())
    expect(page).to_have_url(f"{server.url}/welcome")
    expect(page.get_by_role("heading", name="Welcome aboard")).to_be_visible()
    expect(page.get_by_text("No key was found in the environment")).to_be_visible()
    page.get_by_role("button", name="Try without a key").click()
    talk = Talk(page, page.url)
    expect(talk.articles("tool_call")).not_to_have_count(0)
    expect(talk.articles("dispatch")).to_have_count(2, timeout=20_000)
    expect(page.locator('#log [data-member="writer"][data-kind="tool_call"]')).to_have_count(1)
    expect(talk.button("Send")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("combobox", name="Model")).to_contain_text("Demo model: scripted, not an AI")


def test_a_source_is_tested_and_saved_without_leaving_the_guide(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    llm.knows(models=["big"], keys=["sk-of-the-guide"])
    page.goto(server.start())
    page.get_by_text("Use another key or address").click()
    form = page.get_by_role("form", name="Add a source")
    form.get_by_label("Name").fill("lab")
    form.get_by_label("Address").fill(llm.base_url)
    form.get_by_label("Key").first.fill("sk-of-the-guide")
    form.get_by_role("button", name="Test").click()
    expect(form.get_by_role("status")).to_contain_text("lab answers and lists 1 model.")
    expect(page).to_have_url(f"{server.url}/welcome")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("lab/big is set up.")).to_be_visible()
    expect(page).to_have_url(f"{server.url}/welcome")


def test_a_key_in_the_environment_is_enough(server: Server, llm: FakeLLM, page: Page) -> None:
    server.settings = with_model(llm)
    page.goto(server.start())
    expect(page.get_by_text("openai/fake-model is set up.")).to_be_visible()
    expect(page.get_by_role("button", name="Try without a key")).to_have_count(0)
    page.get_by_label("Nothing yet").check()
    page.get_by_role("button", name="Start").click()
    talk = Talk(page, page.url)
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")


def test_a_first_task_begins_in_the_folder_that_was_chosen(server: Server, llm: FakeLLM, page: Page) -> None:
    server.settings = with_model(llm)
    chosen = server.workspace / "project"
    chosen.mkdir()
    page.goto(server.start())
    expect(page.get_by_label("Workspace folder")).to_have_value(str(server.workspace))
    page.get_by_label("Workspace folder").fill(str(chosen))
    page.get_by_label("Explain this folder").check()
    page.get_by_role("button", name="Start").click()
    Talk(page, page.url).expect_answer("You said: Explain what is in this folder.")
    assert str(chosen) in llm.bodies()[0]["messages"][0]["content"]


def test_a_folder_that_is_not_there_is_said_in_words(
    server: Server, llm: FakeLLM, page: Page, watch: Watch
) -> None:
    watch.allow("status of 422")
    server.settings = with_model(llm)
    page.goto(server.start())
    page.get_by_label("Workspace folder").fill("/nowhere/at/all")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("/nowhere/at/all")).to_be_visible()
    assert llm.bodies() == []


def test_a_browser_without_the_token_is_told_how_to_get_in(server: Server, page: Page, watch: Watch) -> None:
    watch.allow("status of 401")
    server.start()
    page.goto(server.url)
    expect(page.get_by_role("heading", name="This browser is not signed in yet")).to_be_visible()
    expect(page.get_by_text("plancia open")).to_be_visible()
    page.goto(f"{server.url}/?token=wrong")
    expect(page.get_by_role("heading", name="This browser is not signed in yet")).to_be_visible()
    page.goto(server.login)
    expect(page).to_have_url(f"{server.url}/welcome")
    assert all(cookie["httpOnly"] for cookie in page.context.cookies())
