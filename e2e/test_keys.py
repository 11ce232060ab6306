"""Everything by keyboard: from loading the page to a sent message, the keys of the list, and focus that comes back."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM


def focused(page: Page) -> str:
    """Accessible name, as far as one can tell, of what has the focus."""
    name: str = page.evaluate(
        """() => {
            const at = document.activeElement;
            return at.ariaLabel || at.labels?.[0]?.textContent || at.textContent.trim() || at.id;
        }"""
    )
    return name


def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    seen = []
    for _ in range(20):
        if (here := focused(page)) == name:
            return
        seen.append(here)
        page.keyboard.press(key)
    raise AssertionError(f"Tab never came to {name!r}, but to {seen}.")


def test_from_the_page_to_an_answer_without_a_mouse(talk: Talk) -> None:
    page = talk.page
    expect(talk.box).to_be_focused()
    page.get_by_role("link", name="Skip to message box").focus()
    expect(page.get_by_role("link", name="Skip to message box")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(talk.box).to_be_focused()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    assert focused(page) == "Attach files"
    page.keyboard.press("Tab")
    assert focused(page) == "Access"
    page.keyboard.press("Tab")
    assert focused(page) in ("Confined", "Not confined")
    page.keyboard.press("Tab")
    assert focused(page) == "Model"
    tab_to(page, "Send")
    page.keyboard.press("Space")
    talk.expect_answer("You said: By keyboard.")


def test_a_new_conversation_and_its_title_without_a_mouse(talk: Talk, llm: FakeLLM) -> None:
    page = talk.page
    talk.say("Something to rename")
    talk.expect_answer("You said: Something to rename.")
    tab_to(page, "Conversation menu", key="Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert focused(page) == "Rename"
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("Renamed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Renamed")
    expect(page.locator(":popover-open")).to_have_count(0)
    expect(talk.button("Conversation menu")).to_be_focused()
    page.keyboard.press("Control+Shift+O")
    expect(page.get_by_role("heading", name="What shall we work on?")).to_be_visible()
    expect(talk.box).to_be_focused()


def test_slash_goes_to_the_box_but_can_be_typed_in_it(talk: Talk) -> None:
    talk.log.focus()
    talk.page.keyboard.press("/")
    expect(talk.box).to_be_focused()
    expect(talk.box).to_have_value("")
    talk.page.keyboard.press("/")
    talk.page.keyboard.press("?")
    expect(talk.box).to_have_value("/?")


def test_a_question_mark_lists_the_keys_and_escape_closes_the_list(talk: Talk) -> None:
    talk.log.focus()
    talk.page.keyboard.press("?")
    keys = talk.page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    for key in ("Enter", "Shift Enter", "Ctrl Enter", "Esc", "/", "Alt ↑", "Ctrl Shift O", "?"):
        expect(keys.get_by_role("cell", name=key, exact=True)).to_have_count(1)
    talk.page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(talk.log).to_be_focused()


def test_alt_and_arrows_walk_over_the_entries(talk: Talk, llm: FakeLLM) -> None:
    for text in ("one", "two"):
        talk.say(text)
        talk.expect_answer(f"You said: {text}.")
    entries = talk.log.get_by_role("article")
    for number in (3, 2, 1, 0, 0):
        talk.page.keyboard.press("Alt+ArrowUp")
        expect(entries.nth(number)).to_be_focused()
    talk.page.keyboard.press("Alt+ArrowDown")
    expect(entries.nth(1)).to_be_focused()


def test_a_closed_dialog_gives_the_focus_back(talk: Talk, llm: FakeLLM) -> None:
    page = talk.page
    talk.say("Something to keep")
    talk.expect_answer("You said: Something to keep.")
    page.get_by_role("button", name="Keys").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Keys")).to_be_focused()
    talk.button("Conversation menu").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(talk.button("Conversation menu")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Delete")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Delete")).to_be_hidden()
    expect(talk.button("Conversation menu")).to_be_focused()


def test_tabs_of_the_details_go_by_arrows_and_are_remembered(talk: Talk) -> None:
    tabs = talk.page.get_by_role("complementary", name="Details").get_by_role("tab")
    expect(tabs).to_have_text(["Tasks", "Plan", "Files", "Usage"])
    tabs.first.focus()
    talk.page.keyboard.press("ArrowLeft")
    expect(tabs.last).to_be_focused()
    expect(tabs.last).to_have_attribute("aria-selected", "true")
    expect(talk.page.get_by_role("tabpanel", name="Usage")).to_be_visible()
    expect(talk.page.get_by_role("tabpanel", name="Tasks")).to_be_hidden()
    talk.again()
    expect(talk.page.get_by_role("tabpanel", name="Usage")).to_be_visible()


def test_light_and_dark_are_chosen_and_kept(talk: Talk, served: Server) -> None:
    page = talk.page
    page.goto(f"{served.url}/settings")
    page.get_by_role("button", name="Dark").click()
    for address in (f"{served.url}/settings", talk.address):
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(f"{served.url}/settings")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="As the system").click()
    page.reload()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
