"""A network that a command has for itself: its own loopback and nothing else, where the kernel gives such to a user.

Knows nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""``CLONE_NEWUSER`` and ``CLONE_NEWNET`` of unshare(2)."""
_SET_FLAGS, _UP = 0x8914, 0x1
"""``SIOCSIFFLAGS`` and ``IFF_UP`` of netdevice(7)."""


def move_to_own_network() -> bool:
    """Whether this process, and all it will start, is in a network of its own now.

    Raises ``OSError`` where that was begun and not finished.
    """
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None)
    if libc.unshare(_NEW_NETWORK) != 0:
        if libc.unshare(_NEW_USER | _NEW_NETWORK) != 0:
            return False
        _stay(user, group)
    with suppress(OSError):  # without it there is no network at all
        _raise_loopback()
    return True


def _stay(user: int, group: int) -> None:
    """The same user as before, in a space of users where there is no other."""
    own = Path("/proc/self")
    (own / "setgroups").write_bytes(b"deny")
    (own / "uid_map").write_bytes(f"{user} {user} 1".encode())
    (own / "gid_map").write_bytes(f"{group} {group} 1".encode())


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
