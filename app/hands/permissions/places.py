"""A place that passed the check: an open folder and a name in it. All that touches files goes through here.

Nothing is opened by a whole path again, so what was checked is what is used.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from app.hands.errors import Refused
from app.hands.permissions.closed_places import Standing

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Purpose = Literal["read", "stat", "list", "search", "write", "edit", "mkdir", "delete"]
"""What a tool is after at a place."""


@dataclass(slots=True)
class Place:
    """What a path came to; ``with`` closes it."""

    path: Path
    """Absolute, all links resolved: what the file is called wherever one name for it is needed."""
    label: str
    """The same as a model should write it."""
    folder: int
    """Descriptor of the open folder that holds it; of the place itself where ``name`` is None."""
    name: str | None
    missing: tuple[str, ...]
    """Folders that would have to be made in ``folder``, one in the other, to hold it."""
    standing: Standing
    """What may be closed below the place itself."""
    status: os.stat_result | None
    """Of the thing itself, not followed; None where nothing is there."""
    is_closed_file: Callable[[os.stat_result], bool]

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.folder)

    @property
    def is_folder(self) -> bool:
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return self.status is not None and stat.S_ISREG(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        return self.status is not None and stat.S_ISLNK(self.status.st_mode)

    def look_again(self) -> None:
        """Take note of what is there by now."""
        if self.name is not None and not self.missing:
            try:
                self.status = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
            except FileNotFoundError:
                self.status = None

    def open_file(self) -> io.FileIO:
        """Open a regular file to read. Raises ``Refused`` for everything else."""
        if self.name is None or self.is_folder:
            raise Refused(
                "E_IS_FOLDER", f"{self.label} is a folder. List it with list_files, or name a file in it."
            )
        if self.status is None:
            raise failed(self.label, "opened", FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        if not self.is_file:
            raise Refused(
                "E_DENIED", f"{self.label} is no regular file but a pipe, socket or device. Use another file."
            )
        try:
            return open_regular(self.name, self.folder, self.is_closed_file)
        except OSError as error:
            raise failed(self.label, "opened", error) from error

    def open_folder(self) -> int:
        """A descriptor of the folder this is, for the caller to close. Raises ``Refused`` where it is none."""
        if not self.is_folder:
            raise Refused(
                "E_NOT_FOLDER", f"{self.label} is a file. Read it with read_file, or name its folder."
            )
        try:
            return (
                os.dup(self.folder) if self.name is None else os.open(self.name, FOLDER, dir_fd=self.folder)
            )
        except OSError as error:
            raise failed(self.label, "opened", error) from error

    def replace(self, data: bytes) -> None:
        """Make the file hold ``data``, durably and all at once: after a crash it is the old one or the new one.

        A hard link is broken, never written through; the mode stays. Nothing that appeared or was changed since
        it was looked at is overwritten. Raises ``Refused``; then nothing changed but folders that were made for it.
        """
        if self.name is None or not (self.status is None or self.is_file):
            raise Refused("E_IS_FOLDER", f"{self.label} is no regular file. Choose another name.")
        try:
            self._make_missing()
            _put(self.name, self.folder, data, self.status)
        except OSError as error:
            raise failed(self.label, "written", error) from error
        self.look_again()

    def make_folder(self) -> None:
        """Make this folder and those above it that are missing. Raises ``Refused`` where something stands there."""
        if self.name is None or self.status is not None:
            raise Refused("E_BAD_INPUT", f"{self.label} is there already. Go on, or choose another name.")
        try:
            self._make_missing()
            os.mkdir(self.name, dir_fd=self.folder)
        except OSError as error:
            raise failed(self.label, "made", error) from error

    def delete(self) -> None:
        """Delete what was looked at: a file or the link itself. Raises ``Refused``, for folders always."""
        if self.name is None or self.is_folder:
            raise Refused(
                "E_IS_FOLDER", f"{self.label} is a folder, and only files are deleted. Name a file in it."
            )
        try:
            _refuse_changed(self.name, self.folder, self.status)
            os.unlink(self.name, dir_fd=self.folder)
            os.fsync(self.folder)
        except OSError as error:
            raise failed(self.label, "deleted", error) from error

    def _make_missing(self) -> None:
        for name in self.missing:
            try:
                os.mkdir(name, dir_fd=self.folder)
            except FileExistsError:
                pass  # another call was faster; if it is no folder, opening it says so
            above, self.folder = self.folder, os.open(name, FOLDER, dir_fd=self.folder)
            os.close(above)
        self.missing = ()


def open_regular(name: str, folder: int, is_closed_file: Callable[[os.stat_result], bool]) -> io.FileIO:
    """Open ``name`` in an open folder if it is a regular file and not a second name of a closed one.

    Never waits for the other end of a pipe. Raises ``OSError``, or ``Refused`` for a closed file.
    """
    descriptor = os.open(name, _FILE, dir_fd=folder)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    if is_closed_file(status):
        os.close(descriptor)
        raise Refused(
            "E_DENIED", f"{name} is a second name of a file that is closed to tools. Leave it alone."
        )
    return io.FileIO(descriptor, "rb")


def read_whole(file: io.FileIO, label: str, most: int) -> bytes:
    """All of an open file. Raises ``Refused`` where that is more than ``most`` bytes."""
    data = bytearray()
    while piece := file.read(1 << 20):
        data += piece
        if len(data) > most:
            raise Refused(
                "E_TOO_LARGE", f"{label} is larger than {most:,} bytes. Read a range of it, or search in it."
            )
    return bytes(data)


def failed(label: str, done: str, error: OSError) -> Refused:
    """The system's answer, in words for the model."""
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return Refused(
                "E_DENIED",
                f"{label} cannot be {done}: the system does not permit it. Ask the user to change that.",
            )
        case errno.EEXIST:
            return Refused(
                "E_STALE", f"{label} has appeared just now. Read it with read_file before you change it."
            )
        case errno.ESTALE:
            return Refused(
                "E_STALE", f"{label} has been changed by something else just now. Read it again, then decide."
            )
        case errno.ELOOP | errno.ENOTDIR | errno.ENOENT:
            return Refused(
                "E_FAILED",
                f"{label} cannot be {done}: something else changed it just now. Look again with list_files.",
                transient=True,
            )
        case errno.ENOSPC | errno.EDQUOT:
            return Refused("E_FAILED", f"{label} cannot be {done}: the disk is full. Tell the user.")
        case errno.ENAMETOOLONG:
            return Refused(
                "E_BAD_INPUT", f"{label} cannot be {done}: the name is too long. Choose a shorter one."
            )
        case _:
            reason = error.strerror or "the system gave no reason"
            return Refused("E_FAILED", f"{label} cannot be {done}: {reason}. Tell the user if it stays so.")


def _put(name: str, folder: int, data: bytes, before: os.stat_result | None) -> None:
    beside = f".{os.urandom(8).hex()}.tmp"
    descriptor = os.open(beside, _NEW, 0o666 if before is None else 0o600, dir_fd=folder)
    try:
        try:
            if before is not None:
                _dress(descriptor, before)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if before is None:
            _name_new(beside, name, folder)
        else:
            _refuse_changed(name, folder, before)
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _forget(beside, folder)
        raise
    os.fsync(folder)


def _refuse_changed(name: str, folder: int, before: os.stat_result | None) -> None:
    """Raise ``OSError`` where other programs, which know nothing of our locks, were faster."""
    now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if before is None or _identity(now) != _identity(before):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _dress(descriptor: int, before: os.stat_result) -> None:
    """Give the new file the owner and the mode of the old one, but no set-id bits: what they ran is gone."""
    try:
        os.fchown(descriptor, before.st_uid, before.st_gid)
    except OSError:
        pass  # only some may give files away, and the one who writes owns it then
    os.fchmod(descriptor, before.st_mode & 0o777)


def _name_new(beside: str, name: str, folder: int) -> None:
    """Rename, but onto nothing: ``link`` refuses where a file has appeared, ``rename`` would replace it."""
    try:
        os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        # A file system or a system without hard links. What may appear between the two calls is lost there.
        if _exists(name, folder):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(beside, dir_fd=folder)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _forget(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        pass  # it was renamed already, or the disk is gone: the error that led here says more
