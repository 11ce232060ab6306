"""One conversation as a reader has it open: its parts by the names that people and screen readers know them by."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, TimeoutError, expect

SHOWN = (Path(__file__).parent / "shown.js").read_text(encoding="utf-8")


class Talk:
    """A page on one conversation. ``opened`` loads it; ``address`` is where a second page finds the same one."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def opened(self) -> Self:
        self.page.goto(self.address)
        expect(self.log).to_be_visible()
        return self

    def again(self) -> Self:
        """Loaded anew."""
        self.page.reload()
        return self

    @property
    def path(self) -> str:
        return urlsplit(self.address).path

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def queue(self) -> Locator:
        return self.page.get_by_role("region", name="Queue").get_by_role("listitem")

    @property
    def answer(self) -> Locator:
        """The newest thing that a member said."""
        return self.articles("assistant").last

    @property
    def reconnecting(self) -> Locator:
        return self.page.get_by_role("status", name="Reconnecting…")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def articles(self, kind: str) -> Locator:
        return self.log.locator(f"article[data-kind={kind}]")

    def attach(self, *files: tuple[str, bytes]) -> None:
        """Pick files; returns when they are there."""
        with self.page.expect_file_chooser() as chooser:
            self.button("Attach files").click()
        kind = "application/octet-stream"
        chooser.value.set_files([{"name": name, "mimeType": kind, "buffer": data} for name, data in files])
        expect(self.page.locator("#chips [data-uploading]")).to_have_count(0)

    def say(self, text: str, key: str = "Enter") -> None:
        self.box.fill(text)
        self.box.press(key)

    def expect_state(self, state: str) -> None:
        """How the newest answer stands."""
        expect(self.answer).to_have_attribute("data-state", state)

    def expect_answer(self, text: str) -> None:
        """The newest answer is whole and says just that."""
        expect(self.answer.locator("[data-part=text]")).to_have_text(text)
        self.expect_state("done")
        expect(self.button("Send")).to_be_visible()

    def shown(self) -> str:
        shown: str = self.page.evaluate(SHOWN)
        return shown

    def expect_same_as(self, other: Talk) -> None:
        """Both pages come to show the same, and say so letter by letter."""
        self.expect_shows(other.shown())

    def expect_shows(self, wanted: str) -> None:
        try:
            self.page.wait_for_function(f"(wanted) => ({SHOWN})() === wanted", arg=wanted, timeout=5_000)
        except TimeoutError:
            difference = difflib.unified_diff(
                wanted.split("\n"), self.shown().split("\n"), "wanted", "shown", n=1
            )
            raise AssertionError("\n".join(difference)) from None
