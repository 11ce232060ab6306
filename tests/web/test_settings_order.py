"""The order of models on its page: changed line by line, tested, and told with what rests and what answered last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.web.settings_views import PlaceView
from tests.fakes.llm_client import FakeLLM
from tests.web.live_page import LivePage
from tests.web.model_settings import HERE, KEY, Models, words
from tests.web.pages import HTMX, open_page
from tests.web.tree import Element

pytestmark = pytest.mark.anyio

ORDER = "/order"


async def lines(models: Models) -> list[Element]:
    page = LivePage.parsed((await models.opened.browser.get(HERE)).text)
    return of_order(page)


def of_order(page: Element) -> list[Element]:
    return [each for each in page.all("li") if each.id.startswith("place-")]


async def order(models: Models) -> list[str]:
    """``provider/model`` of each line."""
    return [label(line) for line in await lines(models)]


def found(page: Element, id: str) -> Element:
    element = page.find(id)
    assert element is not None
    return element


def label(line: Element) -> str:
    model, source = line.all("bdi")[:2]
    return f"{words(source)}/{words(model)}"


async def three(models: Models) -> None:
    await models.add(name="a", models="x, y")
    await models.add(name="b", models="z")


async def test_models_stand_in_the_order_in_which_they_were_added(models: Models) -> None:
    await three(models)
    assert await order(models) == ["a/x", "a/y", "b/z"]
    page = LivePage.parsed((await models.opened.browser.get(HERE)).text)
    assert "a/x answers; where it cannot, a/y goes on, and so on down the list." in words(page)


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"model": "b/z", "act": "up"}, ["a/x", "b/z", "a/y"]),
        ({"model": "a/x", "act": "down"}, ["a/y", "a/x", "b/z"]),
        ({"model": "a/x", "act": "up"}, ["a/x", "a/y", "b/z"]),
        ({"model": "b/z", "act": "down"}, ["a/x", "a/y", "b/z"]),
        ({"model": "b/z", "act": "to", "place": "1"}, ["b/z", "a/x", "a/y"]),
        ({"model": "a/x", "act": "to", "place": "99"}, ["a/y", "b/z", "a/x"]),
        ({"model": "a/x", "act": "out"}, ["a/y", "b/z"]),
    ],
    ids=str,
)
async def test_a_line_is_moved_and_the_page_comes_back(
    models: Models, fields: Mapping[str, str], wanted: list[str]
) -> None:
    await three(models)
    got = await models.post(ORDER, **fields)
    assert (got.status, got.header("location")) == (303, f"{HERE}#order")
    assert await order(models) == wanted


async def test_a_page_with_script_gets_the_order_alone_and_a_word_on_it(models: Models) -> None:
    await three(models)
    got = await models.post(ORDER, HTMX, model="b/z", act="up")
    assert "<html" not in got.text
    section = LivePage.parsed(got.text)
    assert [label(line) for line in of_order(section)] == ["a/x", "b/z", "a/y"]
    assert words([each for each in section.walk() if each.attributes.get("role") == "status"][-1]) == (
        "b/z is number 2."
    )


async def test_a_model_that_was_left_out_can_be_put_last(models: Models) -> None:
    await three(models)
    await models.post(ORDER, model="a/x", act="out")
    page = LivePage.parsed((await models.opened.browser.get(HERE)).text)
    assert [words(each) for each in found(page, "other-model").all("option")] == ["a/x"]
    await models.post(ORDER, model="a/x", act="add")
    assert await order(models) == ["a/y", "b/z", "a/x"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"model": "a/nobody", "act": "up"}, 404),
        ({"model": "c/x", "act": "out"}, 404),
        ({"model": "c/x", "act": "add"}, 404),
        ({"model": "a/x", "act": "explode"}, 404),
        ({"model": "a/x", "act": "to", "place": "-1"}, 400),
        ({}, 404),
    ],
    ids=str,
)
async def test_what_cannot_be_done_changes_nothing(
    models: Models, fields: Mapping[str, str], status: int
) -> None:
    await three(models)
    assert (await models.post(ORDER, **fields)).status == status
    assert await order(models) == ["a/x", "a/y", "b/z"]


async def test_a_line_is_tested_with_the_time_it_took(models: Models) -> None:
    models.llm.knows(models=["x"], keys=[KEY])
    await three(models)
    got = await models.post(ORDER, HTMX, model="a/x", act="test")
    tested, other, _ = of_order(LivePage.parsed(got.text))
    assert "a answers and lists 1 model. It took" in words(tested)
    assert "It took" not in words(other)
    missing = of_order(LivePage.parsed((await models.post(ORDER, model="a/y", act="test")).text))[1]
    assert 'The server does not list "y". It lists x.' in words(missing)


async def test_all_are_tested_at_once_and_each_says_what_is_wrong(models: Models) -> None:
    models.llm.knows(models=["x", "y"], keys={KEY: "good", "sk-other-0123456789": "bad"})
    await models.add(name="a", models="x, y")
    await models.add(name="b", models="z", key="sk-other-0123456789")
    got = await models.post(ORDER, act="test")
    assert "<html" in got.text
    found = [words(line) for line in of_order(LivePage.parsed(got.text))]
    assert ["lists 2 models" in each for each in found] == [True, True, False]
    assert "b did not accept the key." in found[2]


async def test_a_resting_key_is_shown_with_its_end_until_a_test_passes(models: Models) -> None:
    models.llm.knows(keys={KEY: "limited:700", "sk-second-0123456789-wxyz": "good"})
    await models.add(models="big")
    room = models.opened.conversation()
    await room.post("Hello", client_id="1")
    await room.wait_quiet()
    (line,) = await lines(models)
    assert "Resting until" in words(line)
    assert "lab limits how much may be asked in a short time." in words(line)
    assert [each.attributes["data-until"][-1] for each in line.walk() if "data-until" in each.attributes] == [
        "Z"
    ]
    await models.post("/lab/key", key="sk-second-0123456789-wxyz")
    (line,) = await lines(models)
    assert "1 of 2 keys rests, see below." in words(line)
    await room.resume()
    await room.wait_quiet()
    (line,) = await lines(models)
    assert "answered last" in words(line)
    (row,) = await models.rows()
    first, second = row.partition("key 2")[0], row.partition("key 2")[2]
    assert ("Resting until" in first, "Resting until" in second) == (True, False)
    assert ("answered last" in first, "answered last" in second) == (False, True)
    models.llm.knows(keys=[KEY, "sk-second-0123456789-wxyz"])
    await models.post(ORDER, model="lab/big", act="test")
    assert "Resting" not in (await models.rows())[0]


async def test_models_of_the_environment_come_last_until_they_are_moved(tmp_path: Path, llm: FakeLLM) -> None:
    key = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": llm.base_url}
    async with open_page(tmp_path, **key) as opened:
        models = Models(opened, llm)
        await three(models)
        *_, last = await lines(models)
        openai = label(last)
        assert openai.startswith("openai/")
        assert "key from OPENAI_API_KEY" in words(last)
        assert [each.attributes.get("value") for each in last.all("button")] == ["test", "up", "down"]
        await models.post(ORDER, model=openai, act="to", place="2")
        assert await order(models) == ["a/x", openai, "a/y", "b/z"]
        assert opened.bench.sources.resolve(None).label == "a/x"
        await models.post(ORDER, model=openai, act="up")
        assert opened.bench.sources.resolve(None).label == openai
    async with open_page(tmp_path) as opened:
        models = Models(opened, llm)
        assert await order(models) == ["a/x", "a/y", "b/z"]
        await models.post(ORDER, model="b/z", act="up")
        assert await order(models) == ["a/x", "b/z", "a/y"]
    async with open_page(tmp_path, **key) as opened:
        assert await order(Models(opened, llm)) == [openai, "a/x", "b/z", "a/y"]


async def test_a_model_that_is_set_before_the_order_is_named(tmp_path: Path, llm: FakeLLM) -> None:
    async with open_page(tmp_path, PLANCIA_MODEL="b/z") as opened:
        models = Models(opened, llm)
        await three(models)
        page = LivePage.parsed((await opened.browser.get(HERE)).text)
        assert "b/z comes before all others: PLANCIA_MODEL" in words(found(page, "order"))


def test_a_line_is_known_by_its_model_wherever_it_stands() -> None:
    def place(rank: int, label: str) -> PlaceView:
        return PlaceView(rank, label, "", "", "", "", None, "", False, False, False)

    assert place(1, "a/x").id == place(2, "a/x").id != place(1, "a/y").id
