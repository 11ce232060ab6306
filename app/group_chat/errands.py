"""Why a turn is taken: to answer the user, or for a task of another member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.engine.messages import Message
from app.engine.steering import UserInput
from app.group_chat.attaching import with_files
from app.group_chat.roles import WORKER
from app.group_chat.visibility import Request
from app.prompts.rendering import compose
from app.workspace.attached import Attachment
from app.workspace.rows import TaskRow

Part = Literal["addressed", "floor", "dispatched"]
"""How a member that is not Commander stands in a conversation: written to by name, holding the floor, or sent."""


@dataclass(frozen=True, slots=True)
class Errand:
    """A task, and its job as its member is told it: always under the same id."""

    task: TaskRow
    told: UserInput
    is_alone: bool = False
    """The user asked for it, and nobody waits for it."""
    model: str | None = None
    """``provider/model`` that does it, in the place of the one that would."""
    led_to: tuple[Request, ...] = ()
    """What the user said that led to it, for whom its member gives work in turn."""
    attachments: tuple[Attachment, ...] = ()
    """The files that go with the job."""

    @property
    def is_unseen(self) -> bool:
        """A worker without a name has no place in the chat, unless the user asked for its work."""
        return self.task.member == WORKER and not self.is_alone

    def first_words(self, turn: str, history: Sequence[Message], root: Path) -> UserInput:
        """What its member is told when a turn begins: the job, or to go on where it has heard that already.

        ``root`` is the data folder.
        """
        if any(message.id == self.told.id for message in history):
            return UserInput(compose("go_on", outcomes=()).strip(), turn)
        return with_files(self.told, self.attachments, root)
