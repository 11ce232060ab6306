"""What a turn did to files is seen in the Files tab and taken back there: by mouse, by keys, and without script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from e2e.test_access import AXE as AXE_SOURCE
from e2e.test_access import FIND_BARRIERS, RULES, SIDEWAYS
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say

BEFORE = "# Notes\n\nFirst.\nSecond.\nThird.\n"


@pytest.fixture
def notes(served: Server) -> Iterator[Path]:
    path = served.workspace / "notes.md"
    path.write_text(BEFORE)
    yield path
    path.unlink(missing_ok=True)
    (served.workspace / "plan.md").unlink(missing_ok=True)


@pytest.fixture
def changed(talk: Talk, llm: FakeLLM, notes: Path) -> Talk:
    """A turn has edited the notes and written a plan."""
    edit = {"path": "notes.md", "old_string": "Second.", "new_string": "Second, and better."}
    llm.script(
        say("", calls=[call("read_file", {"path": "notes.md"})]),
        say(
            "",
            calls=[
                call("edit_file", edit),
                call("write_file", {"path": "plan.md", "content": "One.\nTwo.\n"}),
            ],
        ),
        say("Done."),
    )
    talk.say("Improve the notes.")
    talk.expect_answer("Done.")
    talk.page.get_by_role("tab", name="Files").click()
    return talk


def files(talk: Talk) -> Locator:
    return talk.page.get_by_role("tabpanel", name="Files")


def confirm(page: Page) -> None:
    page.get_by_role("dialog").get_by_role("button", name="Undo", exact=True).click()


def assert_no_barrier(page: Page, where: str) -> None:
    page.evaluate(AXE_SOURCE)
    size = page.viewport_size
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 2_600})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(FIND_BARRIERS, RULES) == [], f"{where}, {scheme}, {width}"
        assert page.evaluate(SIDEWAYS) == [], f"{where}, {width}"
    if size:
        page.set_viewport_size(size)


def test_before_any_change_the_tab_says_so(talk: Talk) -> None:
    talk.page.get_by_role("tab", name="Files").click()
    expect(files(talk)).to_contain_text("No file has been changed yet")


def test_a_turn_is_looked_at_undone_and_the_undo_undone(changed: Talk, notes: Path) -> None:
    page, tab = changed.page, files(changed)
    expect(tab).to_contain_text("Improve the notes.")
    expect(tab.get_by_role("link", name="notes.md")).to_contain_text("+1 −1")
    expect(tab.get_by_role("link", name="plan.md")).to_contain_text("+2 new")
    tab.get_by_role("link", name="notes.md").click()
    diff = tab.get_by_role("group", name="Changes in notes.md")
    expect(diff).to_be_focused()
    expect(diff.locator("del")).to_have_text("Second.")
    expect(diff.locator("ins")).to_have_text("Second, and better.")
    assert_no_barrier(page, "diff")
    notes.write_text(notes.read_text() + "Mine.\n")
    tab.get_by_role("button", name="Undo turn").click()
    expect(page.get_by_role("dialog")).to_contain_text("2 files become again what stood there before it.")
    confirm(page)
    expect(tab.get_by_role("status")).to_contain_text("Undone: 2 files.")
    expect(tab).to_contain_text("undone at")
    expect(tab.get_by_role("heading", name="Restore of")).to_be_visible()
    assert notes.read_text() == BEFORE + "Mine.\n"
    assert not (notes.parent / "plan.md").exists()
    notice = changed.articles("notice")
    expect(notice).to_contain_text("You took back the turn of")
    assert_no_barrier(page, "undone")
    notice.get_by_role("button", name="Undo this").click()
    expect(changed.articles("notice")).to_have_count(2)
    assert notes.read_text() == BEFORE.replace("Second.", "Second, and better.") + "Mine.\n"


def test_a_page_that_is_loaded_anew_shows_the_same(changed: Talk, second: Talk) -> None:
    second.opened().page.get_by_role("tab", name="Files").click()
    expect(files(second)).to_contain_text("Improve the notes.")
    changed.expect_same_as(second)


def test_one_file_is_undone_by_keys_alone(changed: Talk, notes: Path) -> None:
    page, tab = changed.page, files(changed)
    tab.get_by_role("link", name="notes.md").focus()
    page.keyboard.press("Enter")
    expect(tab.get_by_role("group", name="Changes in notes.md")).to_be_focused()
    page.keyboard.press("Tab")
    expect(tab.get_by_role("button", name="Undo file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    done = tab.get_by_role("status")
    expect(done).to_contain_text("Undone: 1 file.")
    expect(done).to_be_focused()
    assert notes.read_text() == BEFORE
    assert (notes.parent / "plan.md").exists()


def test_escape_undoes_nothing(changed: Talk, notes: Path) -> None:
    files(changed).get_by_role("button", name="Undo turn").click()
    changed.page.keyboard.press("Escape")
    expect(changed.page.get_by_role("dialog")).to_be_hidden()
    assert "better" in notes.read_text()


def test_what_was_changed_on_both_sides_is_asked_about(changed: Talk, notes: Path) -> None:
    page, tab = changed.page, files(changed)
    notes.write_text(BEFORE.replace("Second.", "Mine."))
    tab.get_by_role("button", name="Undo turn").click()
    confirm(page)
    form = tab.get_by_role("form", name="You changed this file as well")
    expect(form.get_by_role("radio", name="Keep mine")).to_be_checked()
    form.get_by_text("What is different").click()
    expect(form.locator("del")).to_have_text("Second.")
    expect(form.locator("ins")).to_have_text("Mine.")
    assert_no_barrier(page, "conflict")
    assert (notes.parent / "plan.md").exists()
    form.get_by_role("radio", name="Bring back what was there before").check()
    form.get_by_role("button", name="Undo", exact=True).click()
    expect(tab.get_by_role("status")).to_contain_text("Undone: 2 files.")
    assert notes.read_text() == BEFORE


def test_the_page_of_a_turn_has_no_barrier(changed: Talk) -> None:
    files(changed).get_by_role("link", name="Details").click()
    page = changed.page
    expect(page.get_by_role("heading", name="Turn of")).to_be_visible()
    expect(page.get_by_role("button", name="Undo step")).to_have_count(2)
    page.get_by_role("link", name="notes.md").click()
    expect(page.get_by_role("group", name="Changes in notes.md")).to_be_visible()
    page.get_by_role("link", name="What would undoing it change now?").click()
    expect(page.get_by_text("Undoing it now would change 2 paths.")).to_be_visible()
    assert_no_barrier(page, "page")


def test_without_script_it_is_undone_by_forms(changed: Talk, new_context: NewContext, notes: Path) -> None:
    plain = Talk(new_context(java_script_enabled=False).new_page(), changed.address).opened()
    page = plain.page
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("link", name="notes.md").click()
    expect(page.get_by_role("group", name="Changes in notes.md")).to_be_visible()
    page.get_by_role("button", name="Undo turn").click()
    expect(page.get_by_role("status")).to_contain_text("Undone.")
    assert notes.read_text() == BEFORE
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Restore of")).to_be_visible()
    assert "better" in notes.read_text()
    page.get_by_role("link", name="Back to the conversation").click()
    expect(plain.articles("notice")).to_have_count(2)


def test_the_demo_model_writes_a_note_that_can_be_taken_back(server: Server, page: Page) -> None:
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    talk.say("Show me around.")
    expect(talk.button("Send")).to_be_visible()
    talk.page.get_by_role("tab", name="Files").click()
    expect(files(talk).get_by_role("link", name="plancia-tour.md")).to_be_visible(timeout=30_000)
    expect(talk.button("Stop")).to_be_hidden(timeout=30_000)
    assert (server.workspace / "plancia-tour.md").exists()
    turn = files(talk).locator("section.deed").filter(has_text="plancia-tour.md")
    turn.get_by_role("button", name="Undo turn").click()
    confirm(page)
    expect(files(talk).get_by_role("status")).to_contain_text("Undone: 1 file.")
    assert not (server.workspace / "plancia-tour.md").exists()
