"""A run over keys and groups that fail, against a real server: what is sent, what is stored, who answers in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from app.engine import events
from app.engine.agent import Agent
from app.engine.harness import Harness
from app.engine.runner import run
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.providers.catalogue import Catalogue
from app.providers.cooldown import COOLDOWN, Cooldowns
from app.providers.resting import list_resting
from app.providers.routing import Sources
from app.providers.sources import SourceConfig
from app.providers.wires import Wiring
from tests.engine.test_runner import Tool, done_of, shape
from tests.fakes.clock import FakeClock
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, cut, fail, say
from tests.models.stands import counted_ids

pytestmark = pytest.mark.anyio

LIMITED, BAD, GOOD, SPARE = "sk-limited-0123", "sk-bad-0123", "sk-good-0123", "sk-spare-0123"


class Workshop:
    """Two sources on the fake server, ``lab`` with three keys and ``spare`` with one, and runs over them."""

    def __init__(self, llm: FakeLLM, client: httpx.AsyncClient) -> None:
        lab = SourceConfig("lab", "openai", llm.base_url, ("big",), keys=("k1", "k2", "k3"))
        spare = SourceConfig("spare", "openai", llm.base_url, ("small",), keys=("k9",))
        self.llm = llm
        self.clock = FakeClock()
        self.sources = [lab, spare]
        self.secrets = {"k1": LIMITED, "k2": BAD, "k3": GOOD, "k9": SPARE}
        self.session = MemorySession("s")
        self.tools: dict[str, Tool] = {}
        self.models = Sources(
            configured=lambda: self.sources,
            default=lambda: None,
            stored_key=lambda name: self.secrets.get(name),
            environment={},
            connect=Wiring(client=lambda: client, clock=self.clock).connect,
            catalogue=Catalogue(None),
            cooldowns=Cooldowns(self.clock),
        )
        self._new_id = counted_ids()

    async def say(self, text: str, *, model: str | None = None) -> list[events.Event]:
        harness = Harness(self.models, self.clock, self._new_id, lambda: 0.5)
        agent = Agent("commander", lambda: "Be brief.", self.tools, model=model)
        spoken = [UserInput(text, self._new_id("msg"))]
        return [event async for event in run(agent, self.session, spoken, harness)]

    def asked(self) -> list[str]:
        """The keys of the calls so far, and none after they were read."""
        keys = [one["key"] for one in self.llm.requests()]
        self.llm.reset()
        return keys

    def resting(self) -> dict[str, str]:
        return {
            each.name: each.rest.kind
            for source in self.sources
            for each in self.models.standing(source)
            if each.rest is not None
        }


@pytest.fixture
def workshop(llm: FakeLLM, http_client: httpx.AsyncClient) -> Workshop:
    return Workshop(llm, http_client)


def outcomes(happened: list[events.Event]) -> list[str]:
    """One for each row of the ledger."""
    return [event.outcome for event in happened if isinstance(event, events.Usage)]


def of(kind: type[Any], happened: list[events.Event]) -> list[Any]:
    return [event for event in happened if isinstance(event, kind)]


STATES = {LIMITED: "limited:30", BAD: "bad", GOOD: "good", SPARE: "good"}


async def test_three_keys_one_request_each_the_good_one_answers_and_what_was_said_is_stored_once(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.knows(keys=STATES)
    happened = await workshop.say("hello")
    bodies = llm.bodies()
    assert workshop.asked() == [LIMITED, BAD, GOOD]
    assert bodies[0] == bodies[1] == bodies[2]
    assert shape(workshop.session) == [("user", "hello"), ("assistant", "You said: hello.")]
    assert outcomes(happened) == ["rate_limit", "auth", "ok"]
    assert (of(events.Retry, happened), of(events.Fallback, happened)) == ([], [])
    assert workshop.resting() == {"k1": "rate_limit", "k2": "auth"}
    await workshop.say("again")
    assert workshop.asked() == [GOOD]


async def test_who_rests_is_told_in_the_order_of_models_by_place_and_never_by_key(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.knows(keys={LIMITED: "limited:30", BAD: "bad", GOOD: "broke", SPARE: "bad"})
    done = done_of(await workshop.say("hello"))
    assert done.status == "failed"
    told = list_resting(workshop.models)
    assert [(one.model, one.key, one.kind) for one in told] == [
        ("lab/big", 1, "rate_limit"),
        ("lab/big", 2, "auth"),
        ("lab/big", 3, "balance"),
        ("spare/small", 0, "auth"),
    ]
    assert all(one.until > workshop.clock.now() for one in told)
    assert not any(key in repr(told) for key in (LIMITED, BAD, GOOD, SPARE, "k1"))


async def test_an_edited_key_is_asked_at_once_and_no_longer_shown_at_rest(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.knows(keys=STATES)
    await workshop.say("hello")
    workshop.asked()
    workshop.secrets["new"] = "sk-fresh-0123"
    workshop.sources[0] = replace(workshop.sources[0], keys=("k1", "new", "k3"))
    assert workshop.resting() == {"k1": "rate_limit"}
    await workshop.say("again")
    assert workshop.asked() == ["sk-fresh-0123"]


async def test_a_rest_ends_by_itself(workshop: Workshop, llm: FakeLLM) -> None:
    llm.knows(keys=STATES)
    await workshop.say("hello")
    workshop.asked()
    await workshop.clock.sleep(COOLDOWN)
    assert workshop.resting() == {}
    await workshop.say("again")
    assert workshop.asked() == [LIMITED]


async def test_a_passing_test_ends_a_rest(workshop: Workshop, llm: FakeLLM) -> None:
    llm.knows(keys=STATES)
    await workshop.say("hello")
    llm.knows(keys={**STATES, BAD: "good"})
    check = await workshop.models.try_out(workshop.sources[0], None).validate_auth()
    assert (check.ok, workshop.resting()) == (True, {})


async def test_an_overloaded_server_is_asked_again_with_the_same_key_and_rising_waits(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.script(*[fail(503, "busy")] * 4, say("At last."))
    happened = await workshop.say("hello")
    assert workshop.asked() == [LIMITED] * 5
    assert [event.attempt for event in of(events.Retry, happened)] == [1, 2, 3, 4]
    assert workshop.clock.slept == sorted(set(workshop.clock.slept))
    assert (done_of(happened).text, workshop.resting()) == ("At last.", {})


async def test_after_the_first_word_no_other_key_is_asked(workshop: Workshop, llm: FakeLLM) -> None:
    llm.script(cut(say("Once ", "upon ", "a time"), 2))
    happened = await workshop.say("hello")
    assert workshop.asked() == [LIMITED]
    assert done_of(happened).status == "interrupted"
    assert next(text for role, text in shape(workshop.session) if role == "assistant").startswith("Once upon")
    assert workshop.resting() == {}


async def test_where_no_key_is_taken_the_next_group_answers_and_says_why(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.knows(keys={LIMITED: "expired", BAD: "bad", GOOD: "broke", SPARE: "good"})
    happened = await workshop.say("hello")
    assert workshop.asked() == [LIMITED, BAD, GOOD, SPARE]
    (moved,) = of(events.Fallback, happened)
    assert (moved.from_model, moved.to_model) == ("lab/big", "spare/small")
    assert "lab" in moved.reason
    assert outcomes(happened) == ["subscription", "auth", "balance", "ok"]
    assert shape(workshop.session) == [("user", "hello"), ("assistant", "You said: hello.")]
    answered = workshop.session.messages[-1].origin
    assert answered is not None
    assert (answered.provider, answered.model) == ("spare", "small")


async def test_a_pool_at_rest_is_passed_over_without_a_request(workshop: Workshop, llm: FakeLLM) -> None:
    llm.knows(keys={SPARE: "good"})
    await workshop.say("hello")
    workshop.asked()
    happened = await workshop.say("again")
    assert workshop.asked() == [SPARE]
    assert len(of(events.Fallback, happened)) == 1


async def test_a_model_that_was_chosen_by_name_is_not_replaced_by_another_hosts(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.knows(keys={SPARE: "good"})
    happened = await workshop.say("hello", model="lab/big")
    assert workshop.asked() == [LIMITED, BAD, GOOD]
    done = done_of(happened)
    assert (done.status, done.error and done.error.kind, of(events.Fallback, happened)) == (
        "failed",
        "auth",
        [],
    )


async def test_with_nobody_behind_it_a_limit_is_waited_out_with_the_key_that_has_it(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.script(fail(401, "invalid key"), key=BAD)
    llm.script(fail(429, "slow down", retry_after=30), say("Now."), key=LIMITED)
    workshop.sources = [replace(workshop.sources[0], keys=("k2", "k1"))]
    happened = await workshop.say("hello")
    assert workshop.asked() == [BAD, LIMITED, LIMITED]
    assert workshop.clock.slept == [pytest.approx(33)]
    assert (done_of(happened).text, workshop.resting()) == ("Now.", {"k2": "auth"})


async def test_a_server_that_stays_down_hands_over_once_patience_is_spent(
    workshop: Workshop, llm: FakeLLM
) -> None:
    llm.script(*[fail(503, "busy")] * 6, model="big")
    happened = await workshop.say("hello")
    assert workshop.asked() == [LIMITED] * 6 + [SPARE]
    assert [event.attempt for event in of(events.Retry, happened)] == [1, 2, 3, 4, 5]
    assert (len(of(events.Fallback, happened)), done_of(happened).status) == (1, "completed")
    assert workshop.resting() == {}


async def test_a_source_whose_keys_are_gone_says_so_and_the_next_group_answers(workshop: Workshop) -> None:
    workshop.secrets = {"k9": SPARE}
    happened = await workshop.say("hello")
    assert workshop.asked() == [SPARE]
    assert 'key of the model source "lab" is gone' in of(events.Fallback, happened)[0].reason


async def test_a_key_that_fails_between_two_steps_ends_the_run_with_its_steps_kept_and_a_new_one_goes_on(
    workshop: Workshop, llm: FakeLLM
) -> None:
    workshop.sources = [replace(workshop.sources[0], keys=("k3",))]
    workshop.tools = {"look": Tool("look")}
    llm.script(say(calls=[call("look", {}, id="c1")]), fail(401, "key revoked"), key=GOOD)
    happened = await workshop.say("hello")
    done = done_of(happened)
    assert (done.status, done.error and done.error.kind) == ("failed", "auth")
    kept = [("user", "hello"), ("assistant", "look"), ("tool", "look done")]
    assert shape(workshop.session)[:3] == kept
    workshop.secrets["k3"] = SPARE
    llm.script(say("Seen."), key=SPARE)
    assert done_of(await workshop.say("go on")).text == "Seen."
    assert len(workshop.tools["look"].runs) == 1


async def test_no_key_is_said_shown_or_logged(
    workshop: Workshop, llm: FakeLLM, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    llm.knows(keys={LIMITED: "expired", BAD: "bad", GOOD: "limited"})
    happened = await workshop.say("hello")
    standing = [workshop.models.standing(source) for source in workshop.sources]
    assert caplog.messages.count("key.rests") == 4
    seen = repr((happened, workshop.session.messages, standing, workshop.models.resolve(None))) + caplog.text
    assert not [key for key in (LIMITED, BAD, GOOD, SPARE) if key in seen]
