"""What happens in a room, in the order in which it happens: the one value that pages and ``run --json`` follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from app.engine import events as engine
from app.workspace.rows import PlanRow, TaskRow

FloorState = Literal["idle", "thinking", "organising", "writing", "tool", "asking", "waiting", "stopping"]


FORM = "ask_user"
"""The detail of a floor that is asking with a form; else it asks for approval."""


@dataclass(frozen=True, slots=True)
class RowAdded:
    """A new article stands at the end of the chat."""

    type: ClassVar[str] = "row_added"


@dataclass(frozen=True, slots=True)
class RowChanged:
    """An article that stands in the chat looks different now."""

    type: ClassVar[str] = "row_changed"


@dataclass(frozen=True, slots=True)
class LogReordered:
    """Articles that a full disk had kept from being stored have found their places, which may be others than before."""

    type: ClassVar[str] = "log_reordered"


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The list of waiting messages is another one."""

    type: ClassVar[str] = "queue_changed"


@dataclass(frozen=True, slots=True)
class FloorChanged:
    """Who is at work, and at what."""

    type: ClassVar[str] = "floor_changed"


@dataclass(frozen=True, slots=True)
class ConversationChanged:
    """Title, model, folder or sums of the conversation."""

    type: ClassVar[str] = "conversation_changed"


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """A turn, or a restore, has changed files of the workspace, or the user has sent some."""

    type: ClassVar[str] = "files_changed"


@dataclass(frozen=True, slots=True)
class FormShown:
    """A form stands in the chat, and somebody waits for its answers. ``fields`` as in ``forms.Form.stored``."""

    id: str
    title: str
    fields: tuple[Mapping[str, Any], ...]
    type: ClassVar[str] = "form"


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """A task was given, goes on, waits or has ended."""

    task: TaskRow
    type: ClassVar[str] = "task"


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """A plan was set, or one of its steps is another one now."""

    plan: PlanRow
    type: ClassVar[str] = "plan"


RoomChange = (
    RowAdded
    | RowChanged
    | LogReordered
    | QueueChanged
    | FloorChanged
    | ConversationChanged
    | FilesChanged
    | FormShown
    | TaskChanged
    | PlanChanged
)


@dataclass(frozen=True, slots=True)
class RoomEvent:
    """One event with its place: ``message_id`` names the article it belongs to, where it belongs to one."""

    conversation: str
    member: str
    turn: str | None
    time: str
    event: engine.Event | RoomChange
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """Who is at work in a room. ``since`` is ISO UTC; ``detail`` names the tool while one runs or asks."""

    state: FloorState = "idle"
    member: str = "commander"
    turn: str | None = None
    since: str | None = None
    detail: str | None = None

    @property
    def is_live(self) -> bool:
        return self.state != "idle"


@dataclass(frozen=True, slots=True)
class DeskEvent:
    """The list of conversations looks different: one was made, renamed, deleted, began or ended a turn."""

    conversation: str
