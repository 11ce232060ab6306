"""Pictures through litellm, from whichever host it knows: asked for like any other, counted by its own price list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

from app.engine.provider import UsageReport
from app.providers import litellm_errors
from app.providers.images import Drawn, ImageRequest, formats_for, read_picture
from app.providers.litellm_module import load
from app.providers.litellm_silence import Silence
from app.providers.openai_images import named
from app.providers.stream_limits import StreamLimits


async def paint(request: ImageRequest, callee: Mapping[str, Any], limits: StreamLimits) -> Drawn:
    """``callee`` are litellm's arguments for host, model and key. Raises what litellm likes, and ``WireError``."""
    litellm = await load()
    silence = Silence(limits)
    for format in formats_for(request.model):
        arguments = {**callee, "prompt": request.prompt, **_wishes(request, format)}
        ask = litellm.aimage_edit if request.references else litellm.aimage_generation
        try:
            answer = await silence.bounded(ask(**arguments))
        except Exception as error:
            if format is None or not _is_about_format(error):
                raise
        else:
            return _counted(read_picture(answer.model_dump()), answer)
    raise AssertionError("the last form is asked or raises")


def _wishes(request: ImageRequest, format: str | None) -> dict[str, Any]:
    wishes: dict[str, Any] = {"size": request.size, "response_format": format}
    if request.references:
        # Each question gets files of its own: who reads one leaves it at its end.
        wishes["image"] = [_file(place, data) for place, data in enumerate(request.references, 1)]
    return {name: value for name, value in wishes.items() if value is not None}


def _file(place: int, data: bytes) -> BytesIO:
    file = BytesIO(data)
    file.name, _, _ = named(place, data)
    return file


def _is_about_format(error: Exception) -> bool:
    """It refuses what a host does not take before anything is sent, and says which argument that is."""
    symptom = litellm_errors.symptom(error)
    return "response_format" in symptom.message


def _counted(drawn: Drawn, answer: Any) -> Drawn:
    cost = getattr(answer, "_hidden_params", {}).get("response_cost")
    if not isinstance(cost, int | float) or cost <= 0:
        return drawn
    return replace(drawn, usage=replace(drawn.usage or UsageReport(), cost=float(cost)))
