"""From what the workspace holds to what it shall hold: staged first, then moved into place, one name at a time.

All new contents are written into a folder of their own before anything is changed, so a full disk changes nothing.
Each folder on the way to a name is opened without following links, and what stands at the name is looked at once
more: whatever is not as the plan knew it stays as it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from app.hands.permissions.places import FOLDER
from app.hands.undo.diff import diff
from app.hands.undo.memory import Known
from app.hands.undo.scan import opened
from app.hands.undo.values import Change, Contents, File, Folder, Left, Link

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Applying:
    """One restore on an open workspace. ``known`` has the stamps by which what stands there is recognised."""

    def __init__(self, root: int, known: Mapping[str, Known], content_of: Callable[[bytes], bytes]) -> None:
        self._root = root
        self._known = known
        self._content_of = content_of
        self.left: dict[str, Left] = {}

    def apply(self, current: Contents, wanted: Contents) -> None:
        """Raises ``OSError`` where the new contents cannot be staged; then nothing was changed.

        What could not be done is in ``left``.
        """
        changes = diff(current, wanted)
        with self._stage() as stage:
            staged = {
                change.path: self._staged(change.after, stage, str(number))
                for number, change in enumerate(changes)
                if isinstance(change.after, File | Link)
            }
            for change in reversed(changes):
                if _goes(change):
                    self._try(change.path, self._take_away)
            for change in changes:
                if isinstance(change.after, Folder) and not isinstance(change.before, Folder):
                    self._try(change.path, _make_folder)
                elif change.path in staged:
                    self._try(change.path, partial(self._move, stage, staged[change.path]))
            for change in reversed(changes):
                if isinstance(change.after, Folder):
                    self._try(change.path, partial(_set_mode, change.after.mode))

    # Staging

    @contextmanager
    def _stage(self) -> Iterator[int]:
        name = f".plancia-{secrets.token_hex(8)}"
        os.mkdir(name, 0o700, dir_fd=self._root)
        stage = os.open(name, FOLDER, dir_fd=self._root)
        try:
            yield stage
        finally:
            with os.scandir(stage) as entries:
                for entry in list(entries):
                    os.unlink(entry.name, dir_fd=stage)
            os.close(stage)
            try:
                os.rmdir(name, dir_fd=self._root)
            except OSError:
                pass  # somebody took it away or uses it: what was asked for is done all the same

    def _staged(self, entry: File | Link, stage: int, name: str) -> str:
        if isinstance(entry, Link):
            os.symlink(entry.target, name, dir_fd=stage)
            return name
        descriptor = os.open(name, _NEW, 0o600, dir_fd=stage)
        try:
            rest = memoryview(self._content_of(entry.content))
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fchmod(descriptor, entry.mode)
        finally:
            os.close(descriptor)
        return name

    # Single changes

    def _try(self, path: str, do: Callable[[str, int, str], None]) -> None:
        """Do it with the path, the open folder it lies in and its name there; note why where that fails."""
        if path in self.left:
            return
        folder, _, name = path.rpartition("/")
        try:
            with _writable(self._root, folder) as descriptor:
                do(path, descriptor, name)
        except _Changed:
            self.left[path] = Left(path, "It has been changed just now. Look at it, then undo again.")
        except OSError as error:
            self.left[path] = Left(path, _in_words(error))

    def _take_away(self, path: str, folder: int, name: str) -> None:
        if stat.S_ISDIR(self._expected(path, folder, name).st_mode):
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)

    def _move(self, stage: int, staged: str, path: str, folder: int, name: str) -> None:
        if self._stands(path):
            self._expected(path, folder, name)
            os.rename(staged, name, src_dir_fd=stage, dst_dir_fd=folder)
            return
        try:
            # ``link`` refuses where a file has appeared, ``rename`` would replace it.
            os.link(staged, name, src_dir_fd=stage, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise _Changed from None
        except (OSError, NotImplementedError):
            # A disk or a system without hard links. What may appear between the two calls is lost there.
            if name in os.listdir(folder):
                raise _Changed from None
            os.rename(staged, name, src_dir_fd=stage, dst_dir_fd=folder)

    def _stands(self, path: str) -> bool:
        """Whether a file or link is to be replaced, and not a name that is free by now."""
        known = self._known.get(path)
        return known is not None and not isinstance(known.entry, Folder)

    def _expected(self, path: str, folder: int, name: str) -> os.stat_result:
        """What stands there, if it is what the plan was made for."""
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            raise _Changed from None
        known = self._known[path].stamp
        if known is None or not known.is_same_thing(status):
            raise _Changed
        return status


class _Changed(Exception):
    """Something else was faster."""


def _goes(change: Change) -> bool:
    """Whether what stands there cannot simply be replaced by what shall stand there."""
    if change.before is None:
        return False
    return change.after is None or isinstance(change.before, Folder) != isinstance(change.after, Folder)


@contextmanager
def _writable(root: int, path: str) -> Iterator[int]:
    """An open folder in which names can be changed; one that is closed to its owner is opened for as long."""
    with opened(root, path) as folder:
        mode = stat.S_IMODE(os.fstat(folder).st_mode)
        if mode & 0o300 == 0o300:
            yield folder
            return
        os.fchmod(folder, mode | 0o300)
        try:
            yield folder
        finally:
            os.fchmod(folder, mode)


def _make_folder(path: str, folder: int, name: str) -> None:
    os.mkdir(name, 0o700, dir_fd=folder)


def _set_mode(mode: int, path: str, folder: int, name: str) -> None:
    with opened(folder, name) as descriptor:
        os.fchmod(descriptor, mode)


def _in_words(error: OSError) -> str:
    match error.errno:
        case errno.ENOTEMPTY | errno.EEXIST:
            return "It stays for what lies in it."
        case errno.ENOTDIR | errno.ELOOP | errno.ENOENT:
            return "A folder on the way to it is none any more. Look at it, then undo again."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return "The system does not permit it to be changed."
        case _:
            return f"The system cannot change it: {error.strerror or error}."
