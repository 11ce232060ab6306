"""What a snapshot leaves out where a workspace is too large: by weight, never by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from app.hands.undo.values import folders_above, parent_of


def too_heavy(weights: Mapping[str, int], most: int) -> frozenset[str]:
    """The paths to leave out so that the rest weighs at most ``most``; a folder stands for all below it.

    Whole parts of the workspace go, heaviest first, until one part alone is more than what is too much. Of that one
    goes the deepest folder that suffices: a cache of a million files, and not the project around it.
    """
    totals, inside = _add_up(weights)
    excess = totals[""] - most
    out = set()
    for top in sorted(inside[""], key=lambda path: (-totals[path], path)):
        if excess <= 0:
            break
        at = top
        while heavy := [path for path in inside[at] if totals[path] >= excess]:
            at = min(heavy, key=lambda path: (-totals[path], path))
        out.add(at)
        excess -= totals[at]
    return frozenset(out)


def _add_up(weights: Mapping[str, int]) -> tuple[dict[str, int], dict[str, set[str]]]:
    """The weight of everything with all below it, and what lies in each folder."""
    totals: dict[str, int] = defaultdict(int)
    inside: dict[str, set[str]] = defaultdict(set)
    for path, weight in weights.items():
        totals[path] += weight
        inside[parent_of(path)].add(path)
        for folder in folders_above(path):
            totals[folder] += weight
            inside[parent_of(folder)].add(folder)
        totals[""] += weight
    return totals, inside
