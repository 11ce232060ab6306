"""What a command that failed says, and with which exit code: 2 where what was typed cannot be, else 1."""

from __future__ import annotations

from app.commands.errors import CommandError, UsageError
from app.engine.errors import EngineError
from app.group_chat.errors import RoomError
from app.infra.errors import InfraError
from app.infra.settings import SettingError
from app.models.errors import StorageError
from app.workspace.errors import WorkspaceError

_TYPED_WRONG = (UsageError, SettingError, WorkspaceError)
_IN_WORDS = (CommandError, InfraError, StorageError, WorkspaceError, RoomError, EngineError)


def told(error: BaseException) -> tuple[str, int]:
    """A sentence and the exit code. An error that is not in words is a defect of ours, and says so."""
    error = cause(error)
    if isinstance(error, _IN_WORDS):
        return str(error), 2 if isinstance(error, _TYPED_WRONG) else 1
    return (
        f"Something went wrong inside Plancia ({type(error).__name__}). Nothing that was saved is lost. "
        "Run the command again with PLANCIA_DEBUG=1 to see where, and report it.",
        1,
    )


def cause(error: BaseException) -> BaseException:
    """The one error inside a group of one; tasks that end together wrap it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
