"""What a reader sees when a model does not answer: plain words, the next step, and a Retry that works."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.conftest import with_model
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, cut, fail, hold, say

NOT_FOR_PEOPLE = re.compile(r"Traceback|Error\b|Exception|\{|httpx|None|null", re.IGNORECASE)


def trouble(talk: Talk) -> Locator:
    return talk.articles("error").last


def expect_trouble(talk: Talk, words: str) -> None:
    """One failed article in plain words with a way on; the message box is free again."""
    expect(trouble(talk)).to_contain_text(re.compile(words, re.IGNORECASE))
    expect(trouble(talk)).to_have_attribute("data-state", "failed")
    expect(trouble(talk).get_by_role("button", name="Retry")).to_be_visible()
    expect(talk.button("Send")).to_be_visible()
    heading = trouble(talk).get_by_role("heading").inner_text()
    assert not NOT_FOR_PEOPLE.search(heading), heading


def expect_retry_works(talk: Talk, llm: FakeLLM) -> None:
    llm.script(say("All is well."))
    trouble(talk).get_by_role("button", name="Retry").click()
    talk.expect_answer("All is well.")
    expect(talk.button("Retry")).to_have_count(0)
    expect(talk.articles("user")).to_have_count(1)
    shown = talk.shown()
    talk.again().expect_shows(shown)


FINAL = {
    "wrong-key": (
        fail(401, "Incorrect API key provided.", code="invalid_api_key"),
        "openai did not accept the key",
    ),
    "unknown-model": (
        fail(404, "The model `fake-model` does not exist", code="model_not_found"),
        "has no model|does not know the model|no model",
    ),
    "no-credit": (fail(402, "Insufficient balance", code="insufficient_quota"), "credit|balance|paid"),
    "policy": (
        fail(400, "Rejected by our safety system", code="content_policy_violation"),
        "rules on content",
    ),
}


@pytest.mark.parametrize(("answer", "words"), FINAL.values(), ids=FINAL)
def test_a_final_failure_is_said_at_once(talk: Talk, llm: FakeLLM, answer: Answer, words: str) -> None:
    llm.script(answer)
    talk.say("Hello?")
    expect_trouble(talk, words)
    expect(talk.articles("notice")).to_have_count(0)
    expect_retry_works(talk, llm)


def test_a_wrong_key_leads_to_the_settings(talk: Talk, llm: FakeLLM) -> None:
    llm.script(fail(401, "Incorrect API key provided.", code="invalid_api_key"))
    talk.say("Hello?")
    trouble(talk).get_by_role("link", name="Replace key").click()
    expect(talk.page.get_by_role("heading", name="Add a source")).to_be_visible()


def test_empty_answers_are_never_a_success(talk: Talk, llm: FakeLLM) -> None:
    llm.always(say())
    talk.say("Hello?")
    expect_trouble(talk, "answered without any text")
    expect_retry_works(talk, llm)


def test_a_server_that_cannot_be_reached_is_named(server: Server, llm: FakeLLM, page: Page) -> None:
    server.settings = with_model(llm) | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    talk.say("Hello?")
    expect_trouble(talk, "Nothing answers at 127.0.0.1:9")


def test_an_answer_that_breaks_off_is_kept_and_continued(talk: Talk, llm: FakeLLM) -> None:
    llm.script(cut(say("The beginning of", " a sentence"), 1), say(" a sentence and its end."))
    talk.say("Tell me.")
    expect(talk.button("Continue")).to_be_visible()
    expect(talk.articles("assistant").first).to_have_attribute("data-state", "interrupted")
    expect(talk.articles("assistant").first).to_contain_text("The beginning of")
    talk.button("Continue").click()
    talk.expect_answer("a sentence and its end.")


def test_a_rate_limit_shows_one_line_that_counts_up(talk: Talk, llm: FakeLLM) -> None:
    limited = fail(429, "Rate limit reached for requests", headers={"retry-after-ms": "20"})
    llm.script(limited, limited, hold(say("Through at last."), 0))
    talk.say("Hello?")
    llm.wait_held()
    expect(talk.articles("notice")).to_have_count(1)
    expect(talk.articles("notice")).to_contain_text("limit")
    expect(talk.articles("notice")).to_contain_text("attempt 3")
    llm.release()
    talk.expect_answer("Through at last.")
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_an_error_names_who_else_rests_and_until_when_and_never_a_key(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    broke, limited, bad = "sk-broke-0123456789abcd", "sk-limited-0123456789ab", "sk-wrong-0123456789abcd"
    llm.knows(keys={broke: "broke", limited: "limited:700", bad: "bad"})
    server.start()
    for name, model, key in (("lab", "big", broke), ("spare", "small", bad)):
        source = {"kind": "openai", "name": name, "base_url": llm.base_url, "models": model, "key": key}
        server.post("/settings/models", **source)
    server.post("/settings/models/lab/key", key=limited)
    talk = Talk(page, server.new_conversation()).opened()
    talk.say("Hello?")
    expect_trouble(talk, "spare did not accept the key")
    named = trouble(talk).get_by_role("listitem")
    expect(named).to_have_text(
        [
            re.compile(r"^lab/big: key 1 has no credit left, rests until \d\d:\d\d$"),
            re.compile(r"^lab/big: key 2 was asked too much in a short time, rests until \d\d:\d\d$"),
        ]
    )
    assert not any(key in page.content() for key in (broke, limited, bad))
    shown = talk.shown()
    talk.again().expect_shows(shown)
