"""General settings: what is saved, what is refused, and what open pages make of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.provider import TextChunk
from app.workspace.settings import get_setting
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.pages import OpenByHand, open_by_hand
from tests.web.readers import Reader, address_of, expect_same

pytestmark = pytest.mark.anyio
HERE = "/settings"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("general")) as opened:
        yield opened


async def chosen(opened: OpenByHand) -> list[str]:
    page = LivePage.parsed((await opened.browser.get(HERE)).text)
    modes = [each for each in page.all("input") if each.attributes.get("name") == "composer.enter"]
    return [each.attributes["value"] for each in modes if "checked" in each.attributes]


async def test_a_setting_is_saved_and_said(opened: OpenByHand) -> None:
    for value in ("queue", "steer"):
        got = await opened.browser.post(HERE, {"composer.enter": value})
        assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
        landed = LivePage.parsed((await opened.browser.follow(got)).text)
        toast = landed.find("toast")
        assert toast is not None
        assert toast.text.split()[0] == "Saved."
        assert await chosen(opened) == [value]


@pytest.mark.parametrize("value", ["explode", "<b>", "\x00", "x" * 10_000])
async def test_a_value_that_the_setting_does_not_take_is_refused_in_words(
    opened: OpenByHand, value: str
) -> None:
    before = get_setting(opened.bench.store, "composer.enter")
    got = await opened.browser.post(HERE, {"composer.enter": value})
    if value == "\x00":
        assert got.status == 303
    else:
        assert got.status == 422
        assert "composer.enter takes" in LivePage.parsed(got.text).text
    assert get_setting(opened.bench.store, "composer.enter") == before


async def test_fields_of_other_pages_change_nothing(opened: OpenByHand) -> None:
    before = get_setting(opened.bench.store, "model.default")
    assert (await opened.browser.post(HERE, {"model.default": "x/y", "nothing": "1"})).status == 303
    assert get_setting(opened.bench.store, "model.default") == before


async def test_an_open_page_learns_what_enter_does(opened: OpenByHand) -> None:
    room = opened.conversation()
    reader = await Reader.loads(opened, room)
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Go"})
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("word"))
    await opened.hand.settle(room)
    for value, key in (("queue", "enter"), ("steer", "modified")):
        await opened.browser.post(HERE, {"composer.enter": value})
        fresh = await expect_same(opened, room, reader)
        assert fresh.element("queue-it").attributes["data-key"] == key
    await room.stop()


def folder_field(got: Got) -> tuple[str, str]:
    """What stands in it, and what is said beside it."""
    page = LivePage.parsed(got.text)
    field, note = page.find("workspace"), page.find("workspace-note")
    assert field is not None
    assert note is not None
    return field.attributes["value"], " ".join(note.text.split())


async def test_the_folder_of_new_conversations_is_chosen(opened: OpenByHand, tmp_path: Path) -> None:
    got = await opened.browser.post(HERE, {"workspace.default": f" {tmp_path} "})
    assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
    assert get_setting(opened.bench.store, "workspace.default") == str(tmp_path)
    assert folder_field(await opened.browser.get(HERE))[0] == str(tmp_path)
    await opened.browser.post(HERE, {"composer.enter": "steer"})
    assert get_setting(opened.bench.store, "workspace.default") == str(tmp_path)
    await opened.browser.post(HERE, {"workspace.default": ""})
    assert get_setting(opened.bench.store, "workspace.default") == ""


async def test_a_folder_that_is_not_there_is_said_beside_it(opened: OpenByHand, tmp_path: Path) -> None:
    missing = str(tmp_path / "gone")
    got = await opened.browser.post(HERE, {"workspace.default": missing, "composer.enter": "queue"})
    assert got.status == 422
    value, note = folder_field(got)
    assert value == missing
    assert note == f"The folder {missing} is not there. Make it first, or choose another one."
    assert get_setting(opened.bench.store, "workspace.default") == ""
    assert get_setting(opened.bench.store, "composer.enter") == "steer"


async def test_a_folder_that_the_start_was_given_goes_before_and_that_is_said(opened: OpenByHand) -> None:
    note = folder_field(await opened.browser.get(HERE))[1]
    assert note.endswith(f"so now it is {opened.bench.environment['PLANCIA_WORKSPACE']}.")
    await opened.browser.post(HERE, {"workspace.default": opened.bench.environment["PLANCIA_WORKSPACE"]})
    assert "so now it is" not in folder_field(await opened.browser.get(HERE))[1]


async def test_budgets_are_saved_taken_back_and_refused_beside_their_field(opened: OpenByHand) -> None:
    store = opened.bench.store
    typed = {"budget.conversation": "0.5", "budget.day": "$3", "budget.unknown": "stop"}
    assert (await opened.browser.post(HERE, typed)).status == 303
    assert [get_setting(store, key) for key in typed] == [0.5, 3.0, "stop"]
    got = await opened.browser.post(HERE, {"budget.conversation": "1", "budget.day": "much"})
    assert got.status == 422
    assert "budget.day takes a number from 0.01 to 100000 or nothing" in LivePage.parsed(got.text).text
    assert 'value="much"' in got.text
    assert get_setting(store, "budget.conversation") == 0.5
    await opened.browser.post(HERE, {"budget.conversation": "", "budget.day": "", "budget.unknown": "pass"})
    assert [get_setting(store, key) for key in typed] == ["", "", "pass"]


async def test_a_budget_and_what_is_spent_of_it_stand_in_the_usage(opened: OpenByHand) -> None:
    room = opened.conversation()
    await opened.browser.post(HERE, {"budget.conversation": "0.5"})
    panel = (await opened.browser.load(address_of(room))).element("panel-usage").text
    assert "The budget of this conversation: $0.00 of $0.50." in " ".join(panel.split())
    await opened.browser.post(HERE, {"budget.conversation": ""})
    panel = (await opened.browser.load(address_of(room))).element("panel-usage").text
    assert "budget" not in panel
