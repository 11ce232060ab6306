"""The canonical history as a valid request for one wire: what was stored is never what spoils the next call.

Pairing is enforced by ``pairing``; thinking of other models and empty blocks are left out; calls of tools that are
not offered any more are told in words; neighbours of one role become one message; ids and names are made such that
every server takes them; pictures beyond the server's limits are mentioned only; a user speaks first and last. How
it is spelled is the writer's; the result is checked before anything is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import is_

from app.engine import parts
from app.engine.ladder import NOTHING, Left
from app.engine.messages import Block, Image, Message, Origin, Reasoning, ToolCall
from app.engine.outline import Answered, Entry, Line, Returned, Said, WireCall, Writer
from app.engine.pairing import open_calls, repair
from app.engine.pictures import (
    NO_LONGER_SHOWN,
    NOT_SHOWN,
    Album,
    LoadImage,
    Picture,
    load_nothing,
)
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.request_checks import check_entries, check_request
from app.engine.surrogates import clean

BEGINNING = "[The beginning of this conversation is not shown.]"
GO_ON = "[Go on from where you stopped.]"

_BLIND = frozenset({"pictures", "all_but_text"})


class Compiler:
    """Compiles one growing history again and again; the part that did not change is not written anew.

    The messages it returns are shared between requests: read them, do not change them.
    """

    def __init__(
        self, writer: Writer, origin: Origin | None = None, load_image: LoadImage = load_nothing
    ) -> None:
        """``origin`` is who will answer: its own thinking and ids are replayed as they came."""
        self._writer = writer
        self._origin = origin
        self._album = Album(writer.pictures, load_image)
        self._tools: tuple[ToolDefinition, ...] = ()
        self._tool_entries: list[Entry] = []
        self._left = NOTHING
        self._forget()

    def unseen(self, request: ModelRequest, left: Left = NOTHING) -> tuple[Image, ...]:
        """Pictures that ``compile`` would have to load; ``look`` does it without holding anybody up."""
        if left & _BLIND:
            return ()
        known = len(self._history) if left == self._left and self._is_grown(request) else 0
        before = self._images if known else []
        return self._album.unseen([*before, *_images(request.messages[known:])])

    def look(self, images: Sequence[Image]) -> Callable[[], None]:
        """Load pictures, in any thread; what comes back has to be called on this one, and makes them known."""
        return partial(self._album.take, self._album.look(images))

    def compile(self, request: ModelRequest, left: Left = NOTHING) -> Entry:
        """The body of the request; ``left`` is what this server is to be spared.

        Raises ``ProviderError`` of kind local for what no repair can make valid.
        """
        check_request(request)
        if left != self._left:
            self._left = left
            self._forget()
        self._take(request)
        tools = [] if "all_but_text" in left else self._tool_entries
        system = clean(request.system) if request.system.strip() else ""
        return self._writer.body(request, system, self._framed(), tools)

    def _forget(self) -> None:
        self._history: Sequence[Message] = ()
        self._entries: list[Entry] = []
        self._taken: set[str] = set()
        self._step: dict[str, WireCall] = {}
        self._told: dict[str, str] = {}
        self._images: list[Image] = []
        self._gone = self._passed = 0
        """Pictures that are not shown any more; pictures written so far."""
        # What was written must be written anew next time, as it depends on where the history ended.
        self._provisional = False

    def _take(self, request: ModelRequest) -> None:
        known, grown = len(self._history), self._is_grown(request)
        if request.tools != self._tools:
            self._tools, grown = request.tools, False
            self._tool_entries = [self._writer.tool(tool) for tool in request.tools]
        if not known or not grown or self._provisional:
            self._forget()
            known = 0
        # Whatever fails on the way, nothing half written is gone on from.
        self._history = ()
        messages = repair(request.messages[known:])
        images = [*self._images, *self._shown_in(messages)]
        gone = self._show(images)
        if known and gone != self._gone:
            self._forget()
            messages = repair(request.messages)
            images = self._shown_in(messages)
            gone = self._show(images)
        self._images, self._gone = images, gone
        self._extend(messages)
        self._history = request.messages
        self._provisional = self._provisional or bool(open_calls(request.messages))

    def _is_grown(self, request: ModelRequest) -> bool:
        """Whether the request begins with the history that is written already."""
        known = self._history
        return len(known) <= len(request.messages) and all(map(is_, known, request.messages))

    def _shown_in(self, messages: Sequence[Message]) -> list[Image]:
        return [] if self._left & _BLIND else _images(messages)

    def _show(self, images: Sequence[Image]) -> int:
        while unseen := self._album.unseen(images):
            self.look(unseen)()
        return self._album.show(images)

    def _extend(self, messages: Sequence[Message]) -> None:
        written = len(self._entries)
        last = self._entries[-1] if self._entries else None
        last_step = _last_step(messages)
        for place, message in enumerate(messages):
            self._write(message, is_last_step=place == last_step)
        changed = written if last is None or self._entries[written - 1] is last else written - 1
        check_entries(self._writer, self._entries, changed)

    def _write(self, message: Message, *, is_last_step: bool) -> None:
        if message.role == "tool":
            self._write_results(message)
        elif message.role == "user":
            self._add(Said(tuple(self._said(message.blocks))))
        elif message.calls and self._must_tell(message, is_last_step):
            self._tell_step(message)
        else:
            self._write_answer(message)

    def _write_answer(self, message: Message) -> None:
        is_own = message.origin is not None and message.origin == self._origin
        thinks = is_own and not self._left & {"thinking", "all_but_text"}
        accepted = self._writer.own_id if is_own else parts.SAFE_ID
        self._told, self._step = {}, {}
        for call in message.calls:
            id = parts.wire_id(call, message.id, self._taken, accepted)
            self._taken.add(id)
            added = dict(call.data) if thinks and call.data else {}
            name, arguments = parts.wire_name(call.name), parts.arguments_of(call)
            self._step[call.id] = WireCall(id, name, arguments, added)
        blocks = (block for block in message.blocks if thinks or not isinstance(block, Reasoning))
        self._add(Answered(tuple(self._answer_parts(blocks))))

    def _answer_parts(self, blocks: Iterable[Block]) -> Iterator[str | Reasoning | WireCall]:
        for is_words, run in groupby(blocks, lambda block: not isinstance(block, Reasoning | ToolCall)):
            if is_words:
                yield from self._words(run)
                continue
            for block in run:
                if isinstance(block, ToolCall):
                    yield self._step[block.id]
                elif isinstance(block, Reasoning):
                    yield block

    def _tell_step(self, message: Message) -> None:
        self._told, self._step = {call.id: call.name for call in message.calls}, {}
        told = "\n".join(parts.told_call(call) for call in message.calls)
        self._add(Answered(("\n\n".join((*self._words(message.blocks), told)),)))

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
            if result.call_id in self._told:
                self._add(Said((parts.told_result(self._told[result.call_id], result),)))
            else:
                text = parts.result_text(result)
                self._add(Returned(self._step[result.call_id], text, result.status != "ok"))

    def _words(self, blocks: Iterable[Block]) -> Iterator[str]:
        """What can be read; pictures are only mentioned."""
        for is_picture, run in groupby(blocks, lambda block: isinstance(block, Image)):
            if is_picture:
                yield from (NOT_SHOWN for _ in run)
            elif text := parts.plain_text(run):
                yield text

    def _said(self, blocks: Iterable[Block]) -> Iterator[str | Picture]:
        """Words and pictures, in their order."""
        for is_picture, run in groupby(blocks, lambda block: isinstance(block, Image)):
            if is_picture:
                yield from (self._picture(block) for block in run if isinstance(block, Image))
            else:
                yield from self._words(run)

    def _picture(self, image: Image) -> Picture | str:
        if self._left & _BLIND:
            return NOT_SHOWN
        self._passed += 1
        return NO_LONGER_SHOWN if self._passed <= self._gone else self._album.picture(image)

    def _add(self, line: Line) -> None:
        add_line(self._writer, self._entries, line)

    def _framed(self) -> list[Entry]:
        """The history between a user at its beginning and a user, or results, at its end."""
        framed: list[Entry] = []
        if not self._entries or self._entries[0]["role"] != "user":
            add_line(self._writer, framed, Said((BEGINNING,)))
        framed += self._entries
        if framed[-1]["role"] == "assistant":
            add_line(self._writer, framed, Said((GO_ON,)))
        return framed


def add_line(writer: Writer, entries: list[Entry], line: Line) -> None:
    """Neighbours of one role become one, where the wire wants it."""
    entry = writer.write(line)
    if entry is None:
        return
    if entries and entries[-1]["role"] == entry["role"] and (both := writer.merged(entries[-1], entry)):
        entries[-1] = both
    else:
        entries.append(entry)


def _images(messages: Sequence[Message]) -> list[Image]:
    """Those that the user says, or a tool brought: a picture in an answer is only mentioned."""
    said = (message.blocks for message in messages if message.role == "user")
    return [block for blocks in said for block in blocks if isinstance(block, Image)]


def _last_step(messages: Sequence[Message]) -> int | None:
    """Where the step stands whose results nobody has answered yet."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant":
            return place if messages[place].calls else None
    return None
