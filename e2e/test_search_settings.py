"""Who searches the web is chosen on its page: with a key that is never shown again, and a test in place."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from e2e.server import Server
from e2e.watch import Watch


def test_a_key_is_saved_with_its_engine_kept_and_forgotten(page: Page, served: Server, watch: Watch) -> None:
    watch.allow("status of 422")
    page.goto(served.at("/settings/web"))
    page.get_by_role("radio", name="Brave").check()
    page.get_by_role("button", name="Save").click()
    key = page.get_by_label("Key of Brave")
    expect(key).to_be_focused()
    expect(key).to_have_accessible_description("Brave needs a key. Enter it, or choose another engine.")
    key.fill("BSA-0123456789")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("One is stored, encrypted.")).to_be_visible()
    expect(key).to_have_value("")
    expect(page.get_by_role("radio", name="Brave")).to_be_checked()
    page.get_by_role("radio", name="DuckDuckGo").check()
    page.get_by_label("Forget the stored key").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("One is stored, encrypted.")).to_be_hidden()


def test_a_test_says_in_place_what_is_wrong_and_typed_words_stay(page: Page, served: Server) -> None:
    served.post("/settings/web", **{"web.search": "searxng", "web.searxng_url": "http://127.0.0.1:9"})
    page.goto(served.at("/settings/web"))
    page.get_by_label("Key of Tavily").fill("half a ke")
    page.get_by_role("button", name="Test the search").click()
    expect(page.locator("#test")).to_contain_text("127.0.0.1 did not answer as a web server does")
    expect(page.get_by_label("Key of Tavily")).to_have_value("half a ke")
    expect(page.get_by_role("button", name="Test the search")).to_be_focused()
    served.post("/settings/web", **{"web.search": "duckduckgo"})
