"""Sources of models on the settings page: added by a form that can be tested, ordered, removed, found."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, fail, hold, say
from tests.fakes.pictures import png

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


@pytest.fixture
def stocked(bare: Server, llm: FakeLLM) -> Iterator[Server]:
    """A Plancia with two sources: three models of one and one of the other."""
    for name, offered in (("first", "big, small, third"), ("second", "other")):
        bare.post(
            "/settings/models", kind="openai", name=name, base_url=llm.base_url, models=offered, key=KEY
        )
    yield bare
    for name in ("first", "second", "many"):
        bare.post(f"/settings/models/{name}/remove")


def labels(page: Page) -> Locator:
    return order(page).get_by_role("heading")


def test_the_order_is_changed_by_keys_and_the_focus_goes_along(stocked: Server, page: Page) -> None:
    page.goto(stocked.at("/settings/models"))
    expect(labels(page)).to_have_text([re.compile(name) for name in ("big", "small", "third", "other")])
    up = page.get_by_role("button", name="Move second/other up")
    for number in (3, 2, 1):
        up.press("Enter")
        expect(page.get_by_text(f"second/other is number {number}.")).to_be_attached()
        expect(up).to_be_focused()
    expect(labels(page)).to_have_text([re.compile(name) for name in ("other", "big", "small", "third")])
    page.reload()
    expect(labels(page).first).to_contain_text("other")


def test_a_model_is_dragged_to_its_place(stocked: Server, page: Page) -> None:
    page.goto(stocked.at("/settings/models"))
    line = order(page).filter(has_text="other")
    line.get_by_title("Drag to another place").drag_to(
        order(page).filter(has_text="small"), target_position={"x": 40, "y": 5}
    )
    expect(labels(page)).to_have_text([re.compile(name) for name in ("big", "other", "small", "third")])
    line.get_by_title("Drag to another place").drag_to(
        order(page).filter(has_text="third"), target_position={"x": 40, "y": 40}
    )
    expect(labels(page)).to_have_text([re.compile(name) for name in ("big", "small", "third", "other")])


def test_without_script_the_order_is_changed_by_its_buttons(
    stocked: Server, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(stocked.at("/settings/models"))
    page.get_by_role("button", name="Move first/big down").click()
    expect(labels(page).first).to_contain_text("small")
    page.get_by_role("button", name="Take first/big out of the order").click()
    expect(order(page)).to_have_count(3)
    page.get_by_role("button", name="Put it last").click()
    expect(labels(page)).to_have_text([re.compile(name) for name in ("small", "third", "other", "big")])
    page.get_by_role("button", name="Test first/small").click()
    expect(order(page).filter(has_text="small")).to_contain_text("It took")


def test_keys_take_turns_and_one_that_rests_says_until_when_and_is_woken_by_a_test(
    stocked: Server, llm: FakeLLM, page: Page
) -> None:
    llm.knows(keys={KEY: "limited:700", "sk-another-key-of-a-story-99": "good"})
    page.goto(stocked.at("/settings/models"))
    row(page, "first").get_by_text("Add another key").click()
    row(page, "first").get_by_label("Key for first").fill("sk-another-key-of-a-story-99")
    page.keyboard.press("Enter")
    keys = row(page, "first").get_by_role("list", name="Keys of first").get_by_role("listitem")
    expect(keys).to_have_count(2)
    expect(row(page, "first").get_by_label("Key for first")).to_be_hidden()
    expect(row(page, "first").get_by_label("Key for first")).to_have_value("")
    expect(row(page, "first").locator("summary")).to_be_focused()
    talk = Talk(page, stocked.new_conversation()).opened()
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    page.goto(stocked.at("/settings/models"))
    expect(keys.nth(0)).to_contain_text("first limits how much may be asked in a short time.")
    expect(keys.nth(0).locator("[data-until]")).to_have_text(re.compile(r"^11:\d\d$"))
    expect(keys.nth(1)).to_contain_text("answered last")
    expect(order(page).first).to_contain_text("1 of 2 keys rests")
    before = keys.nth(0).locator("[data-until]").inner_text()
    expect(keys.nth(0).locator("[data-until]")).not_to_have_text(before)
    llm.knows(keys=[KEY, "sk-another-key-of-a-story-99"])
    page.get_by_role("button", name="Test first", exact=True).click()
    expect(row(page, "first").get_by_role("status")).to_contain_text("All 2 keys work.")
    expect(keys.nth(0)).not_to_contain_text("Resting")
    page.get_by_role("button", name="Forget key 2 of first").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(keys).to_have_count(1)
    assert "sk-another-key-of-a-story-99" not in page.content()


def test_what_is_said_of_a_model_is_used(stocked: Server, llm: FakeLLM, page: Page) -> None:
    page.goto(stocked.at("/settings/models"))
    page.get_by_role("link", name="Window, prices and abilities of first/big").click()
    page.get_by_label("Window").fill("64k")
    page.get_by_label("Sees pictures").select_option(label="No")
    page.get_by_role("button", name="Save").click()
    expect(order(page).first).to_contain_text("64k tokens.")
    (stocked.workspace / "chart.png").write_bytes(png(64, 32))
    llm.script(say("", calls=[call("read_file", {"path": "chart.png"})]), say("I was told of it."))
    talk = Talk(page, stocked.new_conversation()).opened()
    talk.say("Look at chart.png")
    talk.expect_answer("I was told of it.")
    assert "image_url" not in str(llm.bodies()[-1])
    assert "A picture stood here" in str(llm.bodies()[-1])


def test_one_of_many_models_is_found_by_its_name_and_counts_from_the_next_turn(
    stocked: Server, llm: FakeLLM, page: Page
) -> None:
    names = ", ".join(f"vendor/model-{number}b" for number in range(12))
    stocked.post("/settings/models", kind="openai", name="many", base_url=llm.base_url, models=names)
    llm.script(hold(say("Half ", "and whole."), 1))
    talk = Talk(page, stocked.new_conversation()).opened()
    talk.say("Hello")
    llm.wait_held()
    page.get_by_role("button", name="Find a model").press("Enter")
    page.keyboard.type("11b")
    expect(page.get_by_role("group", name="Models").get_by_role("button")).to_have_text(
        ["many/vendor/model-11b"]
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    picker = page.get_by_role("combobox", name="Model")
    expect(picker).to_have_value("many/vendor/model-11b")
    expect(picker).to_have_accessible_description("from the next turn")
    talk.again()
    expect(picker).to_have_accessible_description("from the next turn")
    llm.release()
    talk.expect_answer("Half and whole.")
    expect(picker).to_have_accessible_description("")
    talk.say("And now?")
    talk.expect_answer("You said: And now?.")
    assert [body["model"] for body in llm.bodies()] == ["big", "vendor/model-11b"]
    picker.select_option(value="")
    page.get_by_role("button", name="Find a model").click()
    page.keyboard.type("model-2b")
    page.keyboard.press("Enter")
    expect(picker).to_have_value("many/vendor/model-2b")


def pinned(page: Page, server: Server, model: str) -> Talk:
    """A conversation with one model alone."""
    talk = Talk(page, server.new_conversation()).opened()
    page.get_by_role("combobox", name="Model").select_option(value=model)
    talk.again()
    return talk


def test_where_one_model_cannot_the_next_goes_on_and_the_chat_says_why(
    stocked: Server, llm: FakeLLM, page: Page
) -> None:
    llm.script(fail(401, "Incorrect API key provided"), model="big")
    talk = Talk(page, stocked.new_conversation()).opened()
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    expect(talk.articles("notice")).to_have_text(
        [re.compile("first did not accept the key. second/other goes on from here.")]
    )
    shown = talk.shown()
    talk.again().expect_shows(shown)


def test_a_refused_key_leads_to_its_source_and_another_model_answers_in_its_place(
    stocked: Server, llm: FakeLLM, page: Page
) -> None:
    llm.script(fail(401, "Incorrect API key provided"), model="big")
    talk = pinned(page, stocked, "first/big")
    talk.say("Hello")
    trouble = talk.articles("error")
    expect(trouble.get_by_role("heading")).to_have_text("first did not accept the key")
    expect(trouble.get_by_role("link", name="Replace key")).to_have_attribute(
        "href", "/settings/models#of-first"
    )
    trouble.get_by_text("Details").click()
    expect(trouble.get_by_text("first/big")).to_be_visible()
    trouble.get_by_role("link", name="Use another model").click()
    picker = page.get_by_role("combobox", name="Model")
    expect(picker).to_be_focused()
    page.keyboard.press("Escape")
    picker.select_option(value="second/other")
    trouble.get_by_role("button", name="Retry").click()
    talk.expect_answer("You said: Hello.")
    expect(trouble.get_by_role("link", name="Replace key")).to_have_count(0)


def test_a_wait_counts_down_and_ends_when_the_reader_wants_it_now(
    stocked: Server, llm: FakeLLM, page: Page
) -> None:
    llm.script(fail(429, "Rate limit reached.", retry_after=60))
    talk = pinned(page, stocked, "first/big")
    talk.say("Hello")
    line = talk.articles("notice").last
    expect(line).to_contain_text("Trying again in")
    left = line.locator("[data-until]")
    expect(left).to_have_text(re.compile(r"^(0:\d\d|1:\d\d)$"))
    before = left.inner_text()
    expect(left).not_to_have_text(before)
    talk.again()
    expect(left).to_have_text(re.compile(r"^(0:\d\d|1:\d\d)$"))
    line.get_by_role("button", name="Try now").click()
    talk.expect_answer("You said: Hello.")
    expect(line.get_by_role("button")).to_have_count(0)


def test_a_budget_that_is_spent_stops_the_next_call_and_says_where_to_allow_more(
    stocked: Server, page: Page
) -> None:
    stocked.post("/settings/models/about", model="first/big", price_in="1000", price_out="1000")
    page.goto(stocked.at("/settings"))
    page.get_by_label("For one conversation").fill("0.01")
    page.get_by_role("region", name="Budget").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    talk = Talk(page, stocked.new_conversation()).opened()
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    page.get_by_role("tab", name="Usage").click()
    expect(page.get_by_role("tabpanel", name="Usage")).to_contain_text("of $0.01.")
    talk.say("And more")
    trouble = talk.articles("error")
    expect(trouble.get_by_role("heading")).to_contain_text("The budget of this conversation is spent")
    trouble.get_by_role("link", name="Change the budget").click()
    page.get_by_label("For one conversation").fill("")
    page.get_by_role("region", name="Budget").get_by_role("button", name="Save").click()
    talk.opened()
    trouble.get_by_role("button", name="Retry").click()
    talk.expect_answer("You said: And more.")
