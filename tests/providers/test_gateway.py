"""The wire to a gateway with a login: conversations go on while tokens come and go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.events import Usage
from app.engine.messages import Message, Text
from app.engine.pictures import Look, look_at
from app.engine.provider import ModelRequest, TextChunk
from app.infra.paths import DataFolder
from app.providers.drawing import Drawing
from app.providers.oauth_login import LoginWish
from app.providers.sources import SourceConfig
from app.workbench import Cabinet, open_cabinet
from app.workspace.model_sources import add_source
from app.workspace.source_logins import keep_login, load_gateway
from tests.fakes.gateway_client import FakeGateway, SharedClock
from tests.fakes.llm_script import fail, say

pytestmark = pytest.mark.anyio


class Desk:
    """A data folder with one source, ``gate``, and somebody logged in to it."""

    def __init__(self, cabinet: Cabinet, gateway: FakeGateway, clock: SharedClock) -> None:
        self.cabinet = cabinet
        self.gateway = gateway
        self.clock = clock

    async def log_in(self) -> None:
        source = load_gateway(self.cabinet.store, "gate")
        attempt = await self.cabinet.logins.begin(source, LoginWish())
        self.gateway.allow()
        while (grant := await attempt.poll()) is None:
            await attempt.pause()
        await keep_login(self.cabinet.store, self.cabinet.secrets, self.cabinet.logins, "gate", grant)

    async def ask(self, text: str = "Hello") -> str:
        found = await anyio.to_thread.run_sync(self.cabinet.sources.resolve, "gate/fake-model")
        request = ModelRequest(
            found.model, "", (Message("user", (Text(text),), "m1", "2026-11-30T14:00:00.000Z"),)
        )
        batch = await found.provider.complete(request)
        return "".join(event.text for event in batch if isinstance(event, TextChunk))


@pytest.fixture
async def desk(gateway: FakeGateway, tmp_path: Path) -> AsyncIterator[Desk]:
    clock = SharedClock(gateway)
    async with open_cabinet(DataFolder(tmp_path / "data"), environment={}, clock=clock) as cabinet:
        add_source(cabinet.store, SourceConfig("gate", "gateway", gateway.base_url, ("fake-model",)))
        made = Desk(cabinet, gateway, clock)
        await made.log_in()
        yield made


async def test_a_model_answers_whoever_is_logged_in(desk: Desk) -> None:
    assert await desk.ask() == "You said: Hello."


async def test_a_token_that_ends_amid_many_calls_is_renewed_once(desk: Desk) -> None:
    answers: list[str] = []

    async def talk(number: int) -> None:
        for turn in range(3):
            answers.append(await desk.ask(f"{number}.{turn}"))
            if number == 0 and turn < 2:
                await desk.clock.sleep(3400)

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(talk, number)
    assert len(answers) == 60
    assert all(answer.startswith("You said: ") for answer in answers)
    assert desk.gateway.renewals() == 2
    errors = [one for one in desk.gateway.asked("refresh_token") if "error" in one]
    assert errors == []


async def test_a_token_that_the_gateway_ends_early_is_replaced_once_for_all_calls(desk: Desk) -> None:
    await desk.ask()
    desk.gateway.expire()
    answers: list[str] = []

    async def talk(number: int) -> None:
        answers.append(await desk.ask(str(number)))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(talk, number)
    assert sorted(answers) == sorted(f"You said: {number}." for number in range(20))
    assert desk.gateway.renewals() == 1


async def test_an_answer_that_has_begun_outlives_its_token(desk: Desk) -> None:
    desk.gateway.script({"steps": [*say("One, ")["steps"][:1], {"hold": "hold"}, *say("two.")["steps"]]})
    async with anyio.create_task_group() as tasks:
        answers: list[str] = []

        async def talk() -> None:
            answers.append(await desk.ask())

        tasks.start_soon(talk)
        await desk.gateway.until_held()
        desk.gateway.expire()
        desk.gateway.release()
    assert answers == ["One, two."]
    assert desk.gateway.renewals() == 0


async def test_a_gateway_that_refuses_new_tokens_too_is_asked_for_no_more_of_them(desk: Desk) -> None:
    desk.gateway.always(fail(401, "This account may not use it."))
    for _ in range(3):
        with pytest.raises(
            ProviderError, match="does not take this login, although its token is new"
        ) as refused:
            await desk.ask()
        assert refused.value.kind == "auth"
        await desk.clock.sleep(601)  # the key of the pool rests
    assert desk.gateway.renewals() == 1


async def test_an_account_that_may_not_use_a_model_keeps_its_login(desk: Desk) -> None:
    desk.gateway.script(fail(403, "Your plan does not include this model."))
    with pytest.raises(ProviderError, match="does not allow this"):
        await desk.ask()
    assert desk.gateway.renewals() == 0


async def test_a_login_that_is_over_is_said_and_a_new_one_answers_at_once(desk: Desk) -> None:
    desk.gateway.end()
    for _ in range(3):
        with pytest.raises(ProviderError, match="plancia provider login gate") as refused:
            await desk.ask()
        assert not refused.value.retryable
    assert desk.gateway.renewals() == 1
    await desk.log_in()
    assert await desk.ask() == "You said: Hello."


async def test_a_test_says_that_the_login_works_and_renews_it_where_needed(desk: Desk) -> None:
    provider = desk.cabinet.sources.resolve("gate/fake-model").provider
    desk.gateway.expire()
    check = await provider.validate_auth()
    assert check.ok, check.message
    assert check.models == ("fake-model",)
    desk.gateway.end()
    check = await provider.validate_auth()
    assert (check.ok, check.failure) == (False, "auth")
    assert "Log in again" in check.message


async def test_no_token_is_in_the_database_the_logs_or_a_sentence(desk: Desk, tmp_path: Path) -> None:
    await desk.ask()
    await desk.clock.sleep(3700)
    await desk.ask()
    text = desk.cabinet.secrets.get("login/gate")
    assert text is not None
    token = text.partition('"access":"')[2].partition('"')[0]
    assert token.startswith("at-")
    desk.gateway.script(fail(400, f"bad request with {token}"))
    with pytest.raises(ProviderError) as refused:
        await desk.ask()
    assert token not in refused.value.message + str(refused.value.detail)
    for file in (tmp_path / "data").rglob("*"):
        if file.is_file():
            held = file.read_bytes()
            assert b"at-" + token[3:].encode() not in held
            assert b'"refresh"' not in held


async def test_the_token_of_a_login_goes_to_its_gateway_only(desk: Desk) -> None:
    """Another kind of source sends what stands for the login, never the login."""
    source = SourceConfig("gate", "openai", desk.gateway.base_url, ("fake-model",), keys=("login/gate",))
    check = await desk.cabinet.sources.try_out(source, None).validate_auth()
    assert not check.ok
    sent = [one["key"] for one in desk.gateway.requests()]
    assert not any(str(key).startswith("at-") for key in sent)


async def test_a_key_works_as_ever_where_nobody_logs_in(desk: Desk, gateway: FakeGateway) -> None:
    token = str(desk.cabinet.secrets.get("login/gate")).partition('"access":"')[2].partition('"')[0]
    source = SourceConfig("plain", "gateway", gateway.base_url, ("fake-model",))
    check = await desk.cabinet.sources.try_out(source, token).validate_auth()
    assert check.ok


async def test_a_picture_is_drawn_for_whoever_is_logged_in_with_a_token_that_is_fresh(desk: Desk) -> None:
    count: list[Usage] = []
    drawn: list[bytes] = []
    drawing = Drawing(desk.cabinet.sources.for_pictures(), "gate/gpt-image-1", desk.clock, count.append)
    for _ in range(2):
        drawn.append(await drawing("A cat", None, ()))
        desk.gateway.expire()
    assert [look_at(one) for one in drawn] == [Look("image/png", 1, 1)] * 2
    assert [row.outcome for row in count] == ["ok", "ok"]
    assert desk.gateway.renewals() == 1
    desk.gateway.always(fail(401, "This account may not use it."))
    with pytest.raises(ProviderError, match="does not take this login"):
        await drawing("A cat", None, ())
