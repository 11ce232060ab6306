"""Uploaded files on the disk. One that is chosen waits apart, where no member reads it; sent, it is its conversation's.

Each lies in a folder of its own, ``ID/NAME``, so that two files of one name do not meet. What is there is whole: a
folder gets its name when all of the file is on the disk. The rows of messages say which files were sent with them.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO

from app.engine.pictures import look_at
from app.hands.errors import Refused
from app.hands.pictures import StoredPictures, make_small
from app.infra.clock import Clock
from app.infra.files import sync_folder
from app.infra.ids import NewId, made_at, new_id
from app.infra.logs import failure
from app.infra.paths import DataFolder
from app.infra.threads import to_the_end
from app.workspace.attached import Attachment, clean_name, too_much, unfit
from app.workspace.errors import CannotAttach

WAITING = "waiting"
"""The folder of what is chosen and not sent; no conversation is called so."""

KEPT_UNSENT = timedelta(days=2)
"""How long a file waits for the message that it is chosen for."""

_ID = re.compile(r"att_[0-9a-z_]{1,40}")
_PIECE = 1 << 20
_PICTURES = ("png", "jpeg")


@dataclass(frozen=True, slots=True)
class Attachments:
    """The files of one conversation. What raises ``OSError`` here is told as ``CannotAttach``."""

    folder: DataFolder
    conversation: str
    new_id: NewId

    async def keep(self, given: str, file: BinaryIO) -> Attachment:
        """Store an upload, whatever it is called; it waits. Raises ``CannotAttach``."""
        name, id = clean_name(given), self.new_id("att")
        made = self._waiting / f".{id}"
        try:
            size = await to_the_end(partial(_copy, file, made / name))
            await self._keep_picture(made / name, id)
            await to_the_end(partial(_finish, made, self._waiting / id))
        except OSError as error:
            raise CannotAttach(_in_words(name, error)) from error
        finally:
            await to_the_end(partial(shutil.rmtree, made, ignore_errors=True))
        return Attachment(f"attachments/{self.conversation}/{id}/{name}", size, self._picture(id))

    def find(self, ids: Iterable[str]) -> list[Attachment]:
        """Those that are there, sent or not. Looks at the disk."""
        return [one for id in dict.fromkeys(ids) if (one := self._find(id)) is not None]

    def file_of(self, id: str) -> Path | None:
        """Where one lies, sent or not. Looks at the disk."""
        if not _ID.fullmatch(id):
            return None
        for place in (self._sent / id, self._waiting / id):
            with suppress(OSError, StopIteration):
                return next(place.iterdir())
        return None

    def send(self, ids: Sequence[str]) -> tuple[Attachment, ...]:
        """They belong to a message from now on; sending them again changes nothing. Looks at the disk.

        Raises ``CannotAttach`` where one is gone, or they are too many or too big together; then nothing is sent.
        """
        wanted = list(dict.fromkeys(ids))
        files = self.find(wanted)
        if len(files) < len(wanted):
            raise CannotAttach(
                "A file is not there any more. Remove it, attach it again, then send the message."
            )
        if refusal := too_much(files):
            raise CannotAttach(refusal)
        try:
            for one in files:
                if not (self._sent / one.id).is_dir():
                    self._sent.mkdir(mode=0o700, exist_ok=True)
                    (self._waiting / one.id).rename(self._sent / one.id)
        except OSError as error:
            raise CannotAttach(_in_words("The file", error)) from error
        return tuple(files)

    def discard(self, id: str) -> None:
        """One that waits is not wanted any more. Looks at the disk."""
        if _ID.fullmatch(id):
            self.remove(self._waiting / id)

    def take_back(self, files: Iterable[Attachment]) -> None:
        """Those of a message that nobody will hear. Looks at the disk."""
        for one in files:
            self.remove(self._sent / one.id)

    def remove(self, place: Path) -> None:
        """The folder of one, and its picture."""
        if place.is_dir() and (picture := self._picture(place.name)):
            (self.folder.root / picture).unlink(missing_ok=True)
        shutil.rmtree(place, ignore_errors=True)

    @property
    def _sent(self) -> Path:
        return self.folder.attachments / self.conversation

    @property
    def _waiting(self) -> Path:
        return self.folder.attachments / WAITING / self.conversation

    def _find(self, id: str) -> Attachment | None:
        file = self.file_of(id)
        if file is None:
            return None
        path = f"attachments/{self.conversation}/{id}/{file.name}"
        return Attachment(path, file.stat().st_size, self._picture(id))

    async def _keep_picture(self, file: Path, id: str) -> None:
        """What a model is shown of it, made now: a message is not held up by it. What cannot be opened is a file."""
        data = await to_the_end(partial(_picture_in, file))
        if data is None:
            return
        try:
            small = await make_small(data, file.name)
        except Refused:
            return
        pictures = StoredPictures(self.folder.root, self.conversation, lambda _: _picture_name(id))
        await to_the_end(partial(pictures.keep, small))

    def _picture(self, id: str) -> str:
        refs = (f"results/{self.conversation}/{_picture_name(id)}.{kind}" for kind in _PICTURES)
        return next((ref for ref in refs if (self.folder.root / ref).is_file()), "")


def sweep(folder: DataFolder, clock: Clock) -> None:
    """Remove what has waited too long for the message that it was chosen for. Blocks."""
    try:
        for conversation in _folders(folder.attachments / WAITING):
            files = Attachments(folder, conversation.name, new_id)
            for place in _folders(conversation):
                made = made_at(place.name.lstrip("."))
                if made is not None and clock.now() - made > KEPT_UNSENT:
                    files.remove(place)
        for emptied in (*_folders(folder.attachments / WAITING), folder.attachments / WAITING):
            with suppress(OSError):
                emptied.rmdir()
    except OSError as error:
        failure("sweep_failed", error)


def _copy(source: BinaryIO, target: Path) -> int:
    """Its size. Raises ``CannotAttach``, ``OSError``."""
    source.seek(0, os.SEEK_END)
    size = source.tell()
    source.seek(0)
    if why := unfit(target.name, size):
        raise CannotAttach(why)
    target.parent.mkdir(mode=0o700, parents=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(source, file, _PIECE)
        file.flush()
        os.fsync(descriptor)
    return size


def _finish(made: Path, whole: Path) -> None:
    made.rename(whole)
    sync_folder(whole.parent)


def _picture_in(file: Path) -> bytes | None:
    """All of it, where its first bytes are those of a picture that models know."""
    with file.open("rb") as opened:
        head = opened.read(64)
        if look_at(head) is None and not head.startswith(b"\xff\xd8\xff"):
            return None
        return head + opened.read()


def _picture_name(id: str) -> str:
    return f"img_{id.removeprefix('att_').replace('_', '')}"


def _folders(place: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError):
        yield from (each for each in sorted(place.iterdir()) if each.is_dir())


def _in_words(name: str, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{name} could not be stored: the disk is full. Free some space, then attach it again."
    return f"{name} could not be stored ({error.strerror or error}). Look at the data folder, then attach it again."
