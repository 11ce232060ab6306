"""Logins: tokens that are fresh, renewed once for everybody who waits, stored before they are used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx
import pytest

from app.engine.errors import ProviderError
from app.infra.crew import Crew
from app.infra.errors import SecretsError
from app.providers.logins import AFTER_FAILURE, Logins, is_handle
from app.providers.oauth import Grant, read_grant
from app.providers.oauth_login import LoginWish
from app.providers.sources import SourceConfig
from tests.fakes.gateway_client import FakeGateway, SharedClock

pytestmark = pytest.mark.anyio


@dataclass
class Drawer:
    """Secrets in memory; ``full``: nothing can be stored; ``locked``: nothing can be read."""

    texts: dict[str, str] = field(default_factory=dict)
    full: bool = False
    locked: bool = False
    looks: int = 0

    def get(self, name: str) -> str | None:
        self.looks += 1
        if self.locked:
            raise SecretsError("The keyring is locked.")
        return self.texts.get(name)

    def set(self, name: str, value: str) -> None:
        if self.full:
            raise SecretsError("The disk is full.")
        self.texts[name] = value

    @property
    def grant(self) -> Grant:
        found = read_grant(self.texts["login/gate"])
        assert found is not None
        return found


class Torn(httpx.AsyncBaseTransport):
    """A network cable that was pulled."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Connection refused", request=request)


class Desk:
    """One process with its logins; ``another`` opens a second one on the same drawer."""

    def __init__(self, gateway: FakeGateway, client: httpx.AsyncClient, folder: Path) -> None:
        self.gateway = gateway
        self.client = client
        self.clock = SharedClock(gateway)
        self.drawer = Drawer()
        self.folder = folder
        self.logins = self.another()
        self.source = SourceConfig("gate", "gateway", gateway.base_url)

    def another(self) -> Logins:
        return Logins(
            self.drawer,
            self.folder / "logins.lock",
            client=lambda: self.client,
            clock=self.clock,
            new_id=lambda kind: f"{kind}_{len(self.drawer.texts)}_{self.clock.monotonic():.0f}",
        )

    async def log_in(self) -> None:
        attempt = await self.logins.begin(self.source, LoginWish())
        self.gateway.allow()
        while (grant := await attempt.poll()) is None:
            await attempt.pause()
        attempt.close()
        await self.logins.keep("gate", grant)

    async def token(self) -> str:
        return await self.logins.token("gate")

    async def pass_time(self, seconds: float) -> None:
        await self.clock.sleep(seconds)


@pytest.fixture
async def desk(gateway: FakeGateway, tmp_path: Path, http_client: httpx.AsyncClient) -> AsyncIterator[Desk]:
    made = Desk(gateway, http_client, tmp_path)
    async with made.logins:
        await made.log_in()
        yield made


async def test_a_fresh_token_is_used_without_asking_anybody(desk: Desk) -> None:
    assert await desk.token() == await desk.token() == desk.drawer.grant.access
    assert desk.gateway.renewals() == 0


async def test_a_token_is_renewed_before_it_ends_and_both_tokens_are_stored(desk: Desk) -> None:
    before = desk.drawer.grant
    await desk.pass_time(3301)
    token = await desk.token()
    after = desk.drawer.grant
    assert token == after.access != before.access
    assert after.refresh != before.refresh
    assert after.id == before.id
    await desk.token()
    assert desk.gateway.renewals() == 1


async def test_a_refresh_token_that_stays_is_used_again(desk: Desk) -> None:
    desk.gateway.rule(rotates=False)
    for _ in range(2):
        await desk.pass_time(3700)
        await desk.token()
    assert desk.gateway.renewals() == 2


async def test_everybody_who_waits_gets_the_token_of_one_renewal(desk: Desk) -> None:
    await desk.pass_time(3700)
    tokens: set[str] = set()

    async def ask() -> None:
        tokens.add(await desk.token())

    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(ask)
    assert tokens == {desk.drawer.grant.access}
    assert desk.gateway.renewals() == 1


async def test_who_asked_first_and_leaves_takes_nothing_from_the_others(desk: Desk) -> None:
    await desk.pass_time(3700)
    desk.gateway.rule(hold="before")
    async with Crew() as crew:
        first = crew.start(desk.token())
        await desk.gateway.until_held("token")
        second = crew.start(desk.token())
        first.cancel()
        await asyncio.wait([first])
        desk.gateway.release("token")
        assert await second == desk.drawer.grant.access
    assert desk.gateway.renewals() == 1


async def test_a_renewal_that_nobody_waits_for_any_more_is_stored(desk: Desk) -> None:
    before = desk.drawer.grant
    await desk.pass_time(3700)
    desk.gateway.rule(hold="after")
    async with desk.another() as others, Crew() as crew:
        asking = crew.start(others.token("gate"))
        await desk.gateway.until_held("token")
        asking.cancel()
        await asyncio.wait([asking])
        desk.gateway.release("token")
    assert desk.drawer.grant.refresh != before.refresh
    assert await desk.token() == desk.drawer.grant.access
    assert desk.gateway.renewals() == 1


async def test_two_processes_renew_once(desk: Desk) -> None:
    await desk.pass_time(3700)
    desk.gateway.rule(hold="before")
    async with desk.another() as others, Crew() as crew:
        first = crew.start(desk.token())
        await desk.gateway.until_held("token")
        looks = desk.drawer.looks
        second = crew.start(others.token("gate"))
        while desk.drawer.looks == looks:  # noqa: ASYNC110 - the drawer is plain, and looked into in a thread
            await asyncio.sleep(0)
        desk.gateway.release("token")
        assert await first == await second
    assert desk.gateway.renewals() == 1


async def test_a_refused_grant_is_said_and_never_asked_for_again(desk: Desk) -> None:
    desk.gateway.end()
    await desk.pass_time(3700)
    for _ in range(5):
        with pytest.raises(ProviderError, match=r"The login at gate has ended\. Log in again") as refused:
            await desk.token()
        assert (refused.value.kind, refused.value.retryable) == ("auth", False)
    async with desk.another() as others:  # also after a restart
        with pytest.raises(ProviderError):
            await others.token("gate")
    assert desk.gateway.renewals() == 1
    assert (desk.drawer.grant.access, desk.drawer.grant.refresh) == ("", "")


async def test_a_new_login_ends_the_refusal(desk: Desk) -> None:
    desk.gateway.end()
    await desk.pass_time(3700)
    with pytest.raises(ProviderError):
        await desk.token()
    refused = desk.logins.stored_key("login/gate")
    await desk.log_in()
    assert await desk.token() == desk.drawer.grant.access
    assert desk.logins.stored_key("login/gate") != refused


async def test_a_token_that_still_works_is_used_while_its_renewal_fails(desk: Desk) -> None:
    before = desk.drawer.grant
    await desk.pass_time(3400)
    desk.gateway.rule(token_status=503)
    assert await desk.token() == before.access
    assert await desk.token() == before.access
    assert len(desk.gateway.asked("refresh_token")) == 1
    await desk.pass_time(AFTER_FAILURE + 1)
    desk.gateway.rule(token_status=None)
    assert await desk.token() != before.access


async def test_a_network_that_fails_is_no_end_of_the_login(desk: Desk) -> None:
    await desk.pass_time(3700)
    there, desk.client = desk.client, httpx.AsyncClient(transport=Torn())
    with pytest.raises(ProviderError) as failed:
        await desk.token()
    assert failed.value.kind != "auth"
    desk.client = there
    assert await desk.token() == desk.drawer.grant.access


async def test_a_login_service_in_trouble_is_no_end_of_the_login(desk: Desk) -> None:
    await desk.pass_time(3700)
    desk.gateway.rule(token_status=503)
    with pytest.raises(ProviderError, match="did not answer as one") as failed:
        await desk.token()
    assert failed.value.retryable
    desk.gateway.rule(token_status=None)
    assert await desk.token() == desk.drawer.grant.access


async def test_what_a_full_disk_did_not_take_is_used_and_stored_later(desk: Desk) -> None:
    before = desk.drawer.grant
    await desk.pass_time(3700)
    desk.drawer.full = True
    token = await desk.token()
    assert token != before.access
    assert await desk.token() == token
    assert desk.drawer.grant == before
    desk.drawer.full = False
    assert await desk.token() == token
    assert desk.drawer.grant.access == token
    assert desk.gateway.renewals() == 1


async def test_a_keyring_that_is_locked_meanwhile_loses_no_token(desk: Desk) -> None:
    await desk.pass_time(3700)
    desk.gateway.rule(hold="after")
    async with Crew() as crew:
        asking = crew.start(desk.token())
        await desk.gateway.until_held("token")
        desk.drawer.locked = True
        desk.gateway.release("token")
        token = await asking
    with pytest.raises(ProviderError, match="The keyring is locked"):
        await desk.token()
    desk.drawer.locked = False
    assert await desk.token() == token == desk.drawer.grant.access
    assert desk.gateway.renewals() == 1


async def test_what_waits_for_the_disk_does_not_replace_a_new_login(desk: Desk) -> None:
    await desk.pass_time(3700)
    desk.drawer.full = True
    await desk.token()
    desk.drawer.full = False
    await desk.log_in()
    assert await desk.token() == desk.drawer.grant.access
    assert desk.drawer.grant.id == "login_1_3705"


async def test_a_source_that_is_removed_meanwhile_stays_without_a_login(desk: Desk) -> None:
    await desk.pass_time(3700)
    desk.gateway.rule(hold="before")
    async with Crew() as crew:
        asking = crew.start(desk.token())
        await desk.gateway.until_held("token")
        del desk.drawer.texts["login/gate"]
        desk.gateway.release("token")
        assert await asking
    assert desk.drawer.texts == {}


class TestARefusedToken:
    async def test_is_replaced_before_its_time(self, desk: Desk) -> None:
        desk.gateway.expire()
        refused = await desk.token()
        assert await desk.logins.another("gate", refused) == desk.drawer.grant.access != refused
        assert desk.gateway.renewals() == 1

    async def test_is_replaced_once_for_all_who_were_refused(self, desk: Desk) -> None:
        refused = await desk.token()
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(desk.logins.another, "gate", refused)
        assert desk.gateway.renewals() == 1

    async def test_that_replaced_another_is_not_replaced_again(self, desk: Desk) -> None:
        second = await desk.logins.another("gate", await desk.token())
        desk.logins.not_taken("gate", second)
        for _ in range(3):
            with pytest.raises(ProviderError, match="does not take this login, although its token is new"):
                await desk.logins.another("gate", second)
        assert desk.gateway.renewals() == 1

    async def test_without_a_refresh_token_ends_the_login(self, desk: Desk) -> None:
        grant = desk.drawer.grant
        desk.drawer.texts["login/gate"] = desk.drawer.texts["login/gate"].replace(grant.refresh, "")
        with pytest.raises(ProviderError, match="has ended"):
            await desk.logins.another("gate", grant.access)
        with pytest.raises(ProviderError, match="has ended"):
            await desk.token()
        assert desk.gateway.renewals() == 0


async def test_what_cannot_be_read_is_said_and_replaced_by_a_login(desk: Desk) -> None:
    desk.drawer.texts["login/gate"] = "{torn"
    with pytest.raises(ProviderError, match=r"cannot be read\. Log in again"):
        await desk.token()
    await desk.log_in()
    assert await desk.token()


async def test_nobody_logged_in_is_a_login_that_is_over(desk: Desk) -> None:
    with pytest.raises(ProviderError, match="plancia provider login other"):
        await desk.logins.token("other")


async def test_a_key_is_what_is_stored_and_a_login_is_stood_for(desk: Desk) -> None:
    desk.drawer.texts["provider/x/key_1"] = "sk-key"
    assert desk.logins.stored_key("provider/x/key_1") == "sk-key"
    assert desk.logins.stored_key("login/absent") is None
    handle = desk.logins.stored_key("login/gate")
    assert is_handle(handle)
    assert not is_handle("sk-key")
    assert desk.drawer.grant.access not in str(handle)
    await desk.pass_time(3700)
    await desk.token()
    assert desk.logins.stored_key("login/gate") == handle
