"""The workspace's errors, as a map. What the storage itself reports are ``app.models.errors``.

WorkspaceError
├── NotFound         What was asked for is not (or no longer) there.
├── TurnLive         The member's session is busy with another turn.
├── InvalidRule      A rule or a grant of the user cannot be as it was described.
├── InvalidSource    A model source cannot be as it was described.
├── InvalidAgent     An agent cannot be as it was described.
├── CannotAttach     A file cannot go with a message.
├── InvalidPlaybook  What was read is no playbook, or makes no plan.
└── AgentChanged     An agent is not any more what was shown to whoever changes it.
"""

from __future__ import annotations


class WorkspaceError(Exception):
    """What was asked of the workspace cannot be. The text is a sentence for the user; nothing was changed."""


class NotFound(WorkspaceError):
    """What was asked for is not (or no longer) there."""


class TurnLive(WorkspaceError):
    """The member's session is busy with another turn."""


class InvalidRule(WorkspaceError):
    """A rule or a grant of the user cannot be as it was described."""


class InvalidSource(WorkspaceError):
    """A model source cannot be as it was described. ``field`` names the part that is wrong, where it is one."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


class InvalidPlaybook(WorkspaceError):
    """What was read is no playbook, or makes no plan."""


class InvalidAgent(WorkspaceError):
    """An agent cannot be as it was described. ``field`` names the part that is wrong, where it is one."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


class CannotAttach(WorkspaceError):
    """A file cannot go with a message: it is empty, too big, gone, or there is no room for it."""


class AgentChanged(WorkspaceError):
    """An agent is not any more what was shown to whoever changes it."""
