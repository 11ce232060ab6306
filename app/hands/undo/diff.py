"""What is different between two contents, path by path."""

from __future__ import annotations

from collections.abc import Iterable

from app.hands.undo.values import Change, Contents, Unheld, folders_above


def diff(before: Contents, after: Contents) -> tuple[Change, ...]:
    """Every path that differs, in the order of their names.

    What lies below a folder that either side does not hold is not compared: it would look added or removed.
    """
    hidden = {path for side in (before, after) for path, entry in side.items() if isinstance(entry, Unheld)}
    paths = (path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return tuple(
        Change(path, before.get(path), after.get(path))
        for path in sorted(paths, key=in_order)
        if hidden.isdisjoint(folders_above(path))
    )


def in_order(path: str) -> list[str]:
    """Sorts a folder before what lies in it, and that before its next neighbour."""
    return path.split("/")


def chosen(changes: Iterable[Change], only: frozenset[str] | None) -> tuple[Change, ...]:
    """The changes of these paths and of all below them; of all where there is no choice."""
    return tuple(
        change
        for change in changes
        if only is None or change.path in only or not only.isdisjoint(folders_above(change.path))
    )
