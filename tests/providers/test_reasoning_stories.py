"""A conversation goes from one model to another and back while both think: each gets its own thinking, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.engine import events
from app.engine.agent import Agent
from app.engine.harness import Harness
from app.engine.provider import ResolvedModel
from app.engine.runner import run
from app.engine.session import JsonlSession
from app.engine.steering import UserInput
from app.providers.anthropic_compatible import AnthropicCompatible
from app.providers.dialects import DEFAULT, Dialect, dialect_of
from app.providers.direct import DirectWire
from app.providers.openai_compatible import OpenAICompatible
from app.providers.openai_responses import OpenAIResponses
from tests.engine.test_runner import Tool
from tests.fakes import anthropic_messages, openai_responses
from tests.fakes.clock import FakeClock
from tests.fakes.disk import CountingDisk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, fail, say
from tests.models.stands import counted_ids

pytestmark = pytest.mark.anyio

Body = dict[str, Any]


@dataclass(frozen=True)
class Speaker:
    """A model that thinks: how it is spoken to, and where its thinking stands in a request."""

    name: str
    path: str
    wire: Callable[..., DirectWire]
    own: Callable[[Body], list[str]]
    """All that is thinking in a body, each in JSON."""
    said: Callable[[Body, list[str]], list[str]]
    """What its server said of these thoughts, in JSON."""
    signs: bool = False
    forgets: bool = False
    """Its server takes no thinking back."""

    @property
    def model(self) -> str:
        return f"model-{self.name}"

    def thought(self, number: int) -> str:
        return f"{self.name} thinks {number}"

    def step(self, number: int) -> Answer:
        """Thinking and a call."""
        made = call("look", {"path": f"{number}"}, id=f"call_{number}")
        if self.signs:
            signature = {"google": {"thought_signature": f"gm-{number}"}}
            made[0]["call"]["extra_content"] = signature
            return say(calls=[made])
        return say(reasoning=[self.thought(number)], calls=[made])

    def answer(self, number: int) -> Answer:
        thinking = [] if self.signs else [self.thought(number)]
        return say(f"{self.name} answers {number}.", reasoning=thinking)


def blocks_of(body: Body) -> list[str]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    return [json.dumps(block) for block in blocks if block["type"] == "thinking"]


def signed_by_anthropic(body: Body, thoughts: list[str]) -> list[str]:
    signature = anthropic_messages.signature
    return [
        json.dumps({"type": "thinking", "thinking": text, "signature": signature(text)}) for text in thoughts
    ]


def items_of(body: Body) -> list[str]:
    return [json.dumps(item) for item in body["input"] if item["type"] == "reasoning"]


def sealed_by_openai(body: Body, thoughts: list[str]) -> list[str]:
    """The ids are of the server's own making and are what they are; the seal holds them."""
    ids = [item["id"] for item in body["input"] if item["type"] == "reasoning"]
    return [
        json.dumps(
            {
                "id": id,
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": text}],
                "encrypted_content": openai_responses.seal(body["model"], id, text),
            }
        )
        for id, text in zip(ids, thoughts, strict=True)
    ]


def fields_of(body: Body) -> list[str]:
    thoughts = (message.get("reasoning_content", " ") for message in body["messages"])
    return [json.dumps(thought) for thought in thoughts if thought != " "]


def signatures_of(body: Body) -> list[str]:
    calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
    added = [call["extra_content"] for call in calls if "extra_content" in call]
    return [json.dumps(one) for one in added if "skip" not in json.dumps(one)]


def chat(dialect: Dialect) -> Callable[..., DirectWire]:
    return lambda *server: OpenAICompatible(*server, dialect=dialect)


def responses(id: str, base_url: str, *rest: Any) -> DirectWire:
    return OpenAIResponses(id, base_url, *rest, base_url)


GEMINI = dialect_of("https://generativelanguage.googleapis.com/v1beta/openai")
DEEPSEEK = dialect_of("https://api.deepseek.com/v1")
SPEAKERS = (
    Speaker("anthropic", "", AnthropicCompatible, blocks_of, signed_by_anthropic),
    Speaker("openai", "", responses, items_of, sealed_by_openai),
    Speaker(
        "gemini",
        "/gemini",
        chat(GEMINI),
        signatures_of,
        lambda body, thoughts: ['{"google": {"thought_signature": "gm-1"}}'],
        signs=True,
    ),
    Speaker(
        "deepseek",
        "/deepseek",
        chat(DEEPSEEK),
        fields_of,
        lambda body, thoughts: [*map(json.dumps, thoughts)],
    ),
    Speaker("old", "/deepseek-old", chat(DEFAULT), fields_of, lambda body, thoughts: [], forgets=True),
)
PAIRS = [*permutations(SPEAKERS, 2)]
each_pair = pytest.mark.parametrize(("a", "b"), PAIRS, ids=[f"{a.name}-{b.name}-{a.name}" for a, b in PAIRS])


class Table:
    """One conversation on disk, and the models that may be asked to go on with it."""

    def __init__(self, llm: FakeLLM, client: httpx.AsyncClient, path: Path) -> None:
        self.llm = llm
        self._client = client
        self._path = path
        self._clock = FakeClock()
        self._new_id = counted_ids()
        self._models: dict[str, ResolvedModel] = {}

    def seat(self, speaker: Speaker, **fields: Any) -> ResolvedModel:
        address = f"{self.llm.url}{speaker.path}/v1"
        wire = speaker.wire(speaker.name, address, "sk-test-0123456789", self._client)
        model = ResolvedModel(wire, speaker.model, address, 200_000, reasoning="medium", **fields)
        self._models[speaker.name] = model
        return model

    def resolve(self, name: str | None) -> ResolvedModel:
        return self._models[name or ""]

    async def say(self, text: str, to: Speaker, *answers: Answer) -> events.Done:
        """A whole turn, over a session that is read anew."""
        self.llm.script(*answers, model=to.model)
        session = await JsonlSession.open(self._path, disk=CountingDisk())
        harness = Harness(self, self._clock, self._new_id, lambda: 0.5)
        agent = Agent("commander", lambda: "Be brief.", {"look": Tool("look")}, model=to.name)
        happened = [e async for e in run(agent, session, [UserInput(text, self._new_id("msg"))], harness)]
        done = happened[-1]
        assert isinstance(done, events.Done)
        assert done.status == "completed", done
        return done

    def asked(self, speaker: Speaker) -> list[Body]:
        """The bodies that were taken."""
        return [
            one["body"] for one in self.llm.requests() if one["model"] == speaker.model and not one["refused"]
        ]


@pytest.fixture
def table(llm_process: FakeLLM, http_client: httpx.AsyncClient, tmp_path: Path) -> Table:
    """Each story says itself how many requests may be refused."""
    llm_process.reset()
    return Table(llm_process, http_client, tmp_path / "session.jsonl")


def its_thinking(speaker: Speaker, body: Body, *numbers: int) -> list[str]:
    """What a body has to hold of the speaker's thinking."""
    return speaker.said(body, [speaker.thought(number) for number in numbers])


def holds_nothing_of(speaker: Speaker, bodies: list[Body]) -> bool:
    text = json.dumps(bodies)
    marks = {"anthropic": ("fake.",), "openai": ("gAAA", '"rs_', '"fc_', '"msg_'), "gemini": ("gm-",)}
    return not any(mark in text for mark in (f"{speaker.name} thinks", *marks.get(speaker.name, ())))


@each_pair
async def test_from_one_model_to_another_and_back(a: Speaker, b: Speaker, table: Table) -> None:
    table.seat(a)
    table.seat(b)
    await table.say("One", a, a.step(1), a.answer(2))
    first = table.asked(a)
    await table.say("Two", b, b.step(3), b.answer(4))
    await table.say("Three", a, a.answer(5))
    last = table.asked(a)[-1]
    assert a.own(last) == its_thinking(a, last, 1, 2)
    assert a.own(first[-1]) == a.own(last)[: len(a.own(first[-1]))]
    assert holds_nothing_of(a, table.asked(b))
    assert holds_nothing_of(b, table.asked(a))
    # Only a server that wants none of its thinking back has to say so, once for a session.
    assert len(table.llm.refusals()) == sum(speaker.forgets for speaker in (a, b))


@each_pair
async def test_another_model_takes_over_in_the_middle_of_a_step_and_the_first_one_comes_back(
    a: Speaker, b: Speaker, table: Table
) -> None:
    following = table.seat(b)
    table.seat(a, fallback=lambda: following)
    table.llm.script(b.answer(2), model=b.model)
    done = await table.say("One", a, a.step(1), fail(402, "Insufficient credits"))
    assert done.text == f"{b.name} answers 2."
    await table.say("Two", a, a.answer(3))
    last = table.asked(a)[-1]
    assert a.own(last) == its_thinking(a, last, 1)
    assert holds_nothing_of(a, table.asked(b))
    assert holds_nothing_of(b, table.asked(a))
    assert len(table.llm.refusals()) == a.forgets


async def test_two_models_of_one_server_keep_their_thinking_apart(table: Table) -> None:
    a = SPEAKERS[1]
    table.seat(a)
    b = replace(a, name="other")
    table.seat(b)
    await table.say("One", a, a.step(1), a.answer(2))
    await table.say("Two", b, b.step(3), b.answer(4))
    await table.say("Three", a, a.answer(5))
    assert "openai thinks" not in json.dumps(table.asked(b))
    assert "other thinks" not in json.dumps(table.asked(a))
    assert table.llm.refusals() == []


async def test_all_are_asked_to_think(table: Table) -> None:
    for speaker in SPEAKERS:
        table.seat(speaker)
        await table.say("Hello", speaker, speaker.answer(1))
    asked = [table.asked(speaker)[0] for speaker in SPEAKERS]
    assert [one.get("reasoning_effort") for one in asked] == [None, None, "medium", "medium", "medium"]
    assert asked[0]["output_config"] == {"effort": "medium"}
    assert asked[1]["reasoning"] == {"effort": "medium", "summary": "auto"}
