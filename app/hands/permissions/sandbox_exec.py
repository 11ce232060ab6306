"""Confinement on macOS by sandbox-exec, which the system brings along: a profile of what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.hands.permissions.confinement import Access, Badge

_PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/fd", "/dev/stdout", "/dev/stderr")


_BADGE = Badge(
    "sandbox-exec",
    "Commands are confined by sandbox-exec: they write only to the workspace and granted folders, cannot read "
    "credential folders and have no network unless it was allowed.",
    (
        "programs that are asked to do something by Apple events or by launchd",
        "seeing which other programs run, and with which variables",
        "programs that a command leaves behind in a session of their own",
        "all hosts, once the network was allowed for a command",
    ),
)


@dataclass(frozen=True, slots=True)
class SandboxExec:
    """The rule that stands last counts."""

    program: str = _PROGRAM
    badge: Badge = _BADGE

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        """See ``Mechanism``."""
        if not Path(self.program).exists():
            raise OSError("there is no sandbox-exec")
        return (self.program, "-p", profile(access), *argv)


def profile(access: Access) -> str:
    """In the language of the sandbox."""
    return "\n".join(("(version 1)", "(allow default)", *_rules(access)))


def _rules(access: Access) -> Iterator[str]:
    yield "(deny file-write*)"
    yield _rule("allow file-write*", access.writable)
    yield f"(allow file-write* {' '.join(f'(literal {json.dumps(name)})' for name in _DEVICES)})"
    if access.hidden:
        yield _rule("deny file-read* file-write*", access.hidden)
    if access.opened:
        yield _rule("allow file-read*", access.opened)
    # The temporary folder may lie in a hidden one.
    yield _rule("allow file-read* file-write*", [access.temporary])
    if access.protected:
        yield _rule("deny file-write*", access.protected)
    if above := _above((*access.hidden, *access.protected), access.writable):
        # Who moves the folder away moves what is closed in it.
        yield f"(deny file-write-unlink {' '.join(f'(literal {json.dumps(str(place))})' for place in above)})"
    if not access.network:
        yield "(deny network*)"
    yield "(deny appleevent-send)"


def _rule(what: str, places: Iterable[Path]) -> str:
    return f"({what} {' '.join(f'(subpath {json.dumps(str(place))})' for place in places)})"


def _above(places: Iterable[Path], roots: Iterable[Path]) -> list[Path]:
    """The folders between a root and something closed in it."""
    return sorted(
        {above for root in roots for place in places for above in place.parents if above.is_relative_to(root)}
    )
