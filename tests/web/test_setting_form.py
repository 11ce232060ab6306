"""Settings that are sent by a form: all or nothing, and what is wrong stands beside what was typed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.web.setting_form import checked_settings, stored_settings
from app.workspace.settings import reset_setting, set_setting
from tests.web.model_settings import Models, field, note

pytestmark = pytest.mark.anyio

KEYS = ("model.reasoning", "model.auxiliary")


@pytest.fixture(autouse=True)
async def as_at_first(models: Models) -> AsyncIterator[None]:
    yield
    for key in KEYS:
        reset_setting(models.opened.bench.store, key)


def values(models: Models) -> list[str]:
    return list(stored_settings(models.opened.site, KEYS).values.values())


async def test_what_is_not_sent_stays_as_it_is(models: Models) -> None:
    await models.add(models="big")
    await models.post("/asking", **{"model.reasoning": "low"})
    await models.post("/asking", **{"model.auxiliary": "lab/big", "composer.enter": "queue"})
    assert values(models) == ["low", "lab/big"]


async def test_where_one_value_is_not_taken_none_is_stored_and_all_stand_as_typed(models: Models) -> None:
    got = await models.post("/asking", **{"model.reasoning": "high", "model.auxiliary": "lab/big"})
    assert got.status == 422
    assert values(models) == ["off", ""]
    assert "checked" not in field(got, "model.reasoning").attributes
    assert '"lab/big" cannot be asked' in note(got, "model.auxiliary")


async def test_a_choice_cannot_be_sent_empty(models: Models) -> None:
    await models.post("/asking", **{"model.reasoning": ""})
    assert values(models) == ["off", ""]


async def test_what_a_stored_setting_names_may_be_gone_by_now(models: Models) -> None:
    set_setting(models.opened.bench.store, "model.auxiliary", "lab/big")
    assert list((await checked_settings(models.opened.site, KEYS)).errors) == ["model.auxiliary"]
    await models.add(models="big")
    assert (await checked_settings(models.opened.site, KEYS)).errors == {}
