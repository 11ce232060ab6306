"""Settings that count for every model: chosen on their page, stored, and asked with."""

from __future__ import annotations

import pytest

from app.workspace.settings import get_setting, reset_setting
from tests.web.live_page import LivePage
from tests.web.model_settings import HERE, Models, field, note, words
from tests.web.tree import Element

pytestmark = pytest.mark.anyio

ASKING = "/asking"
THINKER = "gpt-5-mini"


@pytest.fixture(autouse=True)
async def unchanged(models: Models) -> Models:
    for key in ("model.reasoning", "model.auxiliary", "image.model"):
        reset_setting(models.opened.bench.store, key)
    return models


async def section(models: Models, title: str = "thinking") -> Element:
    page = LivePage.parsed((await models.opened.browser.get(HERE)).text)
    return next(each for each in page.all("section") if each.attributes["aria-labelledby"] == title)


async def chosen(models: Models, tag: str = "input") -> list[str]:
    found = await section(models, "thinking" if tag == "input" else "auxiliary-calls")
    options = [each for each in found.all(tag) if {"checked", "selected"} & each.attributes.keys()]
    return [each.attributes.get("value") or words(each) for each in options]


async def test_how_much_thinking_is_asked_for_is_chosen_and_said(models: Models) -> None:
    assert await chosen(models) == ["off"]
    got = await models.post(ASKING, **{"model.reasoning": "high"})
    assert (got.status, got.header("location")) == (303, f"{HERE}?saved#asking")
    assert await chosen(models) == ["high"]
    assert get_setting(models.opened.bench.store, "model.reasoning") == "high"


@pytest.mark.parametrize(("model", "asked"), [(THINKER, "medium"), ("homemade", None)])
async def test_it_counts_from_the_next_turn_for_a_model_that_reasons_and_for_no_other(
    models: Models, model: str, asked: str | None
) -> None:
    await models.add(models=model)
    await models.post(ASKING, **{"model.reasoning": "medium"})
    room = models.opened.conversation()
    await room.post("Hello", client_id="1")
    await room.wait_quiet()
    assert models.llm.bodies()[-1].get("reasoning_effort") == asked


async def test_the_page_says_which_models_it_counts_for(models: Models) -> None:
    await models.add(models="homemade")
    assert "No model of the order is known to reason" in words(await section(models))
    await models.post("/about", model="lab/homemade", reasoning="yes")
    assert "Of the order it counts for lab/homemade." in words(await section(models))
    await models.add(name="many", models=", ".join(f"{THINKER}-{number}" for number in range(5)))
    for number in range(5):
        await models.post("/about", model=f"many/{THINKER}-{number}", reasoning="yes")
    assert f"many/{THINKER}-2 and 2 more." in words(await section(models))


async def test_what_no_page_offers_is_refused_and_changes_nothing(models: Models) -> None:
    got = await models.post(ASKING, **{"model.reasoning": "explode"})
    assert got.status == 422
    assert "model.reasoning takes off or low or medium or high" in words(LivePage.parsed(got.text))
    assert await chosen(models) == ["off"]


async def test_who_writes_summaries_is_chosen_among_the_models_there_are(models: Models) -> None:
    await models.add(models="big, small")
    got = await models.opened.browser.get(HERE)
    options = [words(each) for each in field(got, "model.auxiliary").all("option")]
    assert options == ["The model of the conversation", "lab/big", "lab/small"]
    assert "contacts no other computer" in words(await section(models, "auxiliary-calls"))
    got = await models.post(ASKING, **{"model.auxiliary": "lab/small"})
    assert (got.status, got.header("location")) == (303, f"{HERE}?saved#asking")
    assert await chosen(models, "option") == ["lab/small"]
    assert "lab/small is sent what it summarises" in words(await section(models, "auxiliary-calls"))
    await models.post(ASKING, **{"model.auxiliary": ""})
    assert get_setting(models.opened.bench.store, "model.auxiliary") == ""


@pytest.mark.parametrize("name", ["lab/huge", "nobody/big", "x" * 5_000])
async def test_a_model_that_nobody_offers_is_refused_beside_its_field(models: Models, name: str) -> None:
    await models.add(models="big")
    got = await models.post(ASKING, **{"model.auxiliary": name})
    assert got.status == 422
    assert "cannot be asked for summaries." in note(got, "model.auxiliary")
    assert get_setting(models.opened.bench.store, "model.auxiliary") == ""


async def test_one_whose_source_is_gone_is_said_and_kept(models: Models) -> None:
    await models.add(models="small")
    await models.post(ASKING, **{"model.auxiliary": "lab/small"})
    await models.post("/lab/remove")
    got = await models.opened.browser.get(HERE)
    assert "Until then the model of the conversation writes them." in note(got, "model.auxiliary")
    assert await chosen(models, "option") == ["lab/small"]


async def test_who_draws_is_chosen_of_any_source_that_can_whatever_its_list_says(models: Models) -> None:
    await models.add(models="big")
    assert "None is named, so members draw nothing." in words(await section(models, "pictures"))
    got = await models.post(ASKING, **{"image.model": "lab/gpt-image-1"})
    assert got.status == 303
    assert get_setting(models.opened.bench.store, "image.model") == "lab/gpt-image-1"
    assert "lab/gpt-image-1 is sent each description" in words(await section(models, "pictures"))
    await models.post(ASKING, **{"image.model": ""})
    assert get_setting(models.opened.bench.store, "image.model") == ""


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("nobody/gpt-image-1", "There is no model source"),
        ("cave/llama3", '"cave" draws no pictures'),
        ("demo/tour", '"demo" draws no pictures'),
    ],
)
async def test_a_model_that_cannot_draw_is_refused_beside_its_field(
    typed: str, why: str, models: Models
) -> None:
    await models.add(name="cave", kind="ollama", base_url=models.llm.url, models="llama3", key="")
    got = await models.post(ASKING, **{"image.model": typed})
    assert got.status == 422
    assert why in note(got, "image.model")
    assert field(got, "image.model").attributes["value"] == typed
    assert get_setting(models.opened.bench.store, "image.model") == ""
