"""Pictures from OpenAI-compatible servers: what is asked, what counts as a picture, what is said without one."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from app.engine.errors import ProviderError
from app.engine.provider import UsageReport
from app.providers.images import Drawn, ImageRequest
from app.providers.openai_compatible import OpenAICompatible
from app.providers.stream_limits import StreamLimits
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail, page
from tests.fakes.openai_images import at_address, draw
from tests.fakes.pictures import gif, jpeg, png, webp

pytestmark = pytest.mark.anyio

Wire = Callable[..., OpenAICompatible]
CAT = "A cat on a roof"


async def paint(wire: OpenAICompatible, model: str = "gpt-image-1", **more: Any) -> Drawn:
    return await wire.paint(ImageRequest(model, CAT, **more))


async def refusal(wire: OpenAICompatible, model: str = "gpt-image-1", **more: Any) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await paint(wire, model, **more)
    return raised.value


async def test_a_picture_is_drawn_and_counted(llm: FakeLLM, wire: Wire) -> None:
    llm.script(draw(png(3, 2), usage=(12, 4_160)))
    assert await paint(wire(), size="1024x1024") == Drawn(png(3, 2), UsageReport(12, 4_160))
    (sent,) = llm.requests()
    assert sent["path"] == "/v1/images/generations"
    assert sent["body"] == {"model": "gpt-image-1", "prompt": CAT, "size": "1024x1024"}


async def test_a_model_that_would_give_an_address_is_asked_for_the_picture_itself(
    llm: FakeLLM, wire: Wire
) -> None:
    here = wire()
    await paint(here, "dall-e-3")
    assert llm.bodies() == [{"model": "dall-e-3", "prompt": CAT, "response_format": "b64_json"}]


async def test_a_server_that_knows_no_such_wish_is_asked_otherwise_from_then_on(
    llm: FakeLLM, wire: Wire
) -> None:
    here = wire()
    llm.script(
        fail(400, "response_format: must be one of base64, url"), fail(400, "Unknown field response_format")
    )
    for _ in range(2):
        await paint(here, "flux")
    formats = [body.get("response_format") for body in llm.bodies() if body]
    assert formats[0] == "b64_json"
    assert formats[-2:] == [None, None]
    assert len(formats) == 4


async def test_a_refusal_that_is_about_something_else_is_not_asked_again(llm: FakeLLM, wire: Wire) -> None:
    llm.script(fail(400, "size: must be one of 1024x1024"))
    error = await refusal(wire(), "dall-e-3", size="10x10")
    assert (error.kind, len(llm.requests())) == ("invalid", 1)
    assert "must be one of 1024x1024" in error.message
    assert "Ask for it otherwise" in error.message


@pytest.mark.parametrize("count", [1, 3])
async def test_references_go_along_as_a_form_that_says_what_they_are(
    count: int, llm: FakeLLM, wire: Wire
) -> None:
    references = (png(2, 2), jpeg(4, 4), webp(b"VP8L", 5, 5))[:count]
    await paint(wire(), references=references)
    (sent,) = llm.requests()
    assert sent["path"] == "/v1/images/edits"
    assert sent["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert (sent["body"]["model"], sent["body"]["prompt"]) == ("gpt-image-1", CAT)
    assert [base64.b64decode(one["data"]) for one in sent["body"]["images"]] == list(references)
    assert [one["type"] for one in sent["body"]["images"]] == ["image/png", "image/jpeg", "image/webp"][
        :count
    ]


@pytest.mark.parametrize(
    "answer",
    [
        draw(gif(3, 3)),
        draw(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        {"status": 200, "body": [1, 2]},
    ],
)
async def test_what_is_no_usable_picture_is_not_taken_for_one(
    answer: dict[str, Any], llm: FakeLLM, wire: Wire
) -> None:
    llm.script(answer)
    error = await refusal(wire())
    assert "is no picture that can be used" in error.message
    assert not error.retryable, "it may be charged each time"


async def test_an_address_that_a_server_names_is_not_fetched(llm: FakeLLM, wire: Wire) -> None:
    llm.script(at_address(f"{llm.url}/v1/models"))
    error = await refusal(wire())
    assert "only says where it keeps it" in error.message
    assert len(llm.requests()) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (fail(401, "Incorrect API key provided", code="invalid_api_key"), "auth", "did not accept the key"),
        (
            fail(400, "Your request was rejected by the safety system.", code="moderation_blocked"),
            "policy",
            "declined to answer this because of its rules on content",
        ),
        (
            fail(429, "Rate limit reached on images per min", retry_after=20),
            "rate_limit",
            "asks to wait 20 s",
        ),
        (fail(500, "The server had an error"), "server", "failed on its own side"),
        (fail(404, "Not Found"), "invalid", "draws no pictures at its address (HTTP 404)"),
        (
            fail(404, "The model `gpt-image-1` does not exist", code="model_not_found"),
            "unknown_model",
            "has no model called gpt-image-1",
        ),
        (
            {"status": 200, "body": {"error": {"message": "overloaded", "code": 503}}},
            "overloaded",
            "too much to do",
        ),
        (page(), "unreachable", "A web page came back"),
        ({"status": 200, "body": "{"}, "server", "cannot be read"),
    ],
)
async def test_a_failure_says_what_happened_and_what_to_do(
    answer: dict[str, Any], kind: str, words: str, llm: FakeLLM, wire: Wire
) -> None:
    llm.script(answer)
    error = await refusal(wire())
    assert error.kind == kind
    assert words in error.message


async def test_an_answer_is_read_up_to_a_limit(llm: FakeLLM, wire: Wire) -> None:
    llm.script(draw(png(padding=50_000)))
    error = await refusal(wire(limits=StreamLimits(max_bytes=20_000)))
    assert error.kind == "server"


async def test_nobody_waits_for_ever(llm: FakeLLM, wire: Wire) -> None:
    llm.script({"steps": [{"hold": "here"}]})
    error = await refusal(wire(limits=StreamLimits(first_token=0.05)))
    assert error.kind == "timeout"
    llm.release("here")
