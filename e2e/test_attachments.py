"""Files with a message: picked, dropped and pasted, taken away again, sent, and seen the same live and loaded anew."""

from __future__ import annotations

import base64
import json

from playwright.sync_api import FilePayload, Locator, expect

from e2e.conftest import NewContext
from e2e.talk import Talk
from e2e.watch import Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAFElEQVR4nGNkaGhgwAaYsIrSSQIAl5oBDCp8u/sAAAAASUVORK5CYII="
)

BRING = """([kind, name, data]) => {
  const brought = new DataTransfer();
  brought.items.add(new File([Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))], name));
  const box = document.getElementById("message");
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: brought, bubbles: true, cancelable: true })
    : new DragEvent(kind, { dataTransfer: brought, bubbles: true, cancelable: true });
  return box.dispatchEvent(event);
}"""
"""What a browser does when a file is dropped on the page, or a picture is pasted."""


def chips(talk: Talk) -> Locator:
    return talk.page.locator("#chips .chip")


def files(talk: Talk) -> Locator:
    return talk.articles("user").last.get_by_role("list", name="Attached files").get_by_role("listitem")


def test_files_are_picked_taken_away_kept_over_a_reload_and_sent(
    talk: Talk, second: Talk, llm: FakeLLM
) -> None:
    second.opened()
    llm.script(say("Two lines."))
    talk.attach(("nightly.log", b"two lines"), ("notes.md", b"# Notes"), ("empty.txt", b""))
    expect(chips(talk)).to_contain_text(["nightly.log 9 bytes", "notes.md 7 bytes", "empty.txt is empty"])
    talk.button("Remove this note").click()
    talk.button("Remove notes.md").focus()
    talk.page.keyboard.press("Enter")
    expect(chips(talk)).to_have_count(1)
    expect(talk.button("Remove nightly.log")).to_be_focused()
    talk.box.fill("What failed?")
    talk.again()
    expect(chips(talk)).to_contain_text(["nightly.log 9 bytes"])
    talk.box.press("Enter")
    talk.expect_answer("Two lines.")
    expect(chips(talk)).to_have_count(0)
    expect(files(talk)).to_contain_text(["nightly.log 9 bytes"])
    talk.expect_same_as(second)
    for page in (talk.page, second.page):
        page.get_by_role("tab", name="Files").click()
        expect(page.get_by_role("region", name="Attached by you")).to_contain_text("nightly.log")
    assert "nightly.log (" in json.dumps(llm.bodies()[0])
    with talk.page.expect_download() as saved:
        files(talk).get_by_role("link").click()
    assert saved.value.suggested_filename == "nightly.log"
    assert saved.value.path().read_text() == "two lines"
    talk.again()
    expect(chips(talk)).to_have_count(0)
    talk.expect_same_as(second)


def test_a_pasted_picture_is_seen_by_the_model_and_by_the_reader(talk: Talk, llm: FakeLLM) -> None:
    taken = talk.page.evaluate(BRING, ["paste", "image.png", base64.b64encode(PICTURE).decode()])
    assert taken is False
    llm.script(say("Teal."))
    talk.say("What is this?")
    talk.expect_answer("Teal.")
    picture = files(talk).get_by_role("img", name="Picture image.png")
    expect(picture).to_be_visible()
    talk.page.wait_for_function(
        "() => document.querySelector('.files img').complete && document.querySelector('.files img').naturalWidth === 8"
    )
    parts = llm.bodies()[0]["messages"][-1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url"]


def test_a_file_dropped_while_a_run_is_live_waits_with_its_message(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Begun ", "and ended."), 1), say("Read."))
    talk.say("Begin.")
    llm.wait_held()
    dropped = ["outline.md", base64.b64encode(b"# One").decode()]
    talk.page.evaluate(BRING, ["dragover", *dropped])
    expect(talk.page.locator("#composer.dropping")).to_be_visible()
    talk.page.evaluate(BRING, ["drop", *dropped])
    expect(talk.page.locator("#composer.dropping")).to_have_count(0)
    expect(chips(talk)).to_contain_text(["outline.md 5 bytes"])
    talk.box.press("Control+Enter")
    expect(talk.queue).to_contain_text("outline.md")
    llm.release()
    talk.expect_answer("Read.")
    expect(files(talk)).to_contain_text(["outline.md 5 bytes"])


def test_too_big_a_file_is_told_of_and_nothing_else_is_lost(talk: Talk) -> None:
    talk.attach(("notes.md", b"# Notes"))
    talk.box.fill("Both of them")
    talk.page.evaluate("document.getElementById('composer').dataset.largest = 10")
    talk.attach(("big.txt", b"more than ten signs"), ("small.txt", b"few"))
    expect(chips(talk)).to_contain_text(["notes.md 7 bytes", "big.txt is", "small.txt 3 bytes"])
    expect(talk.box).to_have_value("Both of them")
    talk.box.press("Enter")
    expect(files(talk)).to_contain_text(["notes.md 7 bytes", "small.txt 3 bytes"])


def test_without_script_files_go_with_the_form(
    conversation: str, new_context: NewContext, watch: Watch
) -> None:
    plain = Talk(new_context(java_script_enabled=False).new_page(), conversation).opened()
    kind = "text/plain"
    chosen: list[FilePayload] = [
        {"name": "a.txt", "mimeType": kind, "buffer": b"first"},
        {"name": "b.txt", "mimeType": kind, "buffer": b""},
    ]
    plain.button("Attach files").set_input_files(chosen)
    plain.box.fill("Compare them.")
    watch.allow("status of 422")
    with plain.page.expect_navigation():
        plain.button("Send").click()
    expect(chips(plain)).to_contain_text(["a.txt 5 bytes", "b.txt is empty"])
    expect(plain.box).to_have_value("Compare them.")
    with plain.page.expect_navigation():
        plain.button("Send").click()
    plain.again()
    expect(files(plain)).to_contain_text(["a.txt 5 bytes"])
