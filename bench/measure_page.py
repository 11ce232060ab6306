"""The page in a real Chromium: how old a word is when it is seen, what a first load weighs, what memory grows by."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, Response, expect, sync_playwright

from bench.figure import Figure
from bench.measure_start import resident
from e2e.chromium import ARGUMENTS, find_chromium
from e2e.server import Server

TICKS = 2000
MODEL = "openai/ticker"

WATCH = """
() => {
  window.lags = [];
  let seen = 0;
  const look = () => {
    const texts = document.querySelectorAll('[data-kind=assistant] [data-part=text]');
    if (texts.length) {
      const text = texts[texts.length - 1].textContent;
      const now = Date.now();
      for (const word of text.slice(seen).matchAll(/\\d{13}/g)) window.lags.push(now - Number(word[0]));
      const last = text.lastIndexOf(' ') > text.lastIndexOf('\\n') ? text.lastIndexOf(' ') : text.lastIndexOf('\\n');
      seen = Math.max(seen, last + 1);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
"""


def measure() -> Iterator[Figure]:
    with TemporaryDirectory() as folder, ticker() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        server = Server(Path(folder))
        server.settings = {"OPENAI_API_KEY": "sk", "OPENAI_BASE_URL": url, "PLANCIA_MODEL": MODEL}
        login = server.start()
        try:
            page = browser.new_page()
            yield from first_load(page, login)
            paced = talk(page, server.url, f"ticks={TICKS} every_ms=5")
            yield from lags(paced)
            burst = talk(page, server.url, f"ticks={TICKS} every_ms=0")
            yield Figure("a burst of 2,000 tokens until all of it is seen", max(burst) / 1000, "s", 0.4)
            before = resident(server.pid)
            for _ in range(10):
                talk(page, server.url, "ticks=200 every_ms=0")
            after = resident(server.pid)
            yield Figure(
                "memory that ten more conversations add", after - before, "MB", 3, f"to {after:.0f} MB"
            )
        finally:
            server.stop()


def first_load(page: Page, login: str) -> Iterator[Figure]:
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(login)
    page.wait_for_load_state("load")
    answers = [answer for answer in answers if answer.status == 200]
    sizes = [answer.request.sizes() for answer in answers]
    weight = sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) / 1000
    yield Figure("first load on the wire", weight, "kB", 120)
    yield Figure("requests of a first load", len(answers), "", 10)


def talk(page: Page, url: str, text: str) -> list[int]:
    """One answer in a new conversation; how old each word was when it was first seen, in milliseconds."""
    page.goto(f"{url}/welcome")
    page.get_by_label("Nothing yet").check()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("textbox", name="Message").fill(text)
    page.evaluate(WATCH)
    page.keyboard.press("Enter")
    expect(page.locator("[data-kind=assistant][data-state=done]")).to_be_visible(timeout=120_000)
    found: list[int] = page.evaluate("() => window.lags")
    return found


def lags(paced: list[int]) -> Iterator[Figure]:
    quarter = len(paced) // 4
    growth = median(paced[-quarter:]) / median(paced[:quarter])
    raw = f"of {len(paced)} words"
    yield Figure("chunk to visible page at 200 tokens/s, median", median(paced), "ms", 35, raw)
    yield Figure("the same, 99 %", quantiles(paced, n=100)[98], "ms", 80)
    yield Figure("last quarter against the first", growth, "×", 1.3)


@contextmanager
def ticker() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.ticker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().decode().strip()
        process.stdin.close()
