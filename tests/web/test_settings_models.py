"""Sources of models on their page: listed, tested, ordered, removed, and what is said where that does not go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fakes.llm_client import FakeLLM
from tests.web.live_page import LivePage
from tests.web.model_settings import HERE, KEY, Models, listed, words
from tests.web.pages import HTMX, open_page
from tests.web.readers import Reader, expect_same

pytestmark = pytest.mark.anyio


async def test_without_a_source_the_page_says_what_answers(models: Models) -> None:
    got = await models.opened.browser.get(HERE)
    assert "The demo model answers until one is set up: it is a script, not an AI." in got.text
    assert models.opened.bench.secrets.where in LivePage.parsed(got.text).text


async def test_a_source_is_added_with_its_key_and_its_list_of_models(models: Models) -> None:
    models.llm.knows(models=["small", "embed-1", "big"], keys=[KEY])
    got = await models.add()
    assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
    landed = LivePage.parsed((await models.opened.browser.follow(got)).text)
    toast = landed.find("toast")
    assert toast is not None
    assert words(toast).startswith("Saved.")
    (source,) = models.sources
    assert source.models == ("big", "small", "embed-1")
    assert models.keys == [KEY]
    assert not any(KEY.encode() in each.read_bytes() for each in _files(models.opened.bench.folder.root))
    (row,) = listed(landed)
    assert words(row.all("h3")[0]) == "labOpenAI-compatible address"
    assert [words(each) for each in row.all("span")[-3:]] == [
        models.llm.base_url,
        "big, small, embed-1",
        "ends in cdef",
    ]


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def test_open_pages_offer_the_new_model_and_lose_the_removed_one(models: Models) -> None:
    models.llm.knows(models=["big"])
    room = models.opened.conversation()
    reader = await Reader.loads(models.opened, room)
    await models.add()
    fresh = await expect_same(models.opened, room, reader)
    assert "lab/big" in fresh.element("model-picker").text
    await models.post("/lab/remove")
    fresh = await expect_same(models.opened, room, reader)
    assert "Demo model: scripted, not an AI" in fresh.element("model-picker").text


async def test_a_removed_source_takes_its_key_along(models: Models) -> None:
    await models.add(models="big")
    await models.add(name="other", models="big", key="sk-other-0123456789")
    assert (await models.post("/lab/remove")).header("location") == HERE
    assert models.names == ["other"]
    assert models.keys == ["sk-other-0123456789"]


async def test_a_saved_source_is_tested_in_its_place(models: Models) -> None:
    models.llm.knows(models=["big"], keys=[KEY])
    await models.add()
    got = await models.post("/lab/test")
    assert "lab answers and lists 1 model." in LivePage.parsed(got.text).text
    models.llm.knows(keys=["another"])
    (row,) = listed(LivePage.parsed((await models.post("/lab/test")).text))
    assert "lab did not accept the key." in words(row)


async def test_a_source_has_several_keys_and_loses_one_of_them(models: Models) -> None:
    await models.add(models="big")
    second = "sk-second-0123456789-wxyz"
    got = await models.post("/lab/key", key=f' "{second}" ')
    assert second not in got.text
    assert models.keys == [KEY, second]
    (row,) = await models.rows()
    assert "key 1ends in cdef" in row
    assert "key 2ends in wxyz" in row
    (source,) = models.sources
    await models.post("/lab/forget", key=source.keys[0])
    assert models.keys == [second]
    assert models.sources[0].keys == source.keys[1:]
    assert (await models.post("/lab/forget", key=source.keys[0])).status == 404


@pytest.mark.parametrize(
    ("key", "why"), [(KEY, "lab has this key already."), ("two words", "This cannot be a key")]
)
async def test_a_key_that_is_not_taken_is_said_in_its_row(models: Models, key: str, why: str) -> None:
    await models.add(models="big")
    got = await models.post("/lab/key", HTMX, key=key)
    assert key not in got.text
    (row,) = listed(LivePage.parsed(got.text))
    assert why in words(row)
    assert "open" in row.all("details")[0].attributes
    assert models.keys == [KEY]


async def test_of_a_short_key_its_number_and_its_time_are_shown(models: Models) -> None:
    await models.add(models="big", key="sk-short-1234")
    (row,) = await models.rows()
    assert "ends in" not in row
    assert re.search(r"key 1added \d+ \w+ \d{4}, \d\d:\d\d", row)


@pytest.mark.parametrize(
    "path", ["/nobody/test", "/nobody/key", "/nobody/forget", "/nobody/remove", "/lab/explode", "/%00/test"]
)
async def test_a_source_or_an_act_that_is_not_there_is_said_in_words(models: Models, path: str) -> None:
    await models.add(models="big")
    got = await models.post(path)
    assert got.status == 404
    assert "To the conversations" in got.text
    assert models.names == ["lab"]


async def test_sources_of_the_environment_are_shown_tested_and_not_removable(
    tmp_path: Path, llm: FakeLLM
) -> None:
    llm.knows(models=["gpt-x"], keys=[KEY])
    async with open_page(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=llm.base_url) as opened:
        models = Models(opened, llm)
        await models.add(models="big")
        rows = listed(LivePage.parsed((await opened.browser.get(HERE)).text))
        assert [row.all("h3")[0].children[0] for row in rows] == ["lab", "openai"]
        assert [[form.attributes["action"] for form in row.all("form")] for row in rows] == [
            [f"{HERE}/lab/{act}" for act in ("forget", "key", "test", "remove")],
            [f"{HERE}/openai/test"],
        ]
        assert "openai answers" in LivePage.parsed((await models.post("/openai/test")).text).text
        for act in ("key", "forget", "remove"):
            assert (await models.post(f"/openai/{act}")).status == 404


async def test_a_key_of_the_environment_is_named_not_shown(tmp_path: Path, llm: FakeLLM) -> None:
    async with open_page(tmp_path, OPENAI_API_KEY=KEY) as opened:
        (row,) = await Models(opened, llm).rows()
        assert "OPENAI_API_KEYfrom the environment, read-only here" in row


async def test_keys_that_cannot_be_read_are_said_and_the_form_takes_them_again(
    tmp_path: Path, llm: FakeLLM
) -> None:
    async with open_page(tmp_path) as opened:
        models, secrets = Models(opened, llm), opened.bench.folder.secrets
        await models.add(models="big")
        secrets.write_text("rubbish")
        got = await opened.browser.get(HERE)
        assert got.status == 200
        assert "secrets.json is damaged, so stored keys cannot be read." in got.text
        assert "is damaged" in LivePage.parsed((await models.post("/lab/test")).text).text
        assert (await models.add(name="other", models="big")).status == 303
        assert models.keys == [KEY]
        assert secrets.with_name("secrets.json.damaged-1").read_text() == "rubbish"


async def test_what_is_found_on_this_computer_is_looked_for_when_asked(models: Models) -> None:
    assert "Look for them" in (await models.opened.browser.get(HERE)).text
    got = await models.post("/find")
    assert got.status == 200
    assert "Look again" in got.text


async def test_a_page_with_script_gets_the_row_that_was_tested(models: Models) -> None:
    await models.add(models="big")
    await models.add(name="other", models="big")
    models.llm.knows(models=["big"], keys=[KEY])
    got = await models.post("/other/test", HTMX)
    assert "<html" not in got.text
    (row,) = listed(LivePage.parsed(got.text))
    assert row.id == "source-2"
    assert "other answers and lists 1 model." in words(row)
    assert (await models.post("/nobody/test", HTMX)).status == 404
