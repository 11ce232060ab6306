"""No transcript stops a chat for good: each compiles on each wire, takes the next message, and can be reduced."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from app.engine import events
from app.engine.agent import Agent
from app.engine.compaction import THRESHOLD
from app.engine.errors import ProviderError
from app.engine.harness import Harness
from app.engine.ladder import NOTHING, ORDER
from app.engine.messages import Message, Text, ToolCall, ToolResult
from app.engine.pairing import is_paired, repair
from app.engine.provider import ModelRequest
from app.engine.runner import run
from app.engine.scripted import Reply, ScriptedModel, say
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.steering import UserInput
from app.engine.tokens import estimate_message
from app.infra.ids import new_id
from tests.engine.poisoned import TRANSCRIPTS
from tests.engine.scenes import PAGE, SUMMARY
from tests.engine.wires import HERE, NOON, WIRES, Wire, request, spoken, tools
from tests.fakes.clock import FakeClock
from tests.fakes.disk import CountingDisk

NEXT = (
    Message("user", (Text("And now?"),), "next", NOON),
    Message("assistant", (Text("Now this."),), "answer", NOON, HERE),
    Message("user", (Text("Thanks."),), "last", NOON),
)
OFFERS = {"with its tools": tools("read_file"), "without tools": (), "with others": tools("other")}


@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("wire", WIRES, ids=str)
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_poisoned_transcript_is_sent_and_goes_on(name: str, wire: Wire, offer: str) -> None:
    stored = TRANSCRIPTS[name]()
    compiler = wire.compiler()
    wire.looked_at(compiler.compile(request(stored, tools=OFFERS[offer])))
    for added in (1, 3):
        grown = request((*stored, *NEXT[:added]), tools=OFFERS[offer])
        body = wire.looked_at(compiler.compile(grown))
        role, said = spoken(body)[-1]
        assert role == "user"
        assert said.endswith(NEXT[added - 1].text)


@pytest.mark.parametrize("wire", WIRES, ids=str)
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_poisoned_transcript_can_be_reduced_step_by_step(name: str, wire: Wire) -> None:
    stored = request((*TRANSCRIPTS[name](), NEXT[0]))
    compiler = wire.compiler()
    for left in accumulate(({part} for part in ORDER), lambda all, one: all | one, initial=NOTHING):
        wire.looked_at(compiler.compile(stored, frozenset(left)))


def outline(messages: Sequence[Message]) -> list[tuple[str, list[type]]]:
    """What can be compared of any history: numbers that are none equal nothing."""
    return [(message.id, [type(block) for block in message.blocks]) for message in messages]


class Strict:
    """A model whose every request is written for each wire and looked at by its strict server."""

    def __init__(self, window: int, summary: Reply) -> None:
        self.model = ScriptedModel(*[self._reply] * 20, window=window)
        self.offers = tools("read_file")
        self._summary = summary
        self._compilers = {wire: wire.compiler() for wire in WIRES}

    def _reply(self, asked: ModelRequest) -> Reply:
        for wire, compiler in self._compilers.items():
            wire.looked_at(compiler.compile(replace(asked, tools=self.offers)))
        return self._summary if "You write the summary" in asked.system else say("Now this.")

    async def answer(self, session: Session, text: str, id: str) -> list[events.Event]:
        agent = Agent("tester", lambda: "You test.")
        harness = Harness(self.model, FakeClock(), new_id, lambda: 0.5)
        return [event async for event in run(agent, session, [UserInput(text, id)], harness)]


def write_lines(path: Path, messages: tuple[Message, ...]) -> bytes:
    """As another program might: halves of characters escaped, numbers that are none, any depth."""
    data = "".join(_line(message, number) + "\n" for number, message in enumerate(messages, 1)).encode()
    path.write_bytes(data)
    return data


def _line(message: Message, seq: int) -> str:
    blocks = [_block(block) for block in message.blocks]
    origin = None if message.origin is None else structs.asdict(message.origin)
    fields = {"id": message.id, "seq": seq, "time": message.time, "role": message.role, "origin": origin}
    return f'{json.dumps(fields)[:-1]}, "blocks": [{", ".join(blocks)}]}}'


def _block(block: Any) -> str:
    fields = {
        one.encode_name: getattr(block, one.name) for one in structs.fields(block) if one.name != "arguments"
    }
    text = json.dumps({"type": block.__struct_config__.tag, **fields}, default=repr)
    return f'{text[:-1]}, "arguments": {_written(block.arguments)}}}' if isinstance(block, ToolCall) else text


def _written(value: Any) -> str:
    opened = 0
    while isinstance(value, Mapping) and list(value) == ["in"]:
        value, opened = value["in"], opened + 1
    return '{"in": ' * opened + json.dumps(value, default=repr) + "}" * opened


@pytest.mark.anyio
@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_a_poisoned_transcript_is_loaded_from_its_file_and_goes_on(name: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    stored = write_lines(path, TRANSCRIPTS[name]())
    session = await JsonlSession.open(path, disk=CountingDisk())
    assert is_paired(session.messages)
    model = Strict(10_000_000, say(SUMMARY))
    for id in ("n1", "n2"):
        done = (await model.answer(session, "And now?", id))[-1]
        assert isinstance(done, events.Done)
        assert (done.status, done.text) == ("completed", "Now this.")
    assert path.read_bytes().startswith(stored)
    again = await JsonlSession.open(path, disk=CountingDisk())
    assert outline(again.messages) == outline(session.messages)
    assert again.marks == session.marks


def pages(turns: int) -> Iterator[Message]:
    """A sound history that fills a window."""
    for turn in range(turns):
        call = ToolCall(f"p{turn}", "read_file", {"path": f"{turn}.txt"})
        yield Message("user", (Text(f"Read page {turn}."),), f"q{turn}", NOON)
        yield Message("assistant", (call,), f"a{turn}", NOON, HERE)
        yield Message("tool", (ToolResult(call.id, PAGE[:2_000]),), f"r{turn}", NOON)
        yield Message("assistant", (Text(f"Page {turn} is read."),), f"e{turn}", NOON, HERE)


SUMMARISERS: dict[str, Reply] = {
    "a model that summarises": say(SUMMARY),
    "one that refuses": [ProviderError("policy", "No.")],
    "one that says nothing": say(""),
}
PLACES: dict[str, Callable[[tuple[Message, ...]], tuple[Message, ...]]] = {
    "in the older part": lambda poisoned: (*poisoned, *pages(6)),
    "in the tail": lambda poisoned: (*pages(6), *poisoned),
}


@pytest.mark.anyio
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_a_poisoned_transcript_is_compacted_and_goes_on(name: str, place: str) -> None:
    stored = repair(PLACES[place](TRANSCRIPTS[name]()))
    window = int(sum(map(estimate_message, stored)) / THRESHOLD)
    for summary in SUMMARISERS.values():
        session = MemorySession("s")
        await session.append(*stored)
        model = Strict(window, summary)
        happened = await model.answer(session, "And now?", "n1")
        happened += await model.answer(session, "Thanks.", "n2")
        ends = [event.status for event in happened if isinstance(event, events.Done)]
        assert ends == ["completed", "completed"]
        assert sum(isinstance(event, events.Compaction) for event in happened) == 1
        assert is_paired(session.messages)
        assert outline(session.messages[: len(stored)]) == outline(stored)
