"""The last step before a command that Landlock confines: shuts the door behind itself, then becomes the command.

Told as arguments: one JSON object with ``readable``, ``writable``, ``devices`` and ``network``, then the command.
Anything that fails ends it before the command begins. Knows nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import stat
import struct
import sys

from app.hands.permissions import seccomp
from app.hands.permissions.own_network import move_to_own_network

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Numbers of its system calls, the same on every processor."""
_VERSION = 1
_PATH_BENEATH = 1
_DROP_CAPABILITY, _NO_NEW_PRIVS = 24, 38
"""Orders of prctl(2)."""
_MOST_CAPABILITIES = 64

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CONTROL
"""The rights that a rule for a single file can give."""

_TCP = 3
"""To listen and to connect."""
_SCOPES = 3
"""Abstract sockets and signals reach no process outside."""

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    order, argv = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        confine(order)
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.exit(f"landlock: {error}")


def abi() -> int:
    """The version that this kernel has; below 1 for none."""
    return int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION))


def confine(order: dict[str, list[str]]) -> None:
    """This process and all that it will start. Raises ``OSError``; then it may be confined in part."""
    every = _rights(abi())
    has_network = bool(order["network"]) or move_to_own_network()
    ruleset = _called(_CREATE, _attributes(abi(), every, network=has_network))
    for names, rights in (
        (order["readable"], _READ),
        (order["writable"], every & ~_DEVICE_CONTROL),
        (order["devices"], every),
    ):
        for name in names:
            _allow(ruleset, name, rights & every)
    _drop_capabilities()
    if _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the rights of programs could not be frozen")
    _done(_libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)
    seccomp.refuse_sockets(network=has_network)


def _drop_capabilities() -> None:
    """With what root may do beyond others, it could look into the memory of programs that Landlock keeps apart."""
    for capability in range(_MOST_CAPABILITIES):
        if _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0) != 0:
            if ctypes.get_errno() == errno.EPERM and os.geteuid() == 0:
                raise OSError(errno.EPERM, "the rights of root could not be given up")
            return  # the last one that this kernel knows, or a user who has none


def _rights(version: int) -> int:
    """All rights over files that this version knows."""
    every = _TRUNCATE - 1
    return every | (_TRUNCATE if version >= 3 else 0) | (_DEVICE_CONTROL if version >= 5 else 0)


def _attributes(version: int, files: int, *, network: bool) -> bytes:
    tcp = 0 if network or version < 4 else _TCP
    return struct.pack("QQQ", files, tcp, _SCOPES if version >= 6 else 0)[
        : 24 if version >= 6 else 16 if version >= 4 else 8
    ]


def _allow(ruleset: int, name: str, rights: int) -> None:
    """What has gone since the rules were made, or cannot be entered anyway, needs none."""
    try:
        place = os.open(name, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = struct.pack("=Qi", rights if is_folder else rights & _FILE, place)
        _done(_libc.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0))
    finally:
        os.close(place)


def _called(number: int, attributes: bytes) -> int:
    held = ctypes.create_string_buffer(attributes, len(attributes))
    return _done(_libc.syscall(number, held, ctypes.c_size_t(len(attributes)), 0))


def _done(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
