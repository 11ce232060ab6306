"""What a model did not get of a conversation is said in it, in one quiet line."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, fail, say
from tests.fakes.pictures import png


def test_pictures_that_a_server_refuses_are_missed_in_words(talk: Talk, llm: FakeLLM, served: Server) -> None:
    (served.workspace / "harbour.png").write_bytes(png(120, 80))
    look = say("", calls=[call("read_file", {"path": "harbour.png"})])
    llm.script(look, fail(400, "image_url is not supported by this model"), say("I see a name only."))
    talk.say("What is in harbour.png?")
    talk.expect_answer("I see a name only.")
    line = talk.articles("notice")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("is sent this conversation without the pictures")
    expect(line).to_contain_text("Choose a model that sees")
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_beginning_that_a_server_dropped_is_told_with_the_way_out(
    server: Server, llm: FakeLLM, page: Page
) -> None:
    server.settings = {"OLLAMA_HOST": llm.url, "PLANCIA_MODEL": "ollama/fake-model"}
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    llm.script({"body": {"models": [{"name": "fake-model", "context_length": 4_096}]}}, path="/ps")
    llm.script(say("I see the end of a table.", usage=(2_051, 9)))
    talk.say("The tide turns at noon, and again at midnight. " * 800)
    talk.expect_answer("I see the end of a table.")
    line = talk.articles("notice")
    expect(line).to_contain_text("ollama/fake-model read only 2,051 of about")
    expect(line).to_contain_text("its server holds 4,096 and dropped the beginning")
    shown = talk.shown()
    talk.again().expect_shows(shown)
