"""The login of a gateway on the page: begun, waited for, refused, kept."""

from __future__ import annotations

import html
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx
import pytest

from app.providers.sources import SourceConfig
from app.workspace.model_sources import add_source, load_source
from tests.fakes.gateway_client import FakeGateway, visit
from tests.web.live_page import LivePage
from tests.web.pages import HTMX, Got, Open, open_page

pytestmark = pytest.mark.anyio

HERE = "/settings/models/gate/login"


class Gate:
    """A gateway in the settings, and a browser on them."""

    def __init__(self, opened: Open, gateway: FakeGateway) -> None:
        self.opened = opened
        self.gateway = gateway
        source = SourceConfig("gate", "gateway", gateway.base_url, ("fake-model",))
        add_source(opened.bench.store, source)

    async def begin(self, **fields: str) -> Got:
        return await self.opened.browser.post(HERE, fields)

    async def look(self, *headers: tuple[str, str]) -> Got:
        return await self.opened.browser.get(HERE, *headers)

    @property
    def keys(self) -> tuple[str, ...]:
        return load_source(self.opened.bench.store, "gate").keys


@pytest.fixture
async def gate(gateway: FakeGateway, tmp_path: Path) -> AsyncIterator[Gate]:
    gateway.rule(interval=0.001)
    async with open_page(tmp_path) as opened:
        yield Gate(opened, gateway)


def address(got: Got) -> str:
    """Where the page sends a browser."""
    return html.unescape(got.text.partition('<a class="btn primary" href="')[2].partition('"')[0])


def said(got: Got) -> str:
    return " ".join(LivePage.parsed(got.text).text.split())


async def test_a_gateway_offers_its_login_and_other_sources_do_not(gate: Gate) -> None:
    add_source(gate.opened.bench.store, SourceConfig("plain", "openai", "https://plain.example/v1", ("m",)))
    got = await gate.opened.browser.get("/settings/models")
    assert 'aria-label="Log in to gate"' in got.text
    assert 'aria-label="Log in to plain"' not in got.text


async def test_a_code_is_shown_until_the_user_has_entered_it(gate: Gate) -> None:
    begun = await gate.begin()
    assert (begun.status, begun.header("location")) == (303, HERE)
    shown = await gate.look()
    assert shown.status == 200
    code = shown.text.partition('class="login-code">')[2].partition("<")[0]
    assert f"{gate.gateway.url}/oauth/activate?user_code={code}" in shown.text
    assert '<noscript><meta http-equiv="refresh"' in shown.text
    assert (await gate.look(HTMX)).status == 204
    assert gate.keys == ()
    gate.gateway.allow(code)
    done = await gate.look(HTMX)
    assert done.header("hx-redirect") == "/settings/models?saved"
    assert gate.keys == ("login/gate",)
    row = await gate.opened.browser.get("/settings/models")
    assert "ends in" not in row.text
    assert "login" in said(row)


async def test_a_gateway_is_added_without_a_model_and_lists_them_after_the_login(gate: Gate) -> None:
    await gate.opened.browser.post("/settings/models/gate/remove")
    sent = {"kind": "gateway", "name": "gate", "base_url": gate.gateway.base_url}
    assert (await gate.opened.browser.post("/settings/models", sent)).status == 303
    assert load_source(gate.opened.bench.store, "gate").models == ()
    await gate.begin()
    gate.gateway.allow()
    assert (await gate.look()).status == 303
    assert load_source(gate.opened.bench.store, "gate").models == ("fake-model",)


async def test_without_script_the_reloaded_page_leads_back_once_it_is_done(gate: Gate) -> None:
    await gate.begin()
    gate.gateway.allow()
    done = await gate.look()
    assert (done.status, done.header("location")) == (303, "/settings/models?saved")
    assert "Somebody is logged in" in said(await gate.look())


async def test_the_login_is_what_the_models_are_asked_with(gate: Gate) -> None:
    await gate.begin()
    gate.gateway.allow()
    await gate.look()
    provider = gate.opened.bench.sources.resolve("gate/fake-model").provider
    assert (await provider.validate_auth()).ok


async def test_a_gateway_without_codes_sends_the_browser_of_this_machine(gate: Gate) -> None:
    gate.gateway.rule(device=False)
    await gate.begin()
    shown = await gate.look()
    assert "with a browser on the computer that Plancia runs on" in said(shown)
    assert "can close this tab" in (await visit(address(shown))).text
    assert (await gate.look()).status == 303
    assert gate.keys == ("login/gate",)


async def test_two_pages_that_look_at_once_complete_it_once(gate: Gate) -> None:
    gate.gateway.rule(device=False)
    await gate.begin()
    await visit(address(await gate.look()))
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(gate.look)
    assert gate.keys == ("login/gate",)
    assert [one.get("error") for one in gate.gateway.asked()] == [None]


async def test_a_login_that_was_declined_is_said_and_can_be_begun_anew(gate: Gate) -> None:
    await gate.begin()
    gate.gateway.allow(allow=False)
    refused = await gate.look(HTMX)
    assert refused.status == 200
    assert "was declined there" in said(refused)
    assert "<h1>" not in refused.text
    assert (await gate.begin()).status == 303
    assert gate.keys == ()


async def test_what_was_typed_stays_where_a_login_cannot_begin(gate: Gate) -> None:
    got = await gate.begin(issuer="http://id.example", client_id="mine", scope="a b")
    assert got.status == 422
    assert "is not an https:// address" in said(got)
    for value in ("http://id.example", "mine", "a b"):
        assert f'value="{value}"' in got.text


async def test_another_login_takes_the_place_of_the_one_under_way(gate: Gate) -> None:
    gate.gateway.rule(device=False)
    await gate.begin()
    first = address(await gate.look())
    await gate.begin()
    with pytest.raises(httpx.HTTPError):
        await visit(first)
    await visit(address(await gate.look()))
    assert (await gate.look()).status == 303


async def test_the_end_of_the_server_is_the_end_of_what_is_under_way(gate: Gate) -> None:
    gate.gateway.rule(device=False)
    await gate.begin()
    first = address(await gate.look())
    gate.opened.app.goodbye()
    with pytest.raises(httpx.HTTPError):
        await visit(first)


async def test_no_token_is_in_any_page(gate: Gate) -> None:
    await gate.begin()
    gate.gateway.allow()
    await gate.look()
    text = gate.opened.bench.secrets.get("login/gate") or ""
    token = text.partition('"access":"')[2].partition('"')[0]
    for place in ("/settings/models", HERE, "/settings/models/gate/edit"):
        assert token not in (await gate.opened.browser.get(place)).text


async def test_a_source_that_takes_keys_has_no_such_page(gate: Gate) -> None:
    add_source(gate.opened.bench.store, SourceConfig("plain", "openai", "https://plain.example/v1", ("m",)))
    for name in ("plain", "nobody"):
        got = await gate.opened.browser.get(f"/settings/models/{name}/login")
        assert got.status in (404, 422)
