"""One model call: what arrives is shown, what it cost is told, and it comes to an end."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from app.engine import events
from app.engine.calling import MOST_CHARACTERS
from app.engine.errors import ProviderError
from app.engine.provider import LeftOut, ModelRequest, Rotated, Stop, StreamBatch, TextChunk
from app.engine.scripted import ScriptedModel, say
from app.engine.session import MemorySession
from tests.engine.test_runner import all_of, done_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> MemorySession:
    return MemorySession("s")


async def test_each_key_that_was_turned_away_is_a_call_of_its_own(session: MemorySession) -> None:
    rotated = [Rotated("auth", 5), Rotated("rate_limit", 7), *say("ok")]
    happened = await all_of(ScriptedModel(rotated), session=session)
    calls = [(event.outcome, event.duration_ms) for event in happened if isinstance(event, events.Usage)]
    assert calls[:2] == [("auth", 5), ("rate_limit", 7)]
    assert calls[2][0] == "ok"
    assert done_of(happened).usage.cost is not None


async def test_word_of_what_was_left_out_is_not_the_first_token(session: MemorySession) -> None:
    happened = await all_of(
        ScriptedModel([LeftOut(("pictures",)), ProviderError("server", "503.")]), session=session
    )
    usage = next(event for event in happened if isinstance(event, events.Usage))
    assert (usage.first_token_ms, usage.estimated) == (None, False)


async def test_what_the_model_did_not_get_is_said_before_the_answer(session: MemorySession) -> None:
    happened = await all_of(
        ScriptedModel([LeftOut(("thinking", "pictures")), *say("Well.")]), session=session
    )
    first, *_ = happened
    assert isinstance(first, events.Omission)
    assert (first.model, first.parts) == ("scripted/model", ("thinking", "pictures"))
    assert done_of(happened).text == "Well."


async def test_a_model_that_does_not_come_to_an_end_is_stopped_and_what_it_wrote_is_kept(
    session: MemorySession,
) -> None:
    endless = [TextChunk("tide " * 100_000)] * 10
    done = done_of(await all_of(ScriptedModel(endless), session=session))
    assert (done.status, done.error and done.error.kind) == ("interrupted", "local")
    assert done.error is not None
    assert "without coming to an end" in done.error.message
    assert MOST_CHARACTERS < len(done.text) < MOST_CHARACTERS + 600_000


async def test_a_read_of_the_network_may_bring_nothing(session: MemorySession) -> None:
    class Quiet(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
            yield ()
            yield (TextChunk("ok"), Stop("end"))

    assert done_of(await all_of(Quiet(), session=session)).text == "ok"
