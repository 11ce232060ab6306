"""One method a template of the stream: what a room event looks like as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from app.group_chat.room import Room
from app.web.entries import MessageView
from app.web.live_markdown import Swap
from app.web.rendering import Templates
from app.web.scene import Scenes, View


class Drawing:
    def __init__(self, templates: Templates, scenes: Scenes) -> None:
        self.templates = templates
        self.scenes = scenes

    def row_added(self, message: MessageView) -> str:
        return self._draw("row_added", message=message)

    def row_changed(self, message: MessageView) -> str:
        return self._draw("row_changed", message=message)

    def text_delta(self, id: str, swaps: Sequence[Swap]) -> str:
        return self._draw("text_delta", id=id, swaps=swaps) if swaps else ""

    def reasoning_delta(self, id: str, text: str) -> str:
        return self._draw("reasoning_delta", id=id, text=text)

    def tool_progress(self, id: str, lines: Markup, open: Markup) -> str:
        return self._draw("tool_progress", id=id, lines=lines, open=open)

    def queue_changed(self, room: Room) -> str:
        return self._draw("queue_changed", **self.scenes.conversation(room))

    def floor_changed(self, room: Room) -> str:
        return self._draw("floor_changed", **self.scenes.conversation(room))

    def announced(self, sentence: str) -> str:
        return self._draw("announced", sentence=sentence)

    def conversation_changed(self, room: Room) -> str:
        return self._draw("conversation_changed", **self.scenes.conversation(room), **self.scenes.used(room))

    def usage(self, room: Room) -> str:
        return self._draw("usage", **self.scenes.used(room))

    def task(self, room: Room) -> str:
        return self._draw("task", **self.scenes.tasks(room))

    def plan(self, room: Room) -> str:
        return self._draw("plan", **self.scenes.plans(room))

    def files_changed(self, room: Room) -> str:
        return self._draw("files_changed", **self.scenes.files(room))

    def jobs(self, room: Room) -> str:
        return self._draw("jobs", **self.scenes.tasks(room), **self.scenes.shell(room.id))

    def desk_changed(self, room: Room) -> str:
        return self._draw("desk_changed", **self.scenes.shell(room.id))

    def snapshot(self, room: Room, view: View) -> str:
        """Everything of the page that can change, for a reader whose place in the stream is lost."""
        scenes = self.scenes
        return self._draw(
            "snapshot",
            **scenes.shell(room.id),
            **scenes.conversation(room),
            **scenes.details(room),
            **scenes.log(room, view),
        )

    def _draw(self, event: str, **values: Any) -> str:
        return self.templates.render(f"stream/{event}.html", **values)
