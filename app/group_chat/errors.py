"""The room's errors, as a map. Each text is a sentence for the user; nothing was changed.

RoomError
├── EmptyMessage     There is nothing to send.
├── NothingToResume  The last turn ended as it should, or none was ever taken.
├── RoomBusy         A turn is running that has to end, or be stopped, first.
├── NothingToDecide  The request was answered already, or its run has ended.
├── UnknownDecision  The answer is none of those that were offered.
├── CannotUndo       What was changed cannot be brought back, or not any more.
├── CannotPlan       The plan is not such that this could be done to it.
├── MemberGone       The member that should answer is not there any more, or cannot work.
└── FolderMissing    The folder that the conversation works in is gone.
"""

from __future__ import annotations


class RoomError(Exception):
    """What was asked of the room cannot be."""


class EmptyMessage(RoomError):
    """There is nothing to send."""


class NothingToResume(RoomError):
    """The last turn ended as it should, or none was ever taken."""


class RoomBusy(RoomError):
    """A turn is running that has to end, or be stopped, first."""


class NothingToDecide(RoomError):
    """The request was answered already, or its run has ended."""


class UnknownDecision(RoomError):
    """The answer is none of those that were offered."""


class CannotUndo(RoomError):
    """What was changed cannot be brought back, or not any more."""


class CannotPlan(RoomError):
    """The plan is not such that this could be done to it."""


class MemberGone(RoomError):
    """The member that should answer is not there any more, or cannot work."""


class FolderMissing(RoomError):
    """The folder that the conversation works in is gone."""
