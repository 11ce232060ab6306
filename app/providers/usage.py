"""Token counts as servers report them, made disjoint: what a cache served is no input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.engine.provider import UsageReport

_ABSURD = 10**9
"""Tokens, or dollars, of one call."""


def read_usage(payload: Mapping[str, Any]) -> UsageReport | None:
    """The counts in a payload or in one of its choices; None where there are none, or only zeros."""
    usage = payload.get("usage")
    if usage is None and "x_groq" in payload:
        usage = _inner(payload, "x_groq").get("usage")
    return read_counts(usage) if isinstance(usage, dict) else None


def read_counts(usage: Mapping[str, Any]) -> UsageReport | None:
    """Counts in OpenAI's words; strings are read as numbers, anything else as zero."""
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    output = _count(usage, "completion_tokens", "output_tokens")
    details = _inner(usage, "prompt_tokens_details", "input_tokens_details")
    spent = _inner(usage, "completion_tokens_details", "output_tokens_details")
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens", "cached_tokens")
    written = _count(details, "cache_write_tokens") or _count(usage, "cache_creation_input_tokens")
    thought = _count(spent, "reasoning_tokens")
    if thought and _count(usage, "total_tokens") == prompt + output + thought:
        output += thought  # a server that counts thinking beside the answer
    if not (prompt or output or cached or written):
        return None
    cost = usage.get("cost")
    price = float(cost) if isinstance(cost, int | float) and 0 <= cost < _ABSURD else None
    return UsageReport(max(0, prompt - cached - written), output, cached, written, price)


def read_disjoint_counts(usage: Mapping[str, Any]) -> UsageReport | None:
    """Counts in Anthropic's words, in which the input is without what a cache served or took."""
    report = UsageReport(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "cache_read_input_tokens"),
        _count(usage, "cache_creation_input_tokens"),
    )
    return None if report == UsageReport() else report


def _inner(usage: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The first of these that is an object."""
    for key in keys:
        value = usage.get(key)
        if isinstance(value, dict):
            return value
    return {}


def _count(usage: Mapping[str, Any], *keys: str) -> int:
    """The first of these that is there, above zero, and a number that a call can have."""
    for key in keys:
        if key in usage and 0 < (count := _whole(usage[key])) < _ABSURD:
            return count
    return 0


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
