"""A login from its beginning to its grant, by code and by browser, against a strict gateway."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from app.engine.errors import ProviderError
from app.providers.oauth import Client, Grant
from app.providers.oauth_login import Attempt, LoginWish, begin_login
from app.providers.sources import SourceConfig
from tests.fakes.gateway_client import FakeGateway, SharedClock, visit

pytestmark = pytest.mark.anyio

BY_CODE = LoginWish(ways=("device",))
BY_BROWSER = LoginWish(ways=("browser",))

Begin = Callable[..., Awaitable[Attempt]]


@pytest.fixture
def clock(gateway: FakeGateway) -> SharedClock:
    return SharedClock(gateway)


@pytest.fixture
def begin(gateway: FakeGateway, clock: SharedClock, http_client: httpx.AsyncClient) -> Begin:
    async def start(wish: LoginWish, *, before: Grant | None = None, address: str | None = None) -> Attempt:
        return await begin_login(
            SourceConfig("gate", "gateway", address or gateway.base_url),
            wish,
            client=lambda: http_client,
            clock=clock,
            new_id=lambda kind: f"{kind}_1",
            before=before,
        )

    return start


async def finish(attempt: Attempt) -> Grant:
    """As a command does it."""
    try:
        while (grant := await attempt.poll()) is None:
            await attempt.pause()
        return grant
    finally:
        attempt.close()


class TestByCode:
    async def test_the_user_enters_a_code_somewhere(self, begin: Begin, gateway: FakeGateway) -> None:
        attempt = await begin(BY_CODE)
        step = attempt.step
        assert step.url == f"{gateway.url}/oauth/activate"
        assert step.full_url == f"{step.url}?user_code={step.user_code}"
        assert len(step.user_code) == 9
        assert await attempt.poll() is None
        gateway.allow(step.user_code)
        grant = await finish(attempt)
        assert grant.access.startswith("at-")
        assert grant.refresh.startswith("rt-")
        assert (grant.issuer, grant.registered) == (gateway.url, True)

    async def test_it_is_asked_no_oftener_than_the_gateway_wants(
        self, begin: Begin, gateway: FakeGateway, clock: SharedClock
    ) -> None:
        attempt = await begin(BY_CODE)
        for _ in range(10):
            assert await attempt.poll() is None
        assert gateway.asked() == []
        await attempt.pause()
        assert clock.slept == [5]
        for _ in range(10):
            assert await attempt.poll() is None
        assert [one["error"] for one in gateway.asked()] == ["authorization_pending"]

    async def test_slow_down_is_heeded_from_then_on(
        self, begin: Begin, gateway: FakeGateway, clock: SharedClock
    ) -> None:
        gateway.rule(in_truth=8)
        attempt = await begin(BY_CODE)
        gateway.allow()
        await finish(attempt)
        assert [one.get("error") for one in gateway.asked()] == ["slow_down", None]
        assert clock.slept == [5, 10]

    async def test_a_login_that_was_declined_is_said(self, begin: Begin, gateway: FakeGateway) -> None:
        attempt = await begin(BY_CODE)
        gateway.allow(allow=False)
        with pytest.raises(ProviderError, match="was declined there"):
            await finish(attempt)

    async def test_a_code_that_nobody_enters_expires(
        self, begin: Begin, gateway: FakeGateway, clock: SharedClock
    ) -> None:
        gateway.rule(code_life=30)
        attempt = await begin(BY_CODE)
        assert attempt.step.expires == clock.now() + timedelta(seconds=30)
        with pytest.raises(ProviderError, match="has expired before it was entered"):
            await finish(attempt)
        assert sum(clock.slept) <= 35

    async def test_trouble_of_the_login_service_is_waited_out(
        self, begin: Begin, gateway: FakeGateway
    ) -> None:
        attempt = await begin(BY_CODE)
        gateway.rule(token_status=503)
        await attempt.pause()
        assert await attempt.poll() is None
        gateway.rule(token_status=None)
        gateway.allow()
        assert (await finish(attempt)).access

    async def test_a_gateway_without_codes_is_said(self, begin: Begin, gateway: FakeGateway) -> None:
        gateway.rule(device=False)
        with pytest.raises(ProviderError, match="does not offer a login by code"):
            await begin(BY_CODE)


class TestByBrowser:
    async def test_the_browser_brings_the_login_back(self, begin: Begin, gateway: FakeGateway) -> None:
        attempt = await begin(BY_BROWSER)
        assert await attempt.poll() is None
        page = await visit(attempt.step.url)
        assert page.status_code == 200
        assert "You can close this tab." in page.text
        assert page.headers["cache-control"] == "no-store"
        assert (await finish(attempt)).access.startswith("at-")
        assert gateway.asked()[-1]["grant_type"] == "authorization_code"

    async def test_the_address_carries_a_challenge(self, begin: Begin) -> None:
        attempt = await begin(BY_BROWSER)
        asked = dict(parse_qsl(urlsplit(attempt.step.url).query))
        assert asked["code_challenge_method"] == "S256"
        assert urlsplit(asked["redirect_uri"]).hostname == "127.0.0.1"
        assert "offline_access" in asked["scope"]
        attempt.close()

    async def test_two_logins_share_nothing(self, begin: Begin) -> None:
        first, second = await begin(BY_BROWSER), await begin(BY_BROWSER)
        pairs = [dict(parse_qsl(urlsplit(each.step.url).query)) for each in (first, second)]
        for name in ("state", "code_challenge", "redirect_uri", "client_id"):
            assert pairs[0][name] != pairs[1][name]
        first.close()
        second.close()

    @pytest.mark.parametrize(
        ("change", "status"),
        [
            ({"path": "/other"}, 404),
            ({"path": "/callback/"}, 404),
            ({"path": "/favicon.ico"}, 404),
            ({"query": "code=x&state=wrong-state-0123456789"}, 400),
            ({"query": "code=x"}, 400),
            ({"query": "state=STATE"}, 400),
            ({"query": "code=x&code=y&state=STATE"}, 400),
            ({"query": "code=x&error=y&state=STATE"}, 400),
            ({"method": "POST"}, 405),
            ({"host": "evil.example"}, 404),
            ({"host": "localhost:PORT"}, 404),
        ],
    )
    async def test_what_is_not_the_answer_changes_nothing(
        self, begin: Begin, change: dict[str, str], status: int
    ) -> None:
        attempt = await begin(BY_BROWSER)
        asked = dict(parse_qsl(urlsplit(attempt.step.url).query))
        back = urlsplit(asked["redirect_uri"])
        query = change.get("query", "code=x&state=STATE").replace("STATE", asked["state"])
        host = change.get("host", back.netloc).replace("PORT", str(back.port))
        async with httpx.AsyncClient(trust_env=False) as stranger:
            answer = await stranger.request(
                change.get("method", "GET"),
                f"http://{back.netloc}{change.get('path', back.path)}?{query}",
                headers={"host": host},
            )
        assert answer.status_code == status
        assert asked["state"] not in answer.text
        assert await attempt.poll() is None
        await visit(attempt.step.url)
        assert (await finish(attempt)).access

    async def test_noise_on_the_port_changes_nothing(self, begin: Begin) -> None:
        attempt = await begin(BY_BROWSER)
        back = urlsplit(dict(parse_qsl(urlsplit(attempt.step.url).query))["redirect_uri"])
        for noise in (b"", b"\r\n\r\n", b"\x16\x03\x01\x00", b"GET " + b"x" * 100_000):
            with closing(socket.create_connection((back.hostname or "", back.port or 0))) as line:
                line.sendall(noise)
        await visit(attempt.step.url)
        assert (await finish(attempt)).access

    async def test_the_port_is_free_again_once_it_brought_the_answer(self, begin: Begin) -> None:
        attempt = await begin(BY_BROWSER)
        await visit(attempt.step.url)
        with pytest.raises(httpx.HTTPError):
            await visit(attempt.step.url)
        assert (await finish(attempt)).access

    async def test_a_login_that_was_declined_is_said(self, begin: Begin, gateway: FakeGateway) -> None:
        gateway.rule(browser_says="access_denied")
        attempt = await begin(BY_BROWSER)
        page = await visit(attempt.step.url)
        assert "Not logged in" in page.text
        with pytest.raises(ProviderError, match="was declined there"):
            await finish(attempt)

    async def test_an_answer_of_another_service_is_refused(self, begin: Begin, gateway: FakeGateway) -> None:
        attempt = await begin(BY_BROWSER)
        gateway.rule(issuer="https://other.example")
        await visit(attempt.step.url)
        with pytest.raises(ProviderError, match=r"it is another one, https://other\.example"):
            await finish(attempt)
        assert gateway.asked() == []

    async def test_nobody_who_comes_back_is_waited_for_ten_minutes(
        self, begin: Begin, clock: SharedClock
    ) -> None:
        attempt = await begin(BY_BROWSER)
        await clock.sleep(599)
        assert await attempt.poll() is None
        await clock.sleep(1)
        with pytest.raises(ProviderError, match="Nobody came back"):
            await attempt.poll()
        attempt.close()

    async def test_a_port_that_is_taken_is_said(self, begin: Begin) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(ProviderError, match=f"port {port}, which another program uses"):
                await begin(LoginWish(ways=("browser",), redirect_port=port))

    async def test_a_gateway_without_s256_is_not_logged_in_to_that_way(
        self, begin: Begin, gateway: FakeGateway
    ) -> None:
        gateway.rule(s256=False)
        with pytest.raises(ProviderError, match="no login with a browser that is safe"):
            await begin(BY_BROWSER)


class TestTheClient:
    async def test_an_id_that_was_given_is_used_and_kept_for_the_next_login(
        self, begin: Begin, gateway: FakeGateway
    ) -> None:
        gateway.rule(registers=False)
        first = await begin(LoginWish(ways=("browser",), client_id="known-client", scope="models"))
        await visit(first.step.url)
        grant = await finish(first)
        assert (grant.client, grant.scope, grant.registered) == (Client("known-client"), "models", False)
        again = await begin(BY_BROWSER, before=grant)
        await visit(again.step.url)
        assert (await finish(again)).client == Client("known-client")

    async def test_a_registered_one_is_made_anew(self, begin: Begin, gateway: FakeGateway) -> None:
        attempts = []
        for before in (False, True):
            attempt = await begin(BY_CODE, before=attempts[0] if before else None)
            gateway.allow()
            attempts.append(await finish(attempt))
        assert attempts[0].client != attempts[1].client

    async def test_without_registration_an_id_is_asked_for(self, begin: Begin, gateway: FakeGateway) -> None:
        gateway.rule(registers=False)
        with pytest.raises(ProviderError, match="--client-id"):
            await begin(BY_CODE)

    @pytest.mark.parametrize("wish", [BY_CODE, BY_BROWSER])
    async def test_an_id_that_the_gateway_does_not_know_is_said(
        self, begin: Begin, wish: LoginWish, gateway: FakeGateway
    ) -> None:
        given = LoginWish(ways=wish.ways, client_id="nobody")
        if wish is BY_CODE:
            with pytest.raises(ProviderError, match="does not know this client id"):
                await begin(given)
        else:
            attempt = await begin(given)
            assert (await visit(attempt.step.url)).status_code == 400
            attempt.close()
