"""Pictures through litellm, for real: the fake model server as a host that litellm knows."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from app.engine.errors import ProviderError
from app.infra.clock import SystemClock
from app.providers.images import ImageRequest
from app.providers.litellm import LiteLLM
from app.providers.stream_limits import StreamLimits
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail
from tests.fakes.openai_images import at_address, draw
from tests.fakes.pictures import gif, png

# litellm trips over its own libraries' deprecations; they are no failures of a host.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

KEY = "sk-test-0123456789abcdef"
CAT = ImageRequest("gpt-image-1", "A cat")


def host(url: str, **more: Any) -> LiteLLM:
    return LiteLLM("nebula", prefix="openai", key=KEY, base_url=url, clock=SystemClock(), **more)


async def refusal(provider: LiteLLM, request: ImageRequest = CAT) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await provider.paint(request)
    assert KEY not in f"{raised.value.message} {raised.value.detail}"
    return raised.value


async def test_a_picture_is_drawn_with_one_request(llm: FakeLLM) -> None:
    llm.script(draw(png(3, 2), usage=(10, 4_000)))
    drawn = await host(llm.base_url).paint(ImageRequest("gpt-image-1", "A cat", "1024x1024"))
    assert drawn.data == png(3, 2)
    assert drawn.usage is not None
    assert (drawn.usage.input_tokens, drawn.usage.output_tokens) == (10, 4_000)
    (sent,) = llm.requests()
    assert sent["key"] == KEY
    assert {"prompt": "A cat", "size": "1024x1024"}.items() <= sent["body"].items()


async def test_a_wish_that_a_host_does_not_know_is_left_out_before_anything_is_sent(llm: FakeLLM) -> None:
    await host(llm.base_url).paint(ImageRequest("flux", "A cat"))
    (body,) = llm.bodies()
    assert "response_format" not in body


@pytest.mark.parametrize("count", [1, 2])
async def test_references_go_along(count: int, llm: FakeLLM) -> None:
    references = (png(2, 2), png(5, 5))[:count]
    await host(llm.base_url).paint(ImageRequest("gpt-image-1", "A cat", references=references))
    (sent,) = llm.requests()
    assert sent["path"] == "/v1/images/edits"
    assert [base64.b64decode(one["data"]) for one in sent["body"]["images"]] == list(references)


async def test_failures_are_told_apart(llm: FakeLLM) -> None:
    llm.script(fail(401, "Incorrect API key provided", code="invalid_api_key"))
    assert (await refusal(host(llm.base_url))).kind == "auth"
    llm.script(fail(400, "Rejected by the safety system.", code="moderation_blocked"))
    assert (await refusal(host(llm.base_url))).kind == "policy"
    llm.script(fail(429, "Rate limit reached", retry_after=20))
    limited = await refusal(host(llm.base_url))
    assert (limited.kind, limited.retry_after) == ("rate_limit", 20.0)
    assert len(llm.requests()) == 3


async def test_what_is_no_usable_picture_is_not_taken_for_one(llm: FakeLLM) -> None:
    llm.script(draw(gif(3, 3)), at_address("http://127.0.0.1/cat.png"))
    assert "is no picture that can be used" in (await refusal(host(llm.base_url))).message
    assert "only says where it keeps it" in (await refusal(host(llm.base_url))).message


async def test_nobody_waits_for_ever(llm: FakeLLM) -> None:
    llm.script({"steps": [{"hold": "here"}]})
    error = await refusal(host(llm.base_url, limits=StreamLimits(first_token=0.2)))
    assert error.kind == "timeout"
    llm.release("here")
