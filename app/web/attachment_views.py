"""Attached files as pages show them: in the message box, in a message, in the queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.web.plain import one_line
from app.workspace.attached import Attachment, size_in_words


@dataclass(frozen=True, slots=True)
class AttachmentView:
    id: str
    name: str
    size: str
    """In words."""
    href: str
    """Address of the file itself."""
    picture: str
    """Address of a small picture of it; nothing where it is none."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to go with the message that is being written."""

    files: tuple[AttachmentView, ...] = ()
    refused: tuple[str, ...] = ()
    """Of files that cannot, why: a sentence each."""


NOTHING_CHOSEN = Chosen()


def attachment_views(conversation: str, files: Iterable[Attachment]) -> tuple[AttachmentView, ...]:
    return tuple(_view(f"/conversations/{conversation}", one) for one in files)


def _view(at: str, file: Attachment) -> AttachmentView:
    picture = f"{at}/pictures/{file.picture.rpartition('/')[2]}" if file.picture else ""
    name = one_line(file.name)
    return AttachmentView(file.id, name, size_in_words(file.size), f"{at}/attachments/{file.id}", picture)
