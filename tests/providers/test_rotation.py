"""A pool of keys: whose turn it is, what moves on to the next one, and what goes straight up."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.errors import ACCOUNT, ProviderError
from app.engine.provider import LeftOut, ModelRequest, ResolvedModel, Rotated, StreamBatch, TextChunk
from app.engine.scripted import ScriptedModel
from app.providers.cooldown import COOLDOWN, Cooldowns
from app.providers.rotation import Candidate, Pool, Refused, has_content
from tests.fakes.clock import FakeClock
from tests.providers.answers import ask, collect
from tests.providers.keys import Key

pytestmark = pytest.mark.anyio

TRANSIENT = ("server", "overloaded", "timeout", "dropped", "unreachable")
SAME_EVERYWHERE = ("invalid", "policy", "overflow", "unknown_model", "local")


def somebody() -> ResolvedModel:
    return ScriptedModel().resolve("other")


@dataclass
class Ring:
    """A pool of these keys, and what came of each call."""

    keys: list[Key]
    clock: FakeClock = field(default_factory=FakeClock)
    has_fallback: bool = False

    def __post_init__(self) -> None:
        self.cooldowns = Cooldowns(self.clock)
        self.asked: list[str] = []
        """By the last call, in the order of asking."""

    @property
    def pool(self) -> Pool:
        """A new one for every call, as the registry makes them."""
        candidates = [key.candidate(self.cooldowns) for key in self.keys]
        return Pool("lab", candidates, self.cooldowns, *([somebody] if self.has_fallback else []))

    async def call(
        self, request: ModelRequest | None = None
    ) -> tuple[list[StreamBatch], ProviderError | None]:
        self.asked = []
        for key in self.keys:
            key.called = self.asked
        found = await collect(self.pool, request)
        return found.batches, found.error

    def resting(self) -> list[str]:
        return [
            key.name
            for key in self.keys
            if self.cooldowns.find_rest(key.candidate(self.cooldowns).credential) is not None
        ]


def text_of(batches: list[StreamBatch]) -> str:
    return "".join(event.text for batch in batches for event in batch if isinstance(event, TextChunk))


def rotated(batches: list[StreamBatch]) -> list[str]:
    return [event.outcome for batch in batches for event in batch if isinstance(event, Rotated)]


async def test_three_keys_one_request_each_and_the_good_one_answers() -> None:
    ring = Ring([Key("limited", "rate_limit", retry_after=30), Key("bad", "auth"), Key("good")])
    request = ask()
    batches, failure = await ring.call(request)
    assert (text_of(batches), rotated(batches), failure) == ("by good", ["rate_limit", "auth"], None)
    assert [key.requests for key in ring.keys] == [[request]] * 3
    assert ring.resting() == ["limited", "bad"]
    await ring.call()
    assert ring.asked == ["good"]


async def test_every_refusal_is_a_batch_of_its_own_with_the_time_it_took() -> None:
    class Slow(Key):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]  # as Key
            await ring.clock.sleep(1.5)
            async for batch in super().stream(request):
                yield batch

    ring = Ring([Slow("bad", "balance"), Key("good")])
    batches, _ = await ring.call()
    assert batches[0] == (Rotated("balance", 1_500),)


async def test_keys_take_turns() -> None:
    ring = Ring([Key("a"), Key("b"), Key("c")])
    turns = []
    for _ in range(6):
        await ring.call()
        turns += ring.asked
    assert turns == ["a", "b", "c", "a", "b", "c"]


@pytest.mark.parametrize("kind", TRANSIENT)
async def test_a_passing_failure_goes_up_cools_nothing_and_is_retried_with_the_same_key(kind: str) -> None:
    ring = Ring([Key("a", kind, kind, "fine"), Key("b")])
    for _ in range(2):
        _, failure = await ring.call()
        assert failure is not None
        assert (failure.kind, ring.asked, ring.resting()) == (kind, ["a"], [])
    batches, _ = await ring.call()
    assert text_of(batches) == "by a"


@pytest.mark.parametrize("kind", SAME_EVERYWHERE)
async def test_what_fails_everywhere_is_not_tried_with_another_key(kind: str) -> None:
    ring = Ring([Key("a", kind), Key("b")])
    _, failure = await ring.call()
    assert failure is not None
    assert (failure.kind, ring.asked, ring.resting()) == (kind, ["a"], [])


@pytest.mark.parametrize("kind", [*sorted(ACCOUNT), *TRANSIENT])
async def test_after_the_first_word_every_failure_goes_up(kind: str) -> None:
    ring = Ring([Key("a", f"late:{kind}"), Key("b")])
    batches, failure = await ring.call()
    assert failure is not None
    assert (text_of(batches), failure.kind, ring.asked) == ("so ", kind, ["a"])
    assert ring.resting() == (["a"] if kind in ACCOUNT else [])


async def test_a_remark_about_the_request_is_no_content() -> None:
    assert not has_content((LeftOut(("thinking",)),))
    assert has_content((LeftOut(("thinking",)), TextChunk("So")))


async def test_an_answer_without_a_word_is_the_runners_to_judge() -> None:
    ring = Ring([Key("a", "silent"), Key("b")])
    batches, failure = await ring.call()
    assert (len(batches), failure, ring.asked) == (1, None, ["a"])


async def test_a_pool_at_rest_sends_nothing_where_another_group_can_answer() -> None:
    ring = Ring([Key("a", "auth"), Key("b", "rate_limit", retry_after=5)], has_fallback=True)
    _, first = await ring.call()
    assert first is not None
    assert first.kind == "rate_limit"
    _, second = await ring.call()
    assert second is not None
    assert (second.kind, second.message, second.retry_after) == ("rate_limit", "b: rate_limit", COOLDOWN)
    assert ring.asked == []
    await ring.clock.sleep(COOLDOWN)
    await ring.call()
    assert ring.asked == ["a", "b"]


async def test_a_pool_at_rest_with_nobody_behind_it_asks_the_key_for_which_waiting_helps() -> None:
    ring = Ring([Key("bad", "auth"), Key("long", "rate_limit", retry_after=90), Key("short", "rate_limit")])
    await ring.call()
    ring.keys[2].outcomes = ["fine"]
    batches, _ = await ring.call()
    assert (text_of(batches), ring.asked, ring.resting()) == ("by short", ["short"], ["bad", "long"])


async def test_a_wrong_key_alone_is_asked_each_time_so_that_the_user_hears_why() -> None:
    ring = Ring([Key("only", "auth", "auth", "fine")])
    assert [(await ring.call())[1] is None for _ in range(3)] == [False, False, True]
    assert ring.resting() == []


async def test_an_edited_key_is_asked_at_once() -> None:
    ring = Ring([Key("old", "auth")], has_fallback=True)
    await ring.call()
    ring.keys[0] = Key("new")
    assert text_of((await ring.call())[0]) == "by new"


async def test_two_conversations_at_once_take_two_keys() -> None:
    ring = Ring([Key("a"), Key("b")])
    first, second = ring.pool.stream(ask()), ring.pool.stream(ask())
    assert [await anext(stream) for stream in (first, second)] == [(TextChunk("by a"),), (TextChunk("by b"),)]
    for stream in (first, second):
        await stream.aclose()


async def test_a_call_that_is_left_closes_the_stream_below() -> None:
    model = ScriptedModel([TextChunk("a"), TextChunk("b")])
    cooldowns = Cooldowns(FakeClock())
    pool = Pool("lab", [Candidate(cooldowns.credential("lab", "", "", None), model)], cooldowns)
    async with aclosing(pool.stream(ask())) as stream:
        await anext(stream)
        assert model.open_streams == 1
    assert model.open_streams == 0


async def test_collected_it_is_the_same_call() -> None:
    ring = Ring([Key("bad", "auth"), Key("good")])
    events = await ring.pool.complete(ask())
    assert [type(event).__name__ for event in events] == ["Rotated", "TextChunk", "Stop"]


async def test_a_test_tries_every_key_and_ends_the_rest_of_those_that_pass() -> None:
    ring = Ring([Key("a", "rate_limit"), Key("b", "auth")])
    await ring.call()
    ring.keys[1].passes = False
    check = await ring.pool.validate_auth()
    assert (check.ok, check.failure, check.models) == (False, "auth", ("m",))
    assert check.message == "Key 2 of 2: lab did not accept the key. 1 of 2 keys work."
    assert ring.resting() == ["b"]
    ring.keys[1].passes = True
    check = await ring.pool.validate_auth()
    assert (check.ok, check.message) == (True, "lab answers and lists 1 model. All 2 keys work.")
    assert ring.resting() == []


async def test_the_test_of_one_key_speaks_for_itself() -> None:
    assert (await Ring([Key("a")]).pool.validate_auth()).message == "lab answers and lists 1 model."


async def test_a_source_that_cannot_be_asked_says_why_wherever_it_is_asked() -> None:
    refused = Refused("lab", ProviderError("auth", "The key is gone."))
    for failing in (anext(refused.stream(ask())), refused.complete(ask())):
        with pytest.raises(ProviderError, match="The key is gone"):
            await failing
    assert await refused.validate_auth() == (await Refused("lab", refused.error).validate_auth())


OUTCOMES = st.sampled_from(
    ["fine", "silent", *sorted(ACCOUNT), *TRANSIENT, *SAME_EVERYWHERE, "late:rate_limit", "late:dropped"]
)


@given(
    scripts=st.lists(st.lists(OUTCOMES, min_size=1, max_size=6), min_size=1, max_size=4),
    waits=st.lists(st.sampled_from([0.0, 0.0, 30.0, COOLDOWN]), min_size=1, max_size=8),
    has_fallback=st.booleans(),
)
def test_whatever_happens_to_the_keys(
    scripts: list[list[str]], waits: list[float], has_fallback: bool
) -> None:
    """One request per key and call, none to a key at rest while another is free, the longest unused one first."""
    ring = Ring([Key(f"k{n}", *script) for n, script in enumerate(scripts)], has_fallback=has_fallback)
    last_use = dict.fromkeys([key.name for key in ring.keys], 0)

    async def story() -> None:
        for number, wait in enumerate(waits, start=1):
            await ring.clock.sleep(wait)
            before, request = ring.resting(), ask()
            batches, failure = await ring.call(request)
            free = [name for name in last_use if name not in before]
            asked = ring.asked
            assert asked == sorted(free, key=last_use.__getitem__)[: len(asked)] or not free
            assert len(asked) <= 1 - has_fallback or free
            assert asked or not free
            assert all(key.requests[-1] is request for key in ring.keys if key.name in asked)
            assert len(rotated(batches)) == max(0, len(asked) - 1)
            moves_on = failure is None or failure.kind in ACCOUNT
            for place, name in enumerate(asked if moves_on else asked[:-1]):
                last_use[name] = number * 10 + place
            if not moves_on:
                assert asked[-1] not in ring.resting() or asked[-1] in before

    anyio.run(story)
