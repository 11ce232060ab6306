"""What chat-completions servers want of thinking in a history: they differ in this, and each is strict.

The address says which one is spoken to: ``/gemini/v1``, ``/deepseek/v1``, ``/deepseek-old/v1``. Other addresses take
what any server takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.strict import Refused, require

SIGNED_BY_GEMINI = "gm-"
"""How its signatures begin; it takes no others, but for the one word that stands for none."""
NOT_SIGNED = "skip_thought_signature_validator"


def refusal(path: str, body: Mapping[str, Any]) -> str | None:
    """One sentence, or None."""
    check = next((check for name, check in SERVERS.items() if path.startswith(f"/{name}/")), None)
    try:
        for message in body["messages"]:
            if check is not None and message["role"] == "assistant":
                check(message)
    except Refused as reason:
        return str(reason)
    return None


def _gemini(message: Mapping[str, Any]) -> None:
    """The first call of each step is signed; thinking is no part of a history."""
    require(
        "reasoning_content" not in message, 'Invalid JSON payload received. Unknown name "reasoning_content"'
    )
    for place, call in enumerate(message.get("tool_calls", ())):
        signature = call.get("extra_content", {}).get("google", {}).get("thought_signature")
        require(place > 0 or signature is not None, "Function call is missing a thought_signature")
        known = signature is None or signature == NOT_SIGNED or signature.startswith(SIGNED_BY_GEMINI)
        require(known, "Thought signature is not valid.")


def _deepseek(message: Mapping[str, Any]) -> None:
    passed_back = bool(message.get("reasoning_content"))
    require(passed_back, "The `reasoning_content` in the thinking mode must be passed back to the API.")
    _unsigned(message)


def _deepseek_old(message: Mapping[str, Any]) -> None:
    require("reasoning_content" not in message, "reasoning_content is not permitted in the messages")
    _unsigned(message)


def _unsigned(message: Mapping[str, Any]) -> None:
    calls = message.get("tool_calls", ())
    require(not any("extra_content" in call for call in calls), "unknown field `extra_content`")


SERVERS: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
    "gemini": _gemini,
    "deepseek": _deepseek,
    "deepseek-old": _deepseek_old,
}
