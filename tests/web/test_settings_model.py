"""What the user says of one model: typed beside what is known, stored, and used."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.providers.model_facts import OwnFacts
from app.workspace.model_facts import list_facts
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.model_settings import HERE, Models, field, note, words

pytestmark = pytest.mark.anyio

ABOUT = "/about"
SHOWN = f"{HERE}{ABOUT}?model=lab/homemade"


@pytest.fixture
async def models(models: Models) -> Models:
    await models.add(models="homemade")
    return models


async def say(models: Models, **fields: str) -> Got:
    return await models.post(ABOUT, model="lab/homemade", **fields)


async def test_what_is_known_stands_beside_the_empty_fields(models: Models) -> None:
    got = await models.opened.browser.get(SHOWN)
    text = words(LivePage.parsed(got.text))
    assert "32,768 tokens are assumed: nothing is known of this model." in text
    assert "Not known: the cost of its calls is not counted." in text
    assert field(got, "context").attributes["value"] == ""


async def test_what_is_said_is_stored_used_and_shown_again(models: Models) -> None:
    said = {"context": "200k", "max_output": "8,192", "price_in": "0.5", "price_out": "2", "images": "no"}
    assert (await say(models, **said)).header("location") == f"{HERE}?saved"
    stored = list_facts(models.opened.bench.store)
    assert stored == {("lab", "homemade"): OwnFacts(200_000, 8_192, 0.5, 2.0, images=False)}
    model = models.opened.bench.sources.resolve("lab/homemade")
    assert (model.context_window, model.price_out, model.sees_pictures) == (200_000, 2.0, False)
    got = await models.opened.browser.get(SHOWN)
    shown = {name: field(got, name).attributes["value"] for name in ("context", "price_in", "price_out")}
    assert shown == {"context": "200000", "price_in": "0.5", "price_out": "2"}
    chosen = [words(each) for each in field(got, "images").all("option") if "selected" in each.attributes]
    assert chosen == ["No"]
    await say(models, act="forget", **said)
    assert list_facts(models.opened.bench.store) == {}


@pytest.mark.parametrize(
    ("typed", "name", "why"),
    [
        ({"context": "many"}, "context", '"many" is not a number.'),
        ({"context": "k"}, "context", '"k" is not a number.'),
        ({"context": "inf"}, "context", '"inf" is not a number.'),
        ({"max_output": "0"}, "max_output", "homemade takes a number of tokens above 0 here."),
        ({"price_in": "1"}, "price_out", "Give both prices or none"),
        ({"price_in": "1", "price_out": "-1"}, "price_out", "A price is in US dollars per million tokens"),
    ],
)
async def test_what_is_wrong_stands_under_its_field_and_what_was_typed_stays(
    models: Models, typed: Mapping[str, str], name: str, why: str
) -> None:
    got = await say(models, **typed)
    assert got.status == 422
    assert why in note(got, name)
    assert {each: field(got, each).attributes["value"] for each in typed} == typed
    assert list_facts(models.opened.bench.store) == {}


@pytest.mark.parametrize("model", ["", "lab", "lab/", "lab/other", "nobody/homemade", "lab/" + "x" * 201])
async def test_a_model_that_nobody_offers_is_not_there(models: Models, model: str) -> None:
    path = f"{HERE}/about?model={model}"
    assert (await models.opened.browser.get(path)).status == 404
