"""Where a path in a command leads, and what it means to read, write or delete there.

Paths are looked at as they are written and as they resolve. An unknown stretch is written ``\\0``; a ``*``, ``?`` or
``[`` may stand for any name that fits it, quoted or not, and a ``~`` at the front for the home folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Literal

from app.hands.permissions.closed_places import ClosedPlaces, Standing, asks, never_written
from app.hands.permissions.facts import Facts
from app.hands.permissions.lists import ASK, FREE
from app.hands.permissions.names import folded
from app.hands.permissions.verdict import Category, Finding

Use = Literal["look", "read", "tree", "write", "delete", "delete tree"]
"""``look``: at names only. ``tree``: a whole folder is read."""

UNKNOWN = "\0"

_DELETES = frozenset[Use]({"delete", "delete tree"})
_CHANGES = _DELETES | {"write"}
_VERBS: dict[Use, str] = {
    "look": "looks at",
    "read": "reads",
    "tree": "reads",
    "write": "writes",
    "delete": "deletes",
    "delete tree": "deletes",
}

_PIPES = re.compile(r"/dev/(?:null|zero|u?random|tty|std(?:in|out|err)|fd/\d+)")
_SOCKETS = re.compile(r"/dev/(?:tcp|udp)(?:/.*)?")
_DISKS = re.compile(r"/dev/(?:[shv]d|xvd|nvme|mmcblk|r?disk|mapper|dm-|loop|md|sr|k?mem|port)[^/]*(?:/.*)?")
_SYSTEM = re.compile(
    r"/(?:bin|boot|dev|etc|home|lib\d*|opt|proc|root|run|s?bin|srv|sys|usr|var|Applications|Library|System|Users|Volumes"
    r"|private|mnt|media|usr/(?:bin|lib|local|share|sbin|include)|var/(?:lib|log|mail|spool))?"
)
_CONTROL = re.compile(
    r"/(?:private/)?etc/(?:sudoers(?:$|\.d|/).*|pam\.d.*|passwd|group|shadow|ld\.so\.preload)|.*/\.ssh/authorized_keys2?"
)
_ADDRESS = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*://")
_BRACKET = re.compile(r"\[[^\]]*\]")
_ANYTHING = re.compile(r"(?:/(?:\*\*?|\.\*|\?\*))+$")
_WILD = re.compile(r"[*?\[\0]")
_MADE_BY_BUILDS = (
    *(
        "*.o",
        "*.obj",
        "*.a",
        "*.d",
        "*.pyc",
        "*.pyo",
        "*.class",
        "*.gcda",
        "*.gcno",
        "*.tsbuildinfo",
        "*.tmp",
    ),
    *(".coverage", "*.swp", ".DS_Store"),
)
"""Names of single files that a program makes anew; deleting one loses nothing."""


def reach(typed: str, use: Use, part: str, facts: Facts, folders: frozenset[str] | None) -> Iterator[Finding]:
    """What is to be said about a path. ``folders``: where the command may be running, None for anywhere."""
    if typed in ("", "-"):
        return
    if _ADDRESS.match(typed):
        yield Finding("network", part, "talks to another machine")
        return
    for path in _paths(typed, facts, folders):
        yield from _at(path, use, part, facts)
        real = facts.real(path) if UNKNOWN not in path else path
        if real != path:
            yield from _at(real, use, part, facts)
    if folders is None and not typed.startswith(("/", "~")):
        yield Finding(
            "opaque", part, f"{_VERBS[use]} {typed}, and in which folder is only known when it runs"
        )


def resolve(typed: str, facts: Facts, folders: frozenset[str] | None) -> frozenset[str] | None:
    """The absolute paths that a path may be; None where that is not known."""
    if UNKNOWN in typed or (folders is None and not typed.startswith(("/", "~"))):
        return None
    return frozenset(_paths(typed, facts, folders))


def label(path: str, facts: Facts) -> str:
    """A path as a person would write it: from the workspace, else from the home folder."""
    if path == facts.workspace:
        return "the workspace"
    if is_inside(path, facts.workspace):
        return path[len(facts.workspace) + 1 :]
    return f"~{path[len(facts.home) :]}" if is_inside(path, facts.home) else path


def is_inside(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, or is it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_in_roots(path: str, facts: Facts) -> bool:
    return any(is_inside(path, root) for root in facts.roots)


def _is_readable(path: str, facts: Facts) -> bool:
    return any(is_inside(path, folder) for folder in facts.readable)


def _paths(typed: str, facts: Facts, folders: frozenset[str] | None) -> Iterator[str]:
    typed = typed.removeprefix("file://")
    if typed == "~" or typed.startswith("~/"):
        yield _clean(facts.home + typed[1:])
    elif typed.startswith("~"):
        yield _clean(f"/home/{typed[1:]}")
    elif typed.startswith("/"):
        yield _clean(typed)
    else:
        yield from (_clean(f"{folder}/{typed}") for folder in folders or ())


def _clean(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/")


def _at(path: str, use: Use, part: str, facts: Facts) -> Iterator[Finding]:
    changing, name = use in _CHANGES, label(path, facts)
    if path.startswith("/dev/"):
        yield from _device(path, use, part)
    elif use in _DELETES and _is_wipe(path, facts):
        yield Finding("destructive", part, f"deletes {name}, from which nothing comes back", never=True)
    elif changing and (_is_own(path, facts) or _CONTROL.fullmatch(path)):
        yield Finding("privilege", part, f"changes {name}, which decides what is allowed here", never=True)
    elif use != "look" and _is_closed(path, use, facts):
        yield Finding(
            "sensitive", part, f"{_VERBS[use]} {name}, where keys, passwords or private data are kept"
        )
    elif UNKNOWN in path:
        yield from _unknown(use, part)
    elif not is_in_roots(path, facts) and (changing or not _is_readable(path, facts)):
        category: Category = "destructive" if changing else "outside"
        what = f"{_VERBS[use]} {name}, outside the workspace"
        yield Finding(category, part, what, changes=path if changing else "")
    else:
        yield from _inside(path, use, part, facts)


def _inside(path: str, use: Use, part: str, facts: Facts) -> Iterator[Finding]:
    names, name = Path(path).parts[1:], label(path, facts)
    if use in _CHANGES and _is_guarded(names):
        yield Finding(
            "privilege", part, f"changes {name}, which makes other programs run or trust what stands in it"
        )
    elif use in ("read", "tree", "write") and _asks(path, facts):
        yield Finding("dotenv", part, f"{_VERBS[use]} {name}, which may hold secrets")
    elif use == "tree" and (held := [secret for secret in facts.secret_files if is_inside(secret, path)]):
        yield Finding("dotenv", part, f"reads {label(min(held), facts)}, which may hold secrets")
    elif use == "delete tree" and any(is_inside(root, path) for root in facts.roots):
        yield Finding("destructive", part, f"deletes the whole folder {name}")
    elif use in _DELETES and not _may_go(path, use, facts):
        yield Finding("deletes", part, f"deletes {name}, which this conversation did not make")
    elif use in _CHANGES:
        yield Finding("changes", part, f"{_VERBS[use]} {name}")


def _device(path: str, use: Use, part: str) -> Iterator[Finding]:
    if _PIPES.fullmatch(path) and use not in _DELETES:
        return
    if _SOCKETS.fullmatch(path):
        yield Finding("exfiltration", part, "opens a connection to another machine")
    elif use == "look":
        return
    elif use in ("read", "tree"):
        yield Finding("sensitive", part, f"reads the device {path}")
    elif _DISKS.fullmatch(path) or UNKNOWN in path or _WILD.search(path):
        yield Finding("destructive", part, f"writes over the disk {path}", never=True)
    else:
        yield Finding("destructive", part, f"changes the device {path}")


def _unknown(use: Use, part: str) -> Iterator[Finding]:
    if use in _DELETES:
        yield Finding("destructive", part, "deletes what is only known when it runs")
    elif use != "look":
        yield Finding("opaque", part, f"{_VERBS[use]} a file that is only known when it runs")


def _is_wipe(path: str, facts: Facts) -> bool:
    """Whether a deletion takes the system, or a folder that holds the home folder, Plancia's data or the workspace."""
    whole = _ANYTHING.sub("", path) or "/"
    return (
        _SYSTEM.fullmatch(whole) is not None
        or any(is_inside(place, whole) for place in (facts.home, *facts.own))
        or (is_inside(facts.workspace, whole) and whole != facts.workspace)
    )


def _may_go(path: str, use: Use, facts: Facts) -> bool:
    known = _WILD.split(path)[0]
    if facts.made(path if known == path else known.rpartition("/")[0]):
        return True
    last = path.rpartition("/")[2]
    return use == "delete" and any(fnmatchcase(last, name) for name in _MADE_BY_BUILDS)


def _is_own(path: str, facts: Facts) -> bool:
    opened = any(is_inside(path, str(folder)) for folder in facts.closed.opened)
    return not opened and any(is_inside(path, own) for own in facts.own)


def _is_closed(path: str, use: Use, facts: Facts) -> bool:
    at = _standing_at(path, facts.closed)
    return at is None or (use == "tree" and bool(at.below))


def _standing_at(path: str, closed: ClosedPlaces) -> Standing | None:
    start = next((folder for folder in closed.opened if is_inside(path, str(folder))), None)
    at = closed.standing(Path("/"), start=start)
    for name in path.split("/")[1:]:
        if at is None or not at.below:
            return at
        if name:
            at = _enter_any(at, name) if _WILD.search(name) else at.enter(name)
    return at


def _enter_any(at: Standing, name: str) -> Standing | None:
    """As ``Standing.enter``, for all names that a wildcard may stand for."""
    ahead = tuple(deeper for names in at.below for pattern, deeper in names.items() if _may_be(name, pattern))
    return Standing(ahead) if all(ahead) else None


def _asks(path: str, facts: Facts) -> bool:
    name = path.rpartition("/")[2]
    if not _WILD.search(path):
        return asks(name) or facts.is_second_name(path)
    if any(_stands_for(path, secret) for secret in facts.secret_files):
        return True
    hidden = name.startswith(".") and any(_may_be(name, pattern) for pattern in ASK)
    return (hidden or asks(name)) and not any(fnmatchcase(name, free) for free in FREE)


def _stands_for(path: str, secret: str) -> bool:
    """Whether a wildcard finds a file; ``/**/`` is any way down, hidden folders too, as find goes it."""
    if "/**/" in path:
        return fnmatchcase(secret, path.replace("/**/", "/*"))
    names, found = path.split("/"), secret.split("/")
    return len(names) == len(found) and all(
        fnmatchcase(there, name) and not (there.startswith(".") and name[:1] in "*?[")
        for name, there in zip(names, found, strict=True)
    )


def _is_guarded(names: tuple[str, ...]) -> bool:
    return never_written(names) or any(
        _may_be(name, guarded)
        for name in names
        if _WILD.search(name)
        for guarded in (".git", ".mcp.json", ".bashrc")
    )


@lru_cache(4096)
def _may_be(wild: str, pattern: str) -> bool:
    """Whether a wildcard may stand for a name of a closed pattern; ``*`` at its front does not find hidden names."""
    if pattern.startswith(".") and wild[:1] in "*?[":
        return False
    return _overlap(_BRACKET.sub("?", folded(wild)).replace(UNKNOWN, "*"), pattern)


@lru_cache(4096)
def _overlap(one: str, other: str) -> bool:
    """Whether some text fits both patterns of ``*`` and ``?``."""
    if not one or not other:
        return not (one or other).strip("*")
    if one[0] == "*":
        return _overlap(one[1:], other) or _overlap(one, other[1:])
    if other[0] == "*":
        return _overlap(one, other[1:]) or _overlap(one[1:], other)
    return (one[0] == other[0] or "?" in (one[0], other[0])) and _overlap(one[1:], other[1:])
