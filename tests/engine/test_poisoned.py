"""No transcript stops a chat for good: each compiles on each wire, takes the next message, and can be reduced."""

from __future__ import annotations

from itertools import accumulate

import pytest

from app.engine.ladder import NOTHING, ORDER
from app.engine.messages import Message, Text
from tests.engine.poisoned import TRANSCRIPTS
from tests.engine.wires import HERE, NOON, WIRES, Wire, request, spoken, tools

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
