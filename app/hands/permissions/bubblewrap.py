"""Confinement by bubblewrap: a command sees a file system made for it, its own processes and no network.

Everything is read-only but what may be written; closed places are covered; ``/tmp`` is the temporary folder, and
``/run``, where other programs listen, is empty. What is not there cannot be covered: a protected name that is made
anew is not kept from being written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.hands.permissions.confinement import Access, Badge

_ALONE = ("--unshare-pid", "--unshare-ipc", "--die-with-parent", "--dev", "/dev", "--proc", "/proc")
_PASSED_THROUGH = "0111"
"""The mode of a covered folder: neither listed nor written, but what is opened in it can be reached."""
_PROGRAMS = ("/run/current-system", "/run/wrappers")
"""Where one system keeps all its programs."""
_RESOLVERS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
"""Where the names of hosts are looked up on some systems."""


_BADGE = Badge(
    "bubblewrap",
    "Commands are confined by bubblewrap: they write only to the workspace and granted folders, cannot read "
    "credential folders, see no other programs and have no network unless it was allowed.",
    (
        "files such as .envrc or .vscode that a command makes where there were none",
        "sockets of other programs outside /run and /tmp",
        "all hosts, once the network was allowed for a command",
    ),
)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """``program`` is the path of ``bwrap``, 0.5 or newer."""

    program: str
    badge: Badge = _BADGE

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        """See ``Mechanism``."""
        options = [self.program, "--ro-bind", "/", "/", *_ALONE]
        if not access.network:
            options.append("--unshare-net")
        for _, option in sorted(_mounts(access), key=lambda mount: len(mount[0].parts)):
            options += option
        return (*options, "--chdir", str(access.writable[0]), "--", *argv)


def _mounts(access: Access) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """What lies where; the deeper of two comes later, and counts."""
    yield Path("/run"), ("--tmpfs", "/run")
    yield Path("/tmp"), ("--bind", str(access.temporary), "/tmp")
    kept = (*_PROGRAMS, *_RESOLVERS) if access.network else _PROGRAMS
    yield from ((Path(name), ("--ro-bind-try", name, name)) for name in kept)
    yield from ((place, ("--bind", str(place), str(place))) for place in access.writable)
    yield from ((place, _cover(place)) for place in access.hidden if _is_seen(place, access))
    yield from (
        (place, ("--ro-bind", str(place), str(place))) for place in (*access.opened, *access.protected)
    )
    # A folder on which something is mounted cannot be moved away, and a new one put in its place.
    above = {place.parent for place in access.protected} - set(access.writable)
    yield from ((place, ("--bind", str(place), str(place))) for place in above)


def _cover(place: Path) -> tuple[str, ...]:
    if place.is_dir():
        return ("--perms", _PASSED_THROUGH, "--tmpfs", str(place))
    return ("--ro-bind", "/dev/null", str(place))


def _is_seen(place: Path, access: Access) -> bool:
    """In ``/tmp`` and ``/run`` there is only what was put there."""
    replaced = place.is_relative_to("/tmp") or place.is_relative_to("/run")
    return not replaced or any(place.is_relative_to(root) for root in (*access.writable, *access.opened))
