"""Sources of models on the settings page: added by a form that can be tested, ordered, removed, found."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

KEY = "sk-a-key-of-a-story-0123456789"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Plancia without any model; its stories leave it so."""
    server = Server(tmp_path_factory.mktemp("bare"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def models(bare: Server, llm: FakeLLM, page: Page) -> Iterator[Page]:
    page.goto(bare.at("/settings/models"))
    yield page
    for name in ("lab", "first", "second"):
        bare.post(f"/settings/models/{name}/remove")


def form(page: Page) -> Locator:
    return page.get_by_role("form", name="Add a source")


def fill(page: Page, **fields: str) -> None:
    labels = {"name": "Name", "base_url": "Address", "models": "Models", "key": "Key"}
    for name, value in fields.items():
        form(page).get_by_label(labels[name], exact=False).first.fill(value)


def row(page: Page, name: str) -> Locator:
    """A source, with its keys."""
    sources = page.get_by_role("region", name="Where they come from")
    return sources.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name))


def order(page: Page) -> Locator:
    """The lines of the order in which models answer."""
    return page.get_by_role("region", name="Order").get_by_role("listitem")


def test_a_source_is_tested_saved_and_used(models: Page, bare: Server, llm: FakeLLM) -> None:
    llm.knows(models=["big", "small"], keys=[KEY])
    fill(models, name="lab", base_url=llm.base_url, key=KEY)
    form(models).get_by_role("button", name="Test").click()
    expect(form(models).get_by_role("status")).to_contain_text("2 models")
    expect(form(models).get_by_role("button", name="Test")).to_be_focused()
    form(models).get_by_role("button", name="Save").click()
    expect(row(models, "lab")).to_contain_text(llm.base_url)
    expect(models.get_by_text(KEY)).to_have_count(0)
    assert KEY not in models.content()
    talk = Talk(models, bare.new_conversation()).opened()
    picker = models.get_by_role("combobox", name="Model")
    picker.select_option(value="lab/small")
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    assert llm.bodies()[-1]["model"] == "small"


def test_a_wrong_key_is_said_by_the_test(models: Page, llm: FakeLLM) -> None:
    llm.knows(keys=["another"])
    fill(models, name="lab", base_url=llm.base_url, key=KEY)
    form(models).get_by_role("button", name="Test").click()
    expect(form(models).get_by_role("status")).to_contain_text("did not accept the key")
    expect(form(models).get_by_label("Address")).to_have_value(llm.base_url)


def test_a_source_that_names_no_model_is_saved_only_where_its_server_lists_some(
    models: Page, llm: FakeLLM
) -> None:
    llm.script({"body": {"object": "list", "data": []}}, path="/v1/models")
    fill(models, name="lab", base_url=llm.base_url)
    form(models).get_by_role("button", name="Save").click()
    field = form(models).get_by_label("Models")
    expect(field).to_have_accessible_description(
        "lab lists no models. To save it all the same, name its models here."
    )
    field.fill("my-model")
    form(models).get_by_role("button", name="Save").click()
    expect(row(models, "lab")).to_contain_text("my-model")


def test_a_key_that_is_missing_is_asked_for_in_its_field(models: Page, llm: FakeLLM) -> None:
    llm.knows(models=["big"], keys=[KEY])
    fill(models, name="lab", base_url=llm.base_url)
    form(models).get_by_role("button", name="Save").click()
    expect(form(models).get_by_label("Key").first).to_have_accessible_description(re.compile("wants a key"))
    fill(models, key=KEY)
    form(models).get_by_role("button", name="Save").click()
    expect(row(models, "lab").get_by_role("list", name="Keys of lab")).to_contain_text("ends in 6789")


def test_what_is_waited_for_is_said_and_why_it_takes_long(models: Page, llm: FakeLLM) -> None:
    llm.script(hold(say("."), 0), path="/v1/models")
    fill(models, name="lab", base_url=llm.base_url)
    form(models).get_by_role("button", name="Test").click()
    expect(form(models).get_by_text("Asking the server…")).to_be_visible()
    expect(form(models).get_by_text("litellm is loaded")).to_be_hidden()
    form(models).get_by_label("Kind").select_option("litellm")
    expect(form(models).get_by_text("litellm is loaded")).to_be_visible()
    llm.release()
    expect(form(models).get_by_text("Asking the server…")).to_be_hidden()


def test_a_source_is_edited_with_the_keyboard_and_keeps_its_key(models: Page, llm: FakeLLM) -> None:
    llm.knows(models=["big", "small"], keys=[KEY])
    fill(models, name="lab", base_url=llm.base_url, key=KEY)
    form(models).get_by_role("button", name="Save").click()
    models.get_by_role("link", name="Edit lab").press("Enter")
    edit = models.get_by_role("form", name="Edit lab")
    expect(edit.get_by_label("Address")).to_have_value(llm.base_url)
    expect(edit.get_by_label("Key").first).to_have_value("")
    expect(edit.get_by_label("Key").first).to_have_accessible_description(re.compile("keep the stored key"))
    edit.get_by_role("button", name="Test").press("Enter")
    expect(edit.get_by_role("status")).to_contain_text("2 models")
    edit.get_by_label("Models").fill("small")
    models.keyboard.press("Enter")
    expect(row(models, "lab")).to_contain_text("small")
    row(models, "lab").get_by_role("button", name="Test").press("Enter")
    expect(row(models, "lab").get_by_role("status")).to_contain_text("2 models")
    expect(row(models, "lab").get_by_role("button", name="Test")).to_be_focused()


def test_a_stored_key_does_not_go_to_another_host(models: Page, llm: FakeLLM) -> None:
    fill(models, name="lab", base_url=llm.base_url, key=KEY, models="big")
    form(models).get_by_role("button", name="Save").click()
    models.get_by_role("link", name="Edit lab").click()
    edit = models.get_by_role("form", name="Edit lab")
    edit.get_by_label("Address").fill(llm.base_url.replace("127.0.0.1", "localhost"))
    for button in ("Test", "Save"):
        edit.get_by_role("button", name=button).click()
        key = edit.get_by_label("Key").first
        expect(key).to_have_accessible_description(re.compile("given for another address"))
    assert llm.requests() == []
    key.fill(KEY)
    edit.get_by_role("button", name="Save").click()
    expect(row(models, "lab")).to_contain_text("localhost")


def test_an_address_where_nothing_answers_is_said_by_the_test(models: Page) -> None:
    fill(models, name="lab", base_url="http://127.0.0.1:9/v1")
    form(models).get_by_role("button", name="Test").click()
    expect(form(models).get_by_role("status")).to_contain_text("Nothing answers at 127.0.0.1:9")


def test_what_is_wrong_stands_under_its_field(models: Page) -> None:
    fill(models, name="Not A Name", base_url="http://127.0.0.1:9/v1")
    form(models).get_by_role("button", name="Save").click()
    name = form(models).get_by_label("Name")
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description(re.compile("small letters"))
    expect(form(models).get_by_label("Address")).to_have_value("http://127.0.0.1:9/v1")
    fill(models, name="lab", base_url="http://models.example/v1")
    form(models).get_by_role("button", name="Save").click()
    expect(form(models).get_by_role("checkbox", name="unencrypted")).to_be_focused()
    expect(name).not_to_have_attribute("aria-invalid", "true")


def test_sources_are_tested_and_removed(models: Page, llm: FakeLLM) -> None:
    for name in ("first", "second"):
        fill(models, name=name, base_url=llm.base_url)
        form(models).get_by_role("button", name="Save").click()
        expect(row(models, name)).to_be_visible()
    row(models, "second").get_by_role("button", name="Test").click()
    expect(row(models, "second").get_by_role("status")).to_be_visible()
    models.get_by_role("button", name="Remove first").click()
    question = models.get_by_role("dialog", name="Remove “first”?")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    models.keyboard.press("Escape")
    expect(question).to_be_hidden()
    expect(row(models, "first")).to_be_visible()
    models.get_by_role("button", name="Remove first").click()
    question.get_by_role("button", name="Remove").click()
    expect(row(models, "first")).to_have_count(0)
    expect(row(models, "second")).to_be_visible()


class Tags(BaseHTTPRequestHandler):
    """What an Ollama says of itself."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"models": [{"name": "llama:8b"}]}')

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def ollama() -> Iterator[str]:
    """The address of a server that answers as Ollama does when it is asked for its models."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Tags) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()


def test_a_server_of_this_computer_is_offered_and_used(server: Server, ollama: str, page: Page) -> None:
    server.settings = {"OLLAMA_HOST": ollama}
    page.goto(server.start())
    expect(page.get_by_text(f"answers on {ollama}, 1 model.")).to_be_visible()
    page.get_by_role("button", name="Use Ollama").click()
    expect(page.get_by_text("ollama/llama:8b is set up.")).to_be_visible()
    page.goto(f"{server.url}/settings/models")
    expect(row(page, "ollama")).to_contain_text("llama:8b")
    page.get_by_role("button", name="Look for them").click()
    expect(page.get_by_text("Nothing new was found.")).to_be_visible()
