"""One conversation as its pages see it: room events go in, frames of HTML come out, drawn once for all readers.

A frame is encoded before it is published; a reader is a number in the feed. Whatever a page shows after a frame
equals a page that is loaded then, because both are made by the same templates from the same rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.engine import events as engine
from app.group_chat.bus import Bus
from app.group_chat.events import (
    ConversationChanged,
    FilesChanged,
    FloorChanged,
    LogReordered,
    PlanChanged,
    QueueChanged,
    RoomEvent,
    RowAdded,
    RowChanged,
    TaskChanged,
)
from app.group_chat.room import Room
from app.infra.feed import Feed, Gap
from app.web.drawing import Drawing
from app.web.entries import DRAWN_KINDS, MessageView
from app.web.frames import frame
from app.web.growing import GrowingEntry
from app.web.views import message_view
from app.workspace.rows import MessageRow

FRAMES_KEPT = 2048
JOBS_SECONDS = 2.0
"""Between two looks at the background jobs."""
FLUSH_SECONDS = 0.03
"""Pieces of text that arrive within this time go out together."""


@dataclass(slots=True)
class _Changes:
    """What has happened since the last frame, folded to what has to be drawn."""

    added: list[str] = field(default_factory=list)
    changed: dict[str, None] = field(default_factory=dict)
    text: dict[str, list[str]] = field(default_factory=dict)
    reasoning: dict[str, list[str]] = field(default_factory=dict)
    progress: dict[str, list[str]] = field(default_factory=dict)
    queue: bool = False
    turns: set[str | None] = field(default_factory=set)
    """Those that had the floor, None where nobody did; empty where the floor stayed as it was."""
    conversation: bool = False
    usage: bool = False
    files: bool = False
    tasks: bool = False
    desk: bool = False

    def take(self, event: RoomEvent) -> None:
        row = event.message_id or ""
        match event.event:
            case RowAdded():
                self.added.append(row)
            case RowChanged():
                self.changed[row] = None
            case engine.TextDelta(text=text):
                self.text.setdefault(row, []).append(text)
            case engine.ReasoningDelta(text=text):
                self.reasoning.setdefault(row, []).append(text)
            case engine.ToolProgress(text=text) if text:
                self.progress.setdefault(row, []).append(text)
            case engine.Usage():
                self.usage = True
            case QueueChanged():
                self.queue = True
            case FloorChanged():
                self.turns.add(event.turn)
            case FilesChanged():
                self.files = True
            case TaskChanged() | PlanChanged():
                self.tasks = True
            case ConversationChanged():
                self.conversation = self.usage = self.tasks = True
            case _:
                pass


class PageFeed:
    """The frames of one conversation. ``draw`` makes those that are due; ``follow`` hands them to one reader."""

    def __init__(self, room: Room, bus: Bus, drawing: Drawing, boot: str) -> None:
        self.feed: Feed[bytes] = Feed(boot, FRAMES_KEPT)
        self._room = room
        self._desk = bus.desk
        self._drawing = drawing
        self._seen = room.feed.number
        self._seen_desk = bus.desk.number
        self._growing: dict[str, GrowingEntry] = {}
        self._readers = 0
        self._jobs: Sequence[object] = ()
        """How background jobs stood when they were looked at last; nothing where a reader may not know it."""
        self._look: asyncio.TimerHandle | None = None
        self._unwatch: tuple[Callable[[], None], ...] = ()
        self._due: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._drawn_turns = _turns_at_work(room)
        self._announced = ""
        self._broke = False

    @property
    def cursor(self) -> str:
        """Where a page stands that is made right after ``draw``."""
        return self.feed.cursor

    def draw(self) -> None:
        """Publish a frame for everything that has happened and has not been drawn.

        Where drawing raises, more has happened than is remembered, or articles have changed places, the next frame has
        the whole page.
        """
        self._call_off()
        happened = None if self._broke else self._room.feed.since(self._seen)
        desk = self._desk.since(self._seen_desk)
        self._seen, self._seen_desk = self._room.feed.number, self._desk.number
        self._broke = True
        if happened is None or self._is_reordered({type(event.event) for _, event in happened}):
            self._growing.clear()
            html = self._snapshot()
        else:
            changes = _Changes(desk=desk is None or bool(desk))
            for _, event in happened:
                changes.take(event)
            html = "".join(self._partials(changes))
        self._drawn_turns = _turns_at_work(self._room)
        self._broke = False
        if html:
            self._publish(html)

    def _is_reordered(self, happened: set[type]) -> bool:
        """Whether articles may stand elsewhere on a page that is open than on one that is loaded."""
        return LogReordered in happened or (RowAdded in happened and self._room.has_unstored)

    def redraw(self) -> None:
        """Something that no event of the room tells of is shown in it and has changed: settings, the list of models."""
        self.draw()
        self._publish(self._drawing.conversation_changed(self._room))

    def view(self, row: MessageRow) -> MessageView:
        """An article as a reader sees it now: of one that is being written, all that has been drawn."""
        agents = self._drawing.scenes.agents
        if row.state != "streaming":
            self._growing.pop(row.id, None)
            return message_view(row, agents=agents)
        entry = self._growing.get(row.id) or self._begun(row)
        if row.kind == "tool_call":
            return message_view(row, screen=entry.screen, agents=agents)
        return message_view(row, entry.markdown, entry.thought.text, agents=agents)

    def _begun(self, row: MessageRow) -> GrowingEntry:
        entry = self._growing[row.id] = GrowingEntry()
        text, thought = self._room.growing(row.id) or (row.text, str(row.data.get("reasoning") or ""))
        entry.markdown.feed(text)
        entry.thought.feed([thought])
        entry.screen.feed(self._room.output_of(row.id))
        return entry

    async def follow(self, cursor: str | None) -> AsyncIterator[bytes]:
        """Everything after ``cursor``, several frames at a time; one that is not ours gets the whole page anew."""
        with self._reading():
            self.draw()
            number = self.feed.parse(cursor) if cursor else None
            while True:
                if number is None:
                    self.draw()
                    number = self.feed.number
                    yield frame(self.feed.cursor, self._snapshot())
                try:
                    async for batch in self.feed.follow(number):
                        number = batch[-1][0]
                        yield b"".join(item for _, item in batch)
                    return
                except Gap:
                    number = None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """While anybody reads, frames are drawn as things happen; without readers nothing is."""
        self._readers += 1
        self._jobs = ()
        if self._readers == 1:
            self._unwatch = (self._room.feed.watch(self._news), self._desk.watch(self._news))
            self._look_later()
        try:
            yield
        finally:
            self._readers -= 1
            if self._readers == 0:
                self._call_off()
                if self._look is not None:
                    self._look.cancel()
                for unwatch in self._unwatch:
                    unwatch()

    def _look_later(self) -> None:
        self._look = asyncio.get_running_loop().call_later(JOBS_SECONDS, self._look_at_jobs)

    def _look_at_jobs(self) -> None:
        """They begin and end in processes of their own, and no event tells of it."""
        self._look_later()
        jobs = self._drawing.scenes.jobs_stand()
        if jobs != self._jobs:
            self._jobs = jobs
            self.draw()
            self._publish(self._drawing.jobs(self._room))

    def _news(self) -> None:
        """Draw at once after a pause, else when the flush time is over."""
        if self._due is None:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._drawn_at + FLUSH_SECONDS - loop.time())
            self._due = loop.call_later(wait, self._draw_due)

    def _call_off(self) -> None:
        """What was due is drawn now, or nobody reads it any more."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _draw_due(self) -> None:
        self._drawn_at = asyncio.get_running_loop().time()
        self.draw()

    def _partials(self, changes: _Changes) -> Iterator[str]:
        grown = list(self._grow(changes))
        for row_id in changes.added:
            if view := self._view_of(row_id):
                yield self._drawing.row_added(view)
        for row_id in changes.changed:
            if row_id not in changes.added and (view := self._view_of(row_id)):
                yield self._drawing.row_changed(view)
        whole = {*changes.added, *changes.changed}
        yield from (html for row_id, html in grown if row_id not in whole)
        yield from self._surroundings(changes)

    def _grow(self, changes: _Changes) -> Iterator[tuple[str, str]]:
        """What is added to articles that are drawn already; one that has to be drawn anew becomes a change."""
        for row_id, entry in self._growing.items():
            if pieces := changes.reasoning.get(row_id):
                began, more = not entry.thought.text, entry.thought.feed(pieces)
                if began and more:
                    changes.changed[row_id] = None
                elif more:
                    yield row_id, self._drawing.reasoning_delta(row_id, more)
            if pieces := changes.progress.get(row_id):
                lines = entry.screen.feed("".join(pieces))
                if lines is None:
                    changes.changed[row_id] = None
                else:
                    yield row_id, self._drawing.tool_progress(row_id, lines, entry.screen.open)
            if pieces := changes.text.get(row_id):
                was_full, swaps = entry.markdown.is_full, entry.markdown.feed("".join(pieces))
                if entry.markdown.is_full and not was_full:
                    changes.changed[row_id] = None
                else:
                    yield row_id, self._drawing.text_delta(row_id, swaps)

    def _surroundings(self, changes: _Changes) -> Iterator[str]:
        """What changes around the log."""
        drawing, room = self._drawing, self._room
        if changes.queue:
            yield drawing.queue_changed(room)
        if changes.turns:
            yield drawing.floor_changed(room)
            yield self._announce()
        if changes.tasks or changes.turns - self._drawn_turns:
            yield drawing.task(room)
        if changes.tasks:
            yield drawing.plan(room)
        if changes.files:
            yield drawing.files_changed(room)
        if changes.conversation:
            yield drawing.conversation_changed(room)
        if changes.usage:
            yield drawing.usage(room)
        if changes.desk:
            yield drawing.desk_changed(room)

    def _announce(self) -> str:
        """What a listener is told of those at work, once as long as it is the same."""
        announced = self._drawing.scenes.announcement(self._room)
        if announced in ("", self._announced):
            return ""
        self._announced = announced
        return self._drawing.announced(announced)

    def _view_of(self, row_id: str) -> MessageView | None:
        row = self._room.find_message(row_id)
        return self.view(row) if row and row.kind in DRAWN_KINDS else None

    def _snapshot(self) -> str:
        return self._drawing.snapshot(self._room, self.view)

    def _publish(self, html: str) -> None:
        self.feed.publish(frame(f"{self.feed.boot}-{self.feed.number + 1}", html))


def _turns_at_work(room: Room) -> set[str | None]:
    return {room.floor.turn, *(floor.turn for floor in room.at_work)}
