"""The fake's image dialect of OpenAI: what it takes for a picture, and the pictures that it draws."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from email import message_from_bytes
from typing import Any

from tests.fakes.http_wire import Request
from tests.fakes.llm_script import Step
from tests.fakes.openai_chat import failure as failure  # errors look alike on every path of theirs
from tests.fakes.pictures import PIXEL
from tests.fakes.strict import MAGIC, Refused, check_fields, check_text, parse, require

GENERATIONS, EDITS = "/images/generations", "/images/edits"

_FIELDS = {"model", "prompt", "size", "response_format", "n"}
_OWN_FORM = re.compile(r"gpt-image|chatgpt-image")
_SIZE = re.compile(r"auto|\d{2,4}x\d{2,4}")
_WORDS = ("b64_json", "base64", "url")


def whole(steps: Iterable[Step], model: str) -> dict[str, Any]:
    """A picture for each ``picture`` step, else one black pixel; ``usage`` as it is scripted."""
    steps = list(steps)
    drawn = [step["picture"] for step in steps if "picture" in step] or [PIXEL]
    answer: dict[str, Any] = {"created": 1, "data": [{"b64_json": one} for one in drawn]}
    for step in steps:
        if "usage" in step and _OWN_FORM.match(model):
            given = step["usage"]
            answer["usage"] = {
                "input_tokens": given["input"],
                "output_tokens": given["output"],
                "total_tokens": given["input"] + given["output"],
                "input_tokens_details": {"text_tokens": given["input"], "image_tokens": 0},
            }
    return answer


def last_said(body: Any) -> str | None:
    return None


def read(request: Request) -> dict[str, Any]:
    """The fields of a request; of a form its texts, and its pictures in base64 with name and type."""
    kind = request.headers.get("content-type", "")
    if not kind.startswith("multipart/form-data"):
        fields = parse(request.body)
        return fields if isinstance(fields, dict) else {}
    form = message_from_bytes(f"content-type: {kind}\r\n\r\n".encode() + request.body)
    found: dict[str, Any] = {"images": []}
    for part in form.walk():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(content, bytes):
            continue
        if part.get_filename() is None:
            require(name not in found, f"{name} stands there twice")
            found[name] = content.decode()
        else:
            encoded = base64.b64encode(content).decode()
            picture = {"field": name, "name": part.get_filename(), "type": part.get_content_type()}
            found["images"].append({**picture, "data": encoded})
    return found


def refusal(request: Request) -> str | None:
    """One sentence about the first thing wrong with a request; None when all is well."""
    try:
        _check(request)
    except Refused as reason:
        return str(reason)
    return None


def _check(request: Request) -> None:
    with_pictures = request.path.endswith(EDITS)
    kind = request.headers.get("content-type", "")
    wanted = "multipart/form-data" if with_pictures else "application/json"
    require(kind.startswith(wanted), f"Unsupported content type {kind!r}")
    fields = read(request)
    check_fields(fields, _FIELDS | ({"images"} if with_pictures else set()), "the request")
    check_text(fields.get("model"), "model")
    check_text(fields.get("prompt"), "prompt")
    require(_SIZE.fullmatch(str(fields.get("size", "auto"))) is not None, "Invalid size")
    require(fields.get("response_format") in (None, *_WORDS), "Invalid value: 'response_format'")
    if _OWN_FORM.match(fields["model"]):
        require("response_format" not in fields, "Unknown parameter: 'response_format'.")
    if with_pictures:
        _check_pictures(fields["images"])


def _check_pictures(pictures: list[Mapping[str, str]]) -> None:
    require(1 <= len(pictures) <= 16, "image must be one to sixteen pictures")
    names = {"image[]"} if len(pictures) > 1 else {"image", "image[]"}
    for one in pictures:
        require(one["field"] in names, f"pictures are sent as {names}")
        begins = re.match(MAGIC.get(one["type"], rb"(?!)"), base64.b64decode(one["data"]), re.DOTALL)
        require(begins is not None, f"{one['name']} is not what its type says")


def body_of(request: Request) -> Any:
    """As ``read``, of whatever was sent."""
    try:
        return read(request)
    except (Refused, ValueError):
        return None


def draw(*pictures: bytes, usage: tuple[int, int] | None = None) -> dict[str, Any]:
    """An answer with these pictures."""
    steps: list[Step] = [{"picture": base64.b64encode(one).decode()} for one in pictures]
    if usage is not None:
        steps.append({"usage": {"input": usage[0], "output": usage[1]}})
    return {"steps": steps}


def at_address(url: str) -> dict[str, Any]:
    """An answer that only says where the picture is."""
    return {"status": 200, "body": json.dumps({"created": 1, "data": [{"url": url}]}), "headers": _JSON}


_JSON = {"content-type": "application/json"}
