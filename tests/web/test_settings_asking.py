"""Settings that count for every model: chosen on their page, stored, and asked with."""

from __future__ import annotations

import pytest

from app.workspace.settings import get_setting, reset_setting
from tests.web.live_page import LivePage
from tests.web.model_settings import HERE, Models, words
from tests.web.tree import Element

pytestmark = pytest.mark.anyio

ASKING = "/asking"
THINKER = "gpt-5-mini"


@pytest.fixture(autouse=True)
async def unchanged(models: Models) -> Models:
    reset_setting(models.opened.bench.store, "model.reasoning")
    return models


async def section(models: Models) -> Element:
    page = LivePage.parsed((await models.opened.browser.get(HERE)).text)
    found = page.find("asking")
    assert found is not None
    return found


async def chosen(models: Models) -> list[str]:
    options = (await section(models)).all("input")
    return [each.attributes["value"] for each in options if "checked" in each.attributes]


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
