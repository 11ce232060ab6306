"""Which system calls a confined command is refused, as a filter of the Linux kernel (classic BPF, seccomp).

For what Landlock does not cover: sockets, which it sees only partly, and io_uring, which makes them past any filter.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Where they stand in what the filter is shown."""
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_NO_SUCH_CALL = 0x00050000 | errno.ENOSYS
_X32 = 0x40000000
"""From this number on: the calls of another interface of the same processor."""
_UNIX = 1
"""``AF_UNIX``."""
_IO_URING_SETUP = 425

_SET_FILTER = 22
_MODE_FILTER = 2


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of processor."""

    mark: int
    """``AUDIT_ARCH_…`` of the kernel."""
    socket: int
    """Number of that system call."""


MACHINES = {"x86_64": Machine(0xC000003E, 41), "aarch64": Machine(0xC00000B7, 198)}


def is_known() -> bool:
    """Whether there is a filter for this processor."""
    return platform.machine() in MACHINES


def refuse_sockets(*, network: bool) -> None:
    """From now on, for this process and all it starts: no socket, or with ``network`` all but those of this machine.

    Pairs of sockets, which lead nowhere else, stay. Needs ``NO_NEW_PRIVS``. Raises ``OSError``.
    """
    code = steps(MACHINES[platform.machine()], network=network)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_FILTER, _MODE_FILTER, ctypes.create_string_buffer(program, len(program)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter for system calls could not be set")


def steps(machine: Machine, *, network: bool) -> bytes:
    """The filter, eight bytes a step.

    A jump says how many steps it leaves out, where it holds and where it does not.
    """
    family = (
        (_step(_LOAD, _FIRST_ARGUMENT), _step(_JUMP_EQUAL, _UNIX, 0, 1), _step(_RETURN, _REFUSE))
        if network
        else (_step(_RETURN, _REFUSE),)
    )
    return b"".join(
        (
            _step(_LOAD, _ARCHITECTURE),
            _step(_JUMP_EQUAL, machine.mark, 1, 0),
            _step(_RETURN, _KILL),
            _step(_LOAD, _NUMBER),
            _step(_JUMP_AT_LEAST, _X32, 0, 1),
            _step(_RETURN, _NO_SUCH_CALL),
            _step(_JUMP_EQUAL, _IO_URING_SETUP, 0, 1),
            _step(_RETURN, _NO_SUCH_CALL),
            _step(_JUMP_EQUAL, machine.socket, 0, len(family)),
            *family,
            _step(_RETURN, _ALLOW),
        )
    )


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, value)
