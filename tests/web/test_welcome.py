"""The guide of the first run: what it offers, and that what goes wrong in it is said in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.web.welcome import FIRST_TASK
from app.workspace.model_sources import list_sources
from app.workspace.settings import set_setting
from tests.fakes.llm_client import FakeLLM
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.pages import HTMX, Open, open_page
from tests.web.tree import Element

pytestmark = pytest.mark.anyio

HERE = "/welcome"
KEY = "sk-proj-0123456789abcdef"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path, OLLAMA_HOST="127.0.0.1:9") as opened:
        yield opened


def guide(got: Got) -> Element:
    page = LivePage.parsed(got.text)
    assert page.all("h1")[0].text == "Welcome aboard"
    assert page.find("rail") is None
    return page


def source_form(page: Element) -> Element:
    return next(each for each in page.all("form") if each.attributes.get("aria-label") == "Add a source")


def named(page: Element, name: str) -> Element:
    return next(each for each in page.walk() if each.attributes.get("name") == name)


async def test_the_first_page_is_the_guide(opened: Open) -> None:
    got = await opened.browser.get("/")
    assert (got.status, got.header("location")) == (303, HERE)
    page = guide(await opened.browser.follow(got))
    assert page.find("workspace") is not None
    assert named(page, "workspace").attributes["value"] == str(opened.workspace)
    assert [each.attributes["value"] for each in page.all("input") if "checked" in each.attributes] == [
        FIRST_TASK
    ]
    assert "Try without a key" in page.text


async def test_the_demo_begins_with_one_button(opened: Open) -> None:
    page = guide(await opened.browser.get(HERE))
    button = next(each for each in page.all("button") if each.text == "Try without a key")
    form = next(each for each in page.all("form") if each.attributes.get("id") == button.attributes["form"])
    chosen = (
        each
        for each in form.all("input")
        if each.attributes.get("type") != "radio" or "checked" in each.attributes
    )
    fields = {each.attributes["name"]: each.attributes["value"] for each in chosen}
    got = await opened.browser.post(form.attributes["action"], fields)
    talk = LivePage((await opened.browser.follow(got)).text)
    assert talk.element("title").text == "Show me around"
    assert "Demo model: scripted, not an AI" in talk.element("model-picker").text


async def test_a_key_of_the_environment_is_ready(tmp_path: Path) -> None:
    async with open_page(tmp_path, OPENAI_API_KEY=KEY, PLANCIA_MODEL="openai/gpt-x") as opened:
        page = guide(await opened.browser.get(HERE))
        assert "openai/gpt-x is set up." in page.text
        assert "Try without a key" not in page.text
        assert KEY not in page.text


async def test_a_source_is_added_in_the_guide_and_it_goes_on_there(opened: Open, llm: FakeLLM) -> None:
    llm.knows(models=["big"], keys=[KEY])
    form = source_form(guide(await opened.browser.get(HERE)))
    assert form.attributes["action"] == form.attributes["hx-post"] == HERE
    fields = {"kind": "openai", "name": "lab", "base_url": llm.base_url, "key": KEY}
    page = guide(await opened.browser.post(HERE, {**fields, "act": "test"}))
    assert "lab answers and lists 1 model." in page.text
    assert "open" in page.all("details")[0].attributes
    assert source_form(page).attributes["action"] == HERE
    got = await opened.browser.post(HERE, {**fields, "act": "save"})
    assert (got.status, got.header("location")) == (303, HERE)
    assert "lab/big is set up." in guide(await opened.browser.follow(got)).text


async def test_with_script_the_form_alone_is_put_in_its_place(opened: Open, llm: FakeLLM) -> None:
    llm.knows(models=["big"], keys=[KEY])
    fields = {"kind": "openai", "name": "lab", "base_url": llm.base_url, "key": KEY}
    got = await opened.browser.post(HERE, {**fields, "act": "test"}, HTMX)
    assert "<html" not in got.text
    assert source_form(LivePage.parsed(got.text)).attributes["action"] == HERE
    got = await opened.browser.post(HERE, {**fields, "act": "save"}, HTMX)
    assert (got.status, got.header("hx-redirect")) == (204, HERE)


async def test_what_is_wrong_with_a_source_is_said_in_the_guide(opened: Open) -> None:
    got = await opened.browser.post(HERE, {"kind": "openai", "name": "Not A Name", "key": KEY})
    assert got.status == 422
    page = guide(got)
    assert "open" in page.all("details")[0].attributes
    assert "cannot be the name of a model source" in source_form(page).text
    assert named(source_form(page), "name").attributes["value"] == "Not A Name"
    assert KEY not in got.text
    assert list_sources(opened.bench.store) == ()


async def test_the_folder_and_the_task_come_back_with_what_is_wrong(opened: Open) -> None:
    fields = {"workspace": "/nowhere/at/all", "text": ""}
    got = await opened.browser.post("/conversations", fields)
    assert got.status == 422
    page = guide(got)
    assert "The folder /nowhere/at/all is not there." in page.text
    assert [each.attributes["value"] for each in page.all("input") if "checked" in each.attributes] == [""]


async def test_a_usual_folder_that_cannot_be_used_does_not_close_the_guide(tmp_path: Path) -> None:
    async with open_page(tmp_path, OLLAMA_HOST="127.0.0.1:9") as opened:
        (opened.workspace / "a-file").write_text("in the way")
        opened.bench.environment["PLANCIA_WORKSPACE"] = str(opened.workspace / "a-file")  # type: ignore[index]
        page = guide(await opened.browser.get(HERE))
        assert "a-file" in page.text
        got = await opened.browser.post("/conversations")
        assert got.status == 422
        guide(got)
        fields = {"workspace": str(opened.workspace)}
        assert (await opened.browser.post("/conversations", fields)).status == 303


async def test_the_folder_of_the_settings_is_the_usual_one(tmp_path: Path) -> None:
    async with open_page(tmp_path, PLANCIA_WORKSPACE="") as opened:
        other = tmp_path / "other"
        set_setting(opened.bench.store, "workspace.default", str(other))
        assert named(guide(await opened.browser.get(HERE)), "workspace").attributes["value"] == str(other)
