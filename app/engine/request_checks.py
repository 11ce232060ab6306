"""What is looked at before anything is sent: a refusal of ours says more than a server's, and spoils nothing."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine import parts
from app.engine.errors import ProviderError
from app.engine.outline import Entry, Writer
from app.engine.provider import ModelRequest


def check_request(request: ModelRequest) -> None:
    """Raises ``ProviderError`` of kind local for a request that cannot be written for any server."""
    if not request.model:
        raise ProviderError(
            "local", "No model is named for this call. Choose one in Settings, Model sources."
        )
    if not request.messages:
        raise ProviderError("local", "There is nothing to send to the model yet. Write a message first.")
    seen: set[str] = set()
    for tool in request.tools:
        if not parts.is_tool_name(tool.name) or tool.name in seen or not parts.described(tool.parameters):
            raise ProviderError(
                "local",
                f"The tool {tool.name[:80]!r} cannot be offered to a model: its name must be unique, of at most 64 "
                "letters, digits, _ and -, and its parameters an object. Switch it off or rename it.",
            )
        seen.add(tool.name)


def check_entries(writer: Writer, entries: Sequence[Entry], changed: int = 0) -> None:
    """The last look before sending: from ``changed`` on, calls and results are paired and nothing is empty.

    Raises ``ProviderError`` of kind local; that would be a defect of ours, said before a server has to.
    """
    while 0 < changed < len(entries) and writer.paired(entries[changed])[1]:
        changed -= 1
    due: list[str] = []
    for entry in entries[changed:]:
        asked, answered = writer.paired(entry)
        is_empty = not (entry.get("content") or entry.get("images") or asked)
        if is_empty or list(answered) != due[: len(answered) or None]:
            raise _unwritable()
        due = [*due[len(answered) :], *asked]
    if due:
        raise _unwritable()


def _unwritable() -> ProviderError:
    return ProviderError(
        "local",
        "This conversation could not be written as a valid request; nothing was sent. Please report this.",
    )
