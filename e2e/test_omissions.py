"""What a model did not get of a conversation is said in it, in one quiet line."""

from __future__ import annotations

from playwright.sync_api import expect

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
