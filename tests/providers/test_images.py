"""What of an answer counts as a picture."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.provider import UsageReport
from app.providers.errors import AddressInstead, NoPicture
from app.providers.images import Drawn, formats_for, read_picture
from tests.fakes.pictures import encoded, gif, jpeg, png, png_head, webp


def listed(**first: Any) -> dict[str, Any]:
    return {"created": 1, "data": [first]}


@pytest.mark.parametrize(
    "data", [png(3, 2), jpeg(640, 480), webp(b"VP8 ", 5, 5), webp(b"VP8L", 5, 5), png_head(10_000, 10_000)]
)
def test_the_usual_kinds_are_taken_as_they_are(data: bytes) -> None:
    assert read_picture(listed(b64_json=encoded(data))) == Drawn(data)


def test_a_picture_written_into_an_address_has_come() -> None:
    inline = listed(url=f"data:image/png;base64,{encoded(png())}", b64_json=None)
    assert read_picture(inline) == Drawn(png())


def test_the_first_of_several_is_taken_and_what_the_server_counts() -> None:
    answer = listed(b64_json=encoded(png()), revised_prompt="a cat") | {
        "usage": {"input_tokens": 9, "output_tokens": 70, "cost": 0.02}
    }
    answer["data"].append({"b64_json": encoded(jpeg(2, 2))})
    assert read_picture(answer) == Drawn(png(), UsageReport(9, 70, cost=0.02))


@pytest.mark.parametrize(
    "answer",
    [
        listed(b64_json=encoded(gif(3, 3))),
        listed(b64_json=encoded(b"<svg xmlns='http://www.w3.org/2000/svg'/>")),
        listed(b64_json=encoded(png_head(10_001, 10_000))),
        listed(b64_json=encoded(png_head(0, 40))),
        listed(b64_json=""),
        listed(b64_json="neither base64 nor a picture"),
        listed(b64_json="ü"),
        listed(b64_json=7),
        listed(),
        {"data": []},
        {"data": {"b64_json": encoded(png())}},
        {"data": [encoded(png())]},
        [1, 2],
        None,
    ],
)
def test_nothing_else_is(answer: Any) -> None:
    with pytest.raises(NoPicture) as raised:
        read_picture(answer)
    assert not isinstance(raised.value, AddressInstead)


@pytest.mark.parametrize("url", ["https://a.example/cat.png", "file:///etc/passwd", "//a.example/data:"])
def test_an_address_in_place_of_a_picture_is_told_from_nothing(url: str) -> None:
    with pytest.raises(AddressInstead):
        read_picture(listed(url=url))


@pytest.mark.parametrize("model", ["gpt-image-1", "openai/gpt-image-2.6-flare", "chatgpt-image-latest"])
def test_models_that_give_the_picture_itself_are_told_nothing_of_it(model: str) -> None:
    assert formats_for(model) == (None,)


@pytest.mark.parametrize("model", ["dall-e-3", "flux", "my-gpt-image-1", "qwen-image"])
def test_others_are(model: str) -> None:
    assert formats_for(model)[0] == "b64_json"
