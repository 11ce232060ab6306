"""The files of ``plancia run --attach``: looked at before anything is made, then kept as those of the page are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from app.commands.errors import UsageError
from app.workspace.attached import Attachment, unfit
from app.workspace.attachments import Attachments
from app.workspace.errors import CannotAttach


def check_files(paths: Iterable[Path]) -> None:
    """Raises ``UsageError`` for what cannot be attached."""
    for path in paths:
        try:
            with path.open("rb") as file:
                why = unfit(path.name, file.seek(0, 2))
        except OSError as error:
            why = f"{path} cannot be attached ({error.strerror or error}). Name a file that can be read."
        if why:
            raise UsageError(why)


async def attach(files: Attachments, paths: Sequence[Path]) -> tuple[Attachment, ...]:
    """Raises ``UsageError``."""
    try:
        ids = []
        for path in paths:
            with path.open("rb") as file:
                ids.append((await files.keep(path.name, file)).id)
        return files.send(ids)
    except (CannotAttach, OSError) as error:
        raise UsageError(str(error)) from error
