"""The canonical history as a valid chat-completions request: what was stored is never what spoils the next call.

Pairing is enforced by ``pairing``; thinking of other models and empty blocks are left out; calls of tools that are
not offered any more are told in words; neighbours of one role become one message; ids and names are made such that
every server takes them; a user speaks first and last. The result is checked before anything is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import is_
from typing import Any

from app.engine import chat_parts as parts
from app.engine.chat_parts import Entry
from app.engine.errors import ProviderError
from app.engine.ladder import NOTHING, Left
from app.engine.messages import Message, Origin
from app.engine.pairing import open_calls, repair
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.surrogates import scrub_value

BEGINNING = "[The beginning of this conversation is not shown.]"
GO_ON = "[Go on from where you stopped.]"


def compile_openai_chat(request: ModelRequest, *, origin: Origin | None = None) -> Entry:
    """The body of the request: ``model``, ``messages``, and ``tools`` and ``max_tokens`` where asked for.

    ``origin`` is who will answer: its own thinking and ids are replayed as they came. Raises ``ProviderError`` of
    kind local for what no repair can make valid.
    """
    return ChatCompiler(origin, ("reasoning_content", "reasoning", "reasoning_details")).compile(request)


class ChatCompiler:
    """Compiles one growing history again and again; the part that did not change is not written anew.

    The messages it returns are shared between requests: read them, do not change them.
    """

    def __init__(self, origin: Origin | None = None, reasoning: Collection[str] = ()) -> None:
        """``reasoning`` names the fields in which this server takes its own thinking back."""
        self._origin = origin
        self._reasoning = reasoning
        self._history: Sequence[Message] = ()
        self._tools: tuple[ToolDefinition, ...] = ()
        self._tool_entries: list[Entry] = []
        self._left = NOTHING
        self._provisional = False
        self._forget()

    def compile(self, request: ModelRequest, left: Left = NOTHING) -> Entry:
        """See ``compile_openai_chat``; ``left`` is what this server is to be spared."""
        check_request(request)
        if left != self._left:
            self._left = left
            self._forget()
        self._take(request)
        body: Entry = {"model": request.model, "messages": self._framed(request.system)}
        if request.tools and "all_but_text" not in left:
            body["tools"] = self._tool_entries
        if request.max_output_tokens is not None:
            body["max_tokens"] = request.max_output_tokens
        return body

    def _take(self, request: ModelRequest) -> None:
        known = len(self._history)
        grown = known <= len(request.messages) and all(map(is_, self._history, request.messages))
        if request.tools != self._tools:
            self._tools, grown = request.tools, False
            self._tool_entries = [_tool(tool) for tool in request.tools]
        if not grown or self._provisional:
            self._forget()
            known = 0
        written = len(self._entries)
        last = self._entries[-1] if self._entries else None
        self._write_all(repair(request.messages[known:]))
        self._history = request.messages
        self._provisional = self._provisional or bool(open_calls(request.messages))
        changed = written if last is None or self._entries[written - 1] is last else written - 1
        check_entries(self._entries[changed:])

    def _forget(self) -> None:
        self._history = ()
        self._entries: list[Entry] = []
        self._taken: set[str] = set()
        self._ids: dict[str, str] = {}
        self._told: dict[str, str] = {}
        # What was written must be written anew next time, as it depends on where the history ended.
        self._provisional = False

    def _write_all(self, messages: Sequence[Message]) -> None:
        last_step = _last_step(messages)
        for place, message in enumerate(messages):
            self._write(message, is_last_step=place == last_step)

    def _write(self, message: Message, *, is_last_step: bool) -> None:
        if message.role == "tool":
            self._write_results(message)
        elif message.calls:
            self._write_step(message, is_last_step)
        elif message.role == "assistant":
            text = parts.plain_text(message.blocks)
            self._add({"role": "assistant", "content": text, **self._thinking(message)})
        else:
            self._add({"role": "user", "content": self._said(message)})

    def _write_step(self, message: Message, is_last_step: bool) -> None:
        text = parts.plain_text(message.blocks)
        self._ids, self._told = {}, {}
        if self._must_tell(message, is_last_step):
            self._told = {call.id: call.name for call in message.calls}
            told = "\n".join(parts.told_call(call) for call in message.calls)
            self._add({"role": "assistant", "content": f"{text}\n\n{told}" if text else told})
            return
        own = self._is_own(message)
        for call in message.calls:
            id = parts.wire_id(call, message.id, own=own, taken=self._taken)
            self._ids[call.id] = id
            self._taken.add(id)
        calls = [parts.wire_call(call, self._ids[call.id]) for call in message.calls]
        thinking = self._thinking(message)
        self._add({"role": "assistant", "content": text or None, "tool_calls": calls, **thinking})

    def _said(self, message: Message) -> str | list[Entry]:
        if self._left & {"pictures", "all_but_text"}:
            return parts.plain_text(message.blocks)
        return parts.user_content(message)

    def _must_tell(self, message: Message, is_last_step: bool) -> bool:
        """Calls of absent tools are told; only in the open step a model sees its mistaken call as it made it."""
        if "all_but_text" in self._left:
            return True
        offered = {tool.name for tool in self._tools}
        absent = "old_calls" in self._left or any(call.name not in offered for call in message.calls)
        if absent and offered and is_last_step:
            self._provisional = True
            return False
        return absent

    def _write_results(self, message: Message) -> None:
        for result in message.results:
            text = parts.result_text(result)
            if result.call_id in self._told:
                name = self._told[result.call_id]
                self._add({"role": "user", "content": parts.told_result(name, result)})
            else:
                self._entries.append(
                    {"role": "tool", "tool_call_id": self._ids[result.call_id], "content": text}
                )

    def _add(self, entry: Entry) -> None:
        if not entry["content"] and "tool_calls" not in entry:
            return
        last = self._entries[-1] if self._entries else None
        if last is not None and last["role"] == entry["role"] and "tool_calls" not in last:
            self._entries[-1] = parts.merged(last, entry)
        else:
            self._entries.append(entry)

    def _thinking(self, message: Message) -> Entry:
        spared = self._left & {"thinking", "all_but_text"}
        return (
            parts.reasoning_fields(message, self._reasoning) if self._is_own(message) and not spared else {}
        )

    def _is_own(self, message: Message) -> bool:
        theirs, mine = message.origin, self._origin
        if theirs is None or mine is None or (theirs.provider, theirs.model) != (mine.provider, mine.model):
            return False
        return theirs.endpoint == mine.endpoint or None in (theirs.endpoint, mine.endpoint)

    def _framed(self, system: str) -> list[Entry]:
        """The whole list: system prompt first, a user at both ends of the history."""
        head: list[Entry] = [{"role": "system", "content": parts.clean(system)}] if system.strip() else []
        if not self._entries or self._entries[0]["role"] != "user":
            head.append({"role": "user", "content": BEGINNING})
        if self._entries and self._entries[-1]["role"] == "assistant":
            return [*head, *self._entries, {"role": "user", "content": GO_ON}]
        return [*head, *self._entries]


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


def check_entries(entries: Sequence[Entry]) -> None:
    """The last look before sending: calls and results are paired and nothing is empty.

    Raises ``ProviderError`` of kind local; that would be a defect of ours, said before a server has to.
    """
    due: list[str] = []
    for entry in entries:
        expected = due.pop(0) if due else None
        fine = entry.get("tool_call_id") == expected and (entry["content"] or "tool_calls" in entry)
        due = due or [call["id"] for call in entry.get("tool_calls", ())]
        if not fine:
            break
    else:
        if not due:
            return
    raise ProviderError(
        "local",
        "This conversation could not be written as a valid request; nothing was sent. Please report this.",
    )


def _last_step(messages: Sequence[Message]) -> int | None:
    """Where the step stands whose results nobody has answered yet."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant":
            return place if messages[place].calls else None
    return None


def _tool(tool: ToolDefinition) -> Entry:
    function: dict[str, Any] = {"name": tool.name, "description": parts.clean(tool.description)}
    return {"type": "function", "function": {**function, "parameters": scrub_value(dict(tool.parameters))}}
