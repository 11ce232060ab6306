"""A turn survives whatever becomes of a key, a server or a line, and the page says who answered and why."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, expect

from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, cut, fail, hold, say

LIMITED, BAD, GOOD = "sk-limited-0123456789ab", "sk-wrong-0123456789abcd", "sk-good-0123456789abcdef"
FRESH = "sk-fresh-0123456789abcde"
BUSY = fail(503, "Service Unavailable", retry_after=25)
"""Nobody waits for it by accident: each wait ends when the reader ends it."""


def started(server: Server) -> Server:
    server.start()
    return server


def add(server: Server, name: str, model: str, address: str, *keys: str, kind: str = "openai") -> None:
    source = {"kind": kind, "name": name, "base_url": address, "models": model, "key": keys[0]}
    server.post("/settings/models", **source)
    for key in keys[1:]:
        server.post(f"/settings/models/{name}/key", key=key)


def begun(page: Page, server: Server) -> Talk:
    return Talk(page, server.new_conversation()).opened()


def keys_of(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name=f"Keys of {name}").get_by_role("listitem")


def sent_with(llm: FakeLLM) -> list[str]:
    """The keys of all model calls, in order."""
    return [one["key"] for one in llm.requests() if one["method"] == "POST"]


def expect_reload_shows_the_same(talk: Talk) -> None:
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_of_three_keys_the_good_one_answers_and_the_others_rest_until_they_are_edited(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    llm.knows(keys={LIMITED: "limited:700", BAD: "bad", GOOD: "good", FRESH: "good"})
    add(started(server), "lab", "big", llm.base_url, LIMITED, BAD, GOOD)
    talk = begun(page, server)
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    assert sent_with(llm) == [LIMITED, BAD, GOOD]
    expect(talk.articles("user")).to_have_count(1)
    expect_reload_shows_the_same(talk)
    page.goto(server.at("/settings/models"))
    keys = keys_of(page, "lab")
    expect(keys.nth(0)).to_contain_text(re.compile(r"Resting until .*lab limits how much may be asked"))
    expect(keys.nth(1)).to_contain_text(re.compile(r"Resting until .*lab did not accept the key"))
    expect(keys.nth(2)).to_contain_text("answered last")
    page.get_by_role("button", name="Forget key 2 of lab").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(keys).to_have_count(2)
    page.get_by_text("Add another key").click()
    page.get_by_label("Key for lab").fill(FRESH)
    page.keyboard.press("Enter")
    expect(keys).to_have_count(3)
    expect(keys.filter(has_text="Resting")).to_have_count(1)
    talk.opened().say("Again")
    talk.expect_answer("You said: Again.")
    assert sent_with(llm)[3:] == [FRESH]


def test_after_the_first_word_nobody_else_is_asked_and_no_tool_runs_twice(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    add(started(server), "lab", "big", llm.base_url, LIMITED, GOOD)
    add(server, "spare", "small", llm.base_url, FRESH)
    (server.workspace / "tide.txt").write_text("High water is at noon.\n")
    read = say("I look.", calls=[call("read_file", {"path": "tide.txt"})])
    llm.script(read, cut(say("High water", " is at"), 1), say(" noon."))
    talk = begun(page, server)
    talk.say("When is high water?")
    expect(talk.button("Continue")).to_be_visible()
    expect(talk.answer).to_contain_text("High water")
    talk.expect_state("interrupted")
    assert len(sent_with(llm)) == 2
    talk.button("Continue").click()
    talk.expect_answer("noon.")
    expect(talk.articles("tool_call")).to_have_count(1)
    expect(talk.articles("user")).to_have_count(1)
    assert FRESH not in sent_with(llm)
    results = [one["content"] for one in llm.bodies()[-1]["messages"] if one["role"] == "tool"]
    assert len(results) == 1
    expect_reload_shows_the_same(talk)


def attempts(talk: Talk, count: int) -> None:
    """So many waits for a busy server, each ended by the reader; the number only goes up."""
    line = talk.articles("notice").last
    for attempt in range(2, count + 2):
        expect(line).to_contain_text(f"(attempt {attempt})")
        line.get_by_role("button", name="Try now").click()


def test_a_server_that_is_busy_four_times_is_asked_with_the_same_key_until_it_answers(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    add(started(server), "lab", "big", llm.base_url, LIMITED, GOOD)
    llm.script(*[BUSY] * 4, hold(say("At last."), 0))
    talk = begun(page, server)
    talk.say("Hello")
    attempts(talk, 4)
    llm.wait_held()
    llm.release()
    talk.expect_answer("At last.")
    assert sent_with(llm) == [LIMITED] * 5
    expect(talk.articles("notice")).to_have_count(1)
    expect_reload_shows_the_same(talk)


def test_where_a_server_stays_busy_the_next_group_answers_and_the_reply_says_so(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    add(started(server), "lab", "big", llm.base_url, LIMITED, GOOD)
    add(server, "spare", "small", llm.base_url, FRESH)
    llm.script(*[BUSY] * 6, model="big")
    talk = begun(page, server)
    talk.say("Hello")
    attempts(talk, 5)
    talk.expect_answer("You said: Hello.")
    expect(talk.articles("notice").last).to_have_text(
        re.compile(r"lab has too much to do at the moment\. spare/small goes on from here\.")
    )
    assert sent_with(llm) == [LIMITED] * 6 + [FRESH]
    expect_reload_shows_the_same(talk)


def choose(page: Page, model: str) -> None:
    page.get_by_role("combobox", name="Model").select_option(value=model)


def thoughts(body: dict[str, object]) -> list[dict[str, str]]:
    """The blocks of thinking in a request to Anthropic."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return [block for one in messages for block in one["content"] if block["type"] == "thinking"]


def test_a_model_gets_its_own_thinking_back_after_another_one_had_its_turn(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    add(started(server), "one", "claude-a", llm.base_url, GOOD, kind="anthropic")
    add(server, "two", "model-b", llm.base_url, GOOD)
    for model in ("one/claude-a", "two/model-b"):
        server.post("/settings/models/about", model=model, reasoning="yes")
    server.post("/settings/models/asking", **{"model.reasoning": "medium"})
    talk = begun(page, server)
    for model, answer, thought in (
        ("one/claude-a", "First.", "A thinks of it."),
        ("two/model-b", "Second.", "B thinks of it."),
        ("one/claude-a", "Third.", "A thinks again."),
    ):
        choose(page, model)
        llm.script(say(answer, reasoning=[thought]), model=model.partition("/")[2])
        talk.say(f"Now {model}")
        talk.expect_answer(answer)
    first, second, third = llm.bodies()
    assert ("thinking" in first, thoughts(first)) == (True, [])
    (own,) = thoughts(third)
    assert (own["thinking"], own["signature"] != "") == ("A thinks of it.", True)
    assert "thinks of it" not in json.dumps(second)
    assert "B thinks" not in json.dumps(third)
    assert llm.refusals() == []
    expect(talk.articles("notice")).to_have_count(0)
    expect_reload_shows_the_same(talk)
