"""The room's errors, as a map. Each text is a sentence for the user; nothing was changed.

RoomError
├── EmptyMessage     There is nothing to send.
├── NothingToResume  The last turn ended as it should, or none was ever taken.
├── RoomBusy         A turn is running that has to end, or be stopped, first.
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


class FolderMissing(RoomError):
    """The folder that the conversation works in is gone."""
