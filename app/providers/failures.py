"""Reads a failure where it shows itself: the body of an answer, an object inside a stream, an exception.

Servers wrap errors in a dozen ways; all of them become one ``Symptom``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from app.engine.surrogates import scrub
from app.providers.classify import Symptom
from app.providers.errors import StreamUnreadable
from app.providers.payloads import decode

_LONGEST = 2_000
"""Characters of a message that are looked at."""


def read_body(status: int | None, body: bytes) -> Symptom:
    """The body of an error answer: JSON of any make, HTML or plain text."""
    text = body[:_LONGEST].decode("utf-8", "replace").strip()
    try:
        value = decode(body)
    except StreamUnreadable:
        return Symptom(status, "", _without_tags(text))
    return Symptom(status, *_code_and_message(_innermost(value))) if value else Symptom(status)


def read_payload(payload: Mapping[str, Any]) -> Symptom | None:
    """The error that an event, or the body of a 200, holds in place of an answer; None where it holds none."""
    for choice in _dicts(payload.get("choices")):
        if choice.get("error") or choice.get("finish_reason") == "error":
            return Symptom(None, *_code_and_message(_innermost(choice)))
    if payload.get("error") or payload.get("type") == "error" or payload.get("object") == "error":
        return Symptom(None, *_code_and_message(_innermost(payload)))
    base = payload.get("base_resp")
    if isinstance(base, dict) and base.get("status_code"):
        return Symptom(None, str(base["status_code"]), _text(base.get("status_msg")))
    if "choices" not in payload and (payload.keys() & {"error_msg", "error_code", "detail", "errors"}):
        return Symptom(None, *_code_and_message(_innermost(payload)))
    return None


def read_exception(error: BaseException) -> Symptom:
    """An exception with its causes; one that a client library wraps around another is unwrapped."""
    inner = getattr(error, "original_exception", None)
    if isinstance(inner, BaseException) and inner is not error:
        error = inner
    status = getattr(error, "status_code", None)
    chain = [str(error)]
    cause = error.__cause__ or error.__context__
    while cause is not None and len(chain) < 8:
        chain.append(str(cause) or type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    message = " <- ".join(dict.fromkeys(part for part in chain if part))[:_LONGEST]
    return Symptom(status if isinstance(status, int) else None, "", scrub(message), type(error).__name__)


def _innermost(value: Any) -> Any:
    """The object that says what is wrong, out of the wrappings around it."""
    while True:
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict) and value.get("error"):
            inner = value["error"]
            value = inner if isinstance(inner, dict | list) else {**value, "error": None, "message": inner}
        elif isinstance(value, dict) and value.get("errors"):
            value = value["errors"]
        else:
            return value


def _code_and_message(value: Any) -> tuple[str, str]:
    if not isinstance(value, dict):
        return "", _text(value)
    codes = (value.get(key) for key in ("type", "code", "status", "error_code"))
    code = "/".join(str(one) for one in codes if isinstance(one, str | int) and one not in ("", "error"))
    words = [value.get(key) for key in ("message", "msg", "error_msg", "detail", "title")]
    # Gateways put the words of the server behind them here.
    metadata = value.get("metadata")
    words += [metadata.get("raw")] if isinstance(metadata, dict) else []
    return code, ": ".join(dict.fromkeys(_text(one) for one in words if one))[:_LONGEST]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return scrub(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _without_tags(text: str) -> str:
    if not text.startswith("<"):
        return text
    return " ".join(re.sub(r"(?s)<(script|style)\b.*?(</\1>|$)|<[^>]*>", " ", text).split())
