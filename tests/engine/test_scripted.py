"""The double of the provider seam keeps the promises of the seam."""

from __future__ import annotations

import pytest

from app.engine.errors import ProviderError
from app.engine.provider import ModelRequest, Stop, TextChunk
from app.engine.scripted import ScriptedModel, call, say

pytestmark = pytest.mark.anyio
REQUEST = ModelRequest("m", "You test.", ())


async def test_each_call_takes_the_next_reply_and_is_remembered() -> None:
    model = ScriptedModel(say("one"), say("two"))
    assert await model.complete(REQUEST) == (TextChunk("one"), Stop("end"))
    assert (await model.complete(REQUEST))[0] == TextChunk("two")
    assert model.requests == [REQUEST, REQUEST]


async def test_a_reply_with_a_call_ends_as_one() -> None:
    assert (await ScriptedModel([call("look")]).complete(REQUEST))[-1] == Stop("tool_calls")


async def test_an_error_comes_at_its_place_and_the_stream_is_closed() -> None:
    model = ScriptedModel([TextChunk("half"), ProviderError("dropped", "cut")])
    stream = model.stream(REQUEST)
    assert await anext(stream) == (TextChunk("half"),)
    with pytest.raises(ProviderError, match="cut"):
        await anext(stream)
    assert model.open_streams == 0


async def test_a_reply_may_depend_on_the_request() -> None:
    model = ScriptedModel(lambda request: say(request.system))
    assert (await model.complete(REQUEST))[0] == TextChunk("You test.")


async def test_more_calls_than_replies_are_an_error_in_words() -> None:
    with pytest.raises(ProviderError, match="no reply left"):
        await ScriptedModel().complete(REQUEST)


async def test_it_needs_no_key() -> None:
    assert (await ScriptedModel().validate_auth()).ok
