"""What can be told of a history without a model: the user's words, the files, how far it came."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.messages import Message, Text, ToolCall
from app.engine.pairing import Mutating, is_mutating
from app.engine.projection import shortened, written
from app.engine.surrogates import clean
from app.engine.tokens import estimate_tokens

PATH_KEYS = ("path", "file", "file_path", "filename", "source", "destination", "target")
MOST_FILES = 40
MOST_FAILURES = 5
SAID_SHARE = 0.25
"""Of the tokens of a summary: for the words of the user."""
WORDS = 150
"""Tokens of one message of the user that are quoted; a longer one shows its beginning and end."""


@dataclass(frozen=True, slots=True)
class Record:
    """Facts about the older part of a history, bounded."""

    said: tuple[str, ...] = ()
    """What the user said, oldest first."""
    changed: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    """Files by the calls that named them, the last one last."""
    failures: tuple[str, ...] = ()
    """The last calls that failed or whose outcome nobody knows."""
    answer: str = ""
    """The last text of the model."""
    earlier: str = ""
    """The text of the summary before, as it stood in the view."""


def take_record(
    messages: Sequence[Message],
    budget: int,
    *,
    leave_out: Collection[str] = (),
    mutating: Mutating = is_mutating,
) -> Record:
    """The record of all messages from the beginning of the history, not of its view; never raises.

    ``budget`` are the tokens of the summary that it serves, ``leave_out`` the ids of what is sent again.
    """
    said: list[str] = []
    changed: dict[str, None] = {}
    read: dict[str, None] = {}
    failures: list[str] = []
    answer = earlier = ""
    for message in messages:
        if message.summary is not None:
            earlier = next((block.text for block in message.blocks if isinstance(block, Text)), "")
        elif message.role == "user" and message.id not in leave_out and message.text.strip():
            said.append(clean(message.text).strip())
        elif message.role == "assistant" and message.text.strip():
            answer = message.text
    for call, status in _outcomes(messages):
        if status in ("ok", "outcome_unknown"):
            _note(changed if mutating(call.name) else read, paths_of(call.arguments))
        if status != "ok":
            told = clean(shortened(written(call), 30)).replace("\n", " ")
            failures.append(f"{clean(call.name)} {told}: {status}")
    return Record(
        said=_newest(said, int(budget * SAID_SHARE)),
        changed=tuple(changed)[-MOST_FILES:],
        read=tuple(path for path in read if path not in changed)[-MOST_FILES:],
        failures=tuple(failures[-MOST_FAILURES:]),
        answer=shortened(clean(answer).strip(), budget // 8),
        earlier=earlier,
    )


def paths_of(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The files that the arguments of a call name."""
    for key in PATH_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip() and len(value) <= 300:
            yield clean(value).replace("\n", " ")


def _outcomes(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, str]]:
    """Each call and the status of its result; a call without one was interrupted. Ids may come again later."""
    open_calls: dict[str, ToolCall] = {}
    for message in messages:
        for result in message.results:
            if (call := open_calls.pop(result.call_id, None)) is not None:
                yield call, result.status
        open_calls.update((call.id, call) for call in message.calls)
    yield from ((call, "interrupted") for call in open_calls.values())


def _note(files: dict[str, None], paths: Iterable[str]) -> None:
    for path in paths:
        files.pop(path, None)
        files[path] = None


def _newest(said: Sequence[str], budget: int) -> tuple[str, ...]:
    """The first words, which are mostly the task, and the newest ones that fit."""
    kept: list[str] = []
    for words in [*said[:1], *said[:0:-1]]:
        quoted = shortened(words, WORDS).replace("\n", "\n  ")
        budget -= estimate_tokens(quoted) + 2
        if budget < 0:
            break
        kept.append(quoted)
    return (*kept[:1], *kept[:0:-1])
