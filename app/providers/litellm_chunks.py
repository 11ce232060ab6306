"""litellm's chunks as our stream events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.engine.provider import (
    CallFragment,
    ReasoningChunk,
    Stop,
    StopReason,
    StreamEvent,
    TextChunk,
    UsageReport,
)
from app.engine.surrogates import scrub_value

_STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "output_limit",
    "content_filter": "filtered",
    "refusal": "refused",
}


class ChunkReader:
    """Reads the chunks of one answer in order; ``end`` gives what is only known when they have all come."""

    def __init__(self) -> None:
        self._finish: str | None = None
        self._blocks: list[dict[str, Any]] = []
        self._thought = ""

    def read(self, chunk: Any) -> Iterator[StreamEvent]:
        for choice in chunk.choices[:1]:
            yield from self._delta(choice.delta)
            self._finish = choice.finish_reason or self._finish
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            yield _usage(usage)

    def end(self, stream: Any) -> Iterator[StreamEvent]:
        """The stop, unless litellm made it up, as it does where a stream merely ends."""
        made_up = getattr(stream, "uses_openai_chat_stream", False) and not getattr(
            stream, "received_any_finish_reason", True
        )
        if self._finish is not None and not made_up:
            yield Stop(_STOPS.get(self._finish, "end"))

    def _delta(self, delta: Any) -> Iterator[StreamEvent]:
        blocks = getattr(delta, "thinking_blocks", None) or ()
        reasoning = getattr(delta, "reasoning_content", None)
        if reasoning and not blocks:
            yield ReasoningChunk(reasoning)
        for block in blocks:
            yield from self._think(dict(block))
        if delta.content:
            yield TextChunk(delta.content)
        for call in delta.tool_calls or ():
            yield _call(call)

    def _think(self, block: dict[str, Any]) -> Iterator[StreamEvent]:
        """Pieces of a thinking block until its signature closes it; a redacted one comes whole.

        ``data`` holds all blocks so far, byte for byte, in the field in which the host takes them back.
        """
        if block.get("type") == "redacted_thinking":
            yield self._closed(block, None)
            return
        piece = block.get("thinking") or ""
        if piece:
            self._thought += piece
            yield ReasoningChunk(piece)
        signature = block.get("signature")
        if signature:
            whole = {"type": "thinking", "thinking": self._thought, "signature": signature}
            self._thought = ""
            yield self._closed(whole, signature)

    def _closed(self, block: dict[str, Any], signature: str | None) -> ReasoningChunk:
        self._blocks.append(block)
        return ReasoningChunk(signature=signature, data={"thinking_blocks": list(self._blocks)})


def _call(call: Any) -> CallFragment:
    """A signature comes beside the call, and once more behind its id, where it is only in the way."""
    added = getattr(call, "provider_specific_fields", None)
    id, data = call.id, None
    if isinstance(added, dict) and added:
        id, data = id and id.partition("__thought__")[0], {"provider_specific_fields": scrub_value(added)}
    return CallFragment(call.index, id, call.function.name, call.function.arguments, data)


def _usage(usage: Any) -> UsageReport:
    """Disjoint counts: litellm counts cached tokens among those of the prompt."""
    details = getattr(usage, "prompt_tokens_details", None)
    read = getattr(usage, "cache_read_input_tokens", None) or getattr(details, "cached_tokens", None) or 0
    written = (
        getattr(usage, "cache_creation_input_tokens", None)
        or getattr(details, "cache_creation_tokens", None)
        or 0
    )
    fresh = max(0, (usage.prompt_tokens or 0) - read - written)
    return UsageReport(fresh, usage.completion_tokens or 0, read, written)
