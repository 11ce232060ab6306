"""Keys at rest: for how long, what ends it, what is shown of it, and that no key can be read out of it."""

from __future__ import annotations

import anyio
import pytest

from app.engine.errors import ProviderError
from app.providers.cooldown import COOLDOWN, Answered, Cooldowns, Credential
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio

LIMIT = ProviderError("rate_limit", "lab limits how much may be asked.", status=429, retry_after=7)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cooldowns(clock: FakeClock) -> Cooldowns:
    return Cooldowns(clock)


def key(cooldowns: Cooldowns, name: str = "one", value: str = "sk-0123456789") -> Credential:
    return cooldowns.credential("lab", name, "https://lab.example/v1", value)


async def test_a_key_rests_for_ten_minutes(cooldowns: Cooldowns, clock: FakeClock) -> None:
    cooldowns.cool(key(cooldowns), LIMIT)
    rest = cooldowns.find_rest(key(cooldowns))
    assert rest is not None
    assert (rest.kind, rest.sentence, (rest.until - clock.now()).total_seconds()) == (
        "rate_limit",
        LIMIT.message,
        COOLDOWN,
    )
    await clock.sleep(COOLDOWN - 1)
    assert cooldowns.find_rest(key(cooldowns)) is not None
    await clock.sleep(1)
    assert cooldowns.find_rest(key(cooldowns)) is None


async def test_a_server_that_asks_for_longer_gets_longer(cooldowns: Cooldowns, clock: FakeClock) -> None:
    cooldowns.cool(key(cooldowns), ProviderError("rate_limit", "Later.", retry_after=3600))
    await clock.sleep(3599)
    assert cooldowns.find_rest(key(cooldowns)) is not None


def test_an_answer_and_a_passing_test_end_it(cooldowns: Cooldowns) -> None:
    one = key(cooldowns)
    cooldowns.cool(one, LIMIT)
    cooldowns.answered(one, "m")
    assert cooldowns.find_rest(one) is None
    cooldowns.cool(one, LIMIT)
    cooldowns.clear(one)
    assert cooldowns.find_rest(one) is None


def test_an_edited_key_is_another_one_and_so_is_one_for_another_address(cooldowns: Cooldowns) -> None:
    cooldowns.cool(key(cooldowns), LIMIT)
    assert cooldowns.find_rest(key(cooldowns, value="sk-new")) is None
    assert (
        cooldowns.find_rest(cooldowns.credential("lab", "one", "https://b.example", "sk-0123456789")) is None
    )
    assert (
        cooldowns.find_rest(cooldowns.credential("b", "one", "https://lab.example/v1", "sk-0123456789"))
        is None
    )


def test_what_is_remembered_of_a_failure_says_how_long_it_holds(
    cooldowns: Cooldowns, clock: FakeClock
) -> None:
    cooldowns.cool(key(cooldowns), LIMIT)
    anyio.run(clock.sleep, 60.0)
    rest = cooldowns.find_rest(key(cooldowns))
    assert rest is not None
    failure = cooldowns.failure(rest)
    assert (failure.kind, failure.status, failure.retry_after) == ("rate_limit", 429, COOLDOWN - 60)


def test_a_key_is_shown_by_its_name_with_its_rest_and_its_last_answer(
    cooldowns: Cooldowns, clock: FakeClock
) -> None:
    assert cooldowns.standing("lab", "one") == (None, None)
    one = key(cooldowns)
    cooldowns.use(one)
    cooldowns.answered(one, "m")
    assert cooldowns.standing("lab", "one") == (None, Answered("m", clock.now()))
    cooldowns.cool(one, LIMIT)
    rest, answered = cooldowns.standing("lab", "one")
    assert rest is not None
    assert rest.kind == "rate_limit"
    assert answered == Answered("m", clock.now())
    assert cooldowns.standing("lab", "two") == cooldowns.standing("other", "one") == (None, None)


def test_a_key_that_took_the_place_of_another_is_shown_fresh(cooldowns: Cooldowns) -> None:
    cooldowns.use(key(cooldowns))
    cooldowns.cool(key(cooldowns), LIMIT)
    cooldowns.use(key(cooldowns, value="sk-new"))
    assert cooldowns.standing("lab", "one") == (None, None)


def test_no_key_can_be_seen_or_told_from_what_is_kept(cooldowns: Cooldowns, clock: FakeClock) -> None:
    one = key(cooldowns)
    cooldowns.cool(one, LIMIT)
    shown = repr((one, cooldowns.find_rest(one), cooldowns.standing("lab", "one"), vars(cooldowns)))
    assert "sk-0123456789" not in shown
    assert one.fingerprint.hex() not in repr(one)
    assert key(Cooldowns(clock)) != one


def test_a_use_that_is_taken_back_leaves_the_order_unless_somebody_else_used_it(cooldowns: Cooldowns) -> None:
    one, two = key(cooldowns), key(cooldowns, "two", "sk-2")
    cooldowns.use(two)
    take_back = cooldowns.use(one)
    take_back()
    assert cooldowns.last_use(one) == 0
    take_back = cooldowns.use(one)
    cooldowns.use(one)
    take_back()
    assert cooldowns.last_use(one) > cooldowns.last_use(two)


def test_keys_that_nobody_uses_any_more_are_forgotten(cooldowns: Cooldowns) -> None:
    first = key(cooldowns)
    cooldowns.cool(first, LIMIT)
    for number in range(2_000):
        cooldowns.use(key(cooldowns, value=f"sk-{number}"))
    assert cooldowns.find_rest(first) is None
