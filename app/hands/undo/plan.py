"""What undoing steps comes to on the workspace as it is now: pure, and nothing of it is done here.

Each path is a three-way merge. Base is what the step left behind, ours what stands there now, theirs what stood
there before the step. Steps are undone from the last one back, each on what the one before it came to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from app.hands.undo.diff import chosen, diff
from app.hands.undo.merge import merge
from app.hands.undo.packs import digest_of
from app.hands.undo.texts import WHY
from app.hands.undo.values import (
    Change,
    Choice,
    Conflict,
    Contents,
    Entry,
    File,
    Folder,
    Left,
    Unheld,
    folders_above,
    parent_of,
)

T = TypeVar("T")


@dataclass(slots=True)
class Plan:
    """``result`` is what the workspace shall hold instead of ``current``; ``merged`` has the contents that are new."""

    current: Contents
    result: dict[str, Entry]
    merged: dict[bytes, bytes] = field(default_factory=dict)
    conflicts: dict[str, Conflict] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)

    def is_open(self, path: str) -> bool:
        """Whether nothing has been decided about a path that ends what is done to it."""
        return path not in self.conflicts and path not in self.left

    def put(self, path: str, entry: Entry | None, source: Contents) -> None:
        """Put an entry of ``source`` in its place, with the folders it lay in; None takes away what is there."""
        if entry is None:
            self.result.pop(path, None)
            return
        self.result[path] = entry
        for folder in folders_above(path):
            self.result.setdefault(folder, source[folder])

    def leave(self, path: str, why: str) -> None:
        self.put(path, self.current.get(path), self.current)
        self.left[path] = Left(path, why)

    def ask(self, conflict: Conflict) -> None:
        self.put(conflict.path, conflict.ours, self.current)
        self.conflicts[conflict.path] = conflict


def plan_undo(
    current: Contents,
    steps: Iterable[tuple[Contents, Contents]],
    read: Callable[[bytes], bytes],
    *,
    only: frozenset[str] | None = None,
    choices: Mapping[str, Choice] | None = None,
) -> Plan:
    """``steps`` are (before, after), the last one first, and may lack what is the same in both.

    ``only`` names the paths to bring back, each with all below it. ``read`` gives the content of a digest, and what it
    raises is raised.
    """
    plan = Plan(current, dict(current))
    for before, after in steps:
        empty_again = []
        for change in chosen(diff(before, after), only):
            if _is_barred(change.path, plan):
                continue
            if _is_new_folder(change) and isinstance(plan.result.get(change.path), Folder):
                empty_again.append(change)
            elif plan.is_open(change.path):
                _undo(change, plan, before, read, (choices or {}).get(change.path))
        _remove_folders(empty_again, plan)
    _keep_sound(plan)
    return plan


def _is_barred(path: str, plan: Plan) -> bool:
    """Whether a folder above it is none and stays so; what is said of that one is enough."""
    for folder in folders_above(path):
        if (why := _out_of_reach(plan.current.get(folder), None)) is not None:
            plan.leave(folder, why)
        if not plan.is_open(folder) and not isinstance(plan.result.get(folder), Folder):
            return True
    return False


def _is_new_folder(change: Change) -> bool:
    return change.before is None and isinstance(change.after, Folder)


def _undo(
    change: Change, plan: Plan, before: Contents, read: Callable[[bytes], bytes], choice: Choice | None
) -> None:
    path, theirs, base, ours = change.path, change.before, change.after, plan.result.get(change.path)
    if ours == theirs or choice == "mine":
        return
    if (why := _out_of_reach(ours, theirs)) is not None:
        plan.leave(path, why)
    elif ours == base or choice == "before":
        plan.put(path, theirs, before)
    elif (merged := _merged(base, ours, theirs, plan, read)) is not None:
        plan.result[path] = merged
    else:
        plan.ask(Conflict(path, plan.current.get(path), theirs, _reason(ours, theirs)))


def _remove_folders(new: list[Change], plan: Plan) -> None:
    """Folders that a step made go, the deepest first, unless something lies in them that stays."""
    inside = Counter(parent_of(path) for path in plan.result)
    for change in reversed(new):
        if not plan.is_open(change.path):
            continue
        if inside[change.path]:
            plan.leave(change.path, "It stays for what lies in it and is not undone.")
        else:
            del plan.result[change.path]
            inside[parent_of(change.path)] -= 1


def _out_of_reach(ours: Entry | None, theirs: Entry | None) -> str | None:
    if isinstance(theirs, Unheld):
        return f"What it was before is not kept: {WHY[theirs.why]}."
    if isinstance(ours, Unheld):
        return f"Nothing is put in its place, as what stands there now is not kept: {WHY[ours.why]}."
    return None


def _merged(
    base: Entry | None, ours: Entry | None, theirs: Entry | None, plan: Plan, read: Callable[[bytes], bytes]
) -> Entry | None:
    """One entry with both changes in it, where all three are of a kind that can be merged."""
    if isinstance(base, Folder) and isinstance(ours, Folder) and isinstance(theirs, Folder):
        mode = _one_of(base.mode, ours.mode, theirs.mode)
        return None if mode is None else Folder(mode)
    if not (isinstance(base, File) and isinstance(ours, File) and isinstance(theirs, File)):
        return None
    mode = _one_of(base.mode, ours.mode, theirs.mode)
    content = _one_of(base.content, ours.content, theirs.content)
    if mode is None:
        return None
    if content is not None:
        return File(mode, ours.size if content == ours.content else theirs.size, content)
    contents = (side.content for side in (base, ours, theirs))
    data = merge(*(plan.merged[each] if each in plan.merged else read(each) for each in contents))
    if data is None:
        return None
    digest = digest_of(data)
    plan.merged[digest] = data
    return File(mode, len(data), digest)


def _one_of(base: T, ours: T, theirs: T) -> T | None:
    """The side that changed, where only one did."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else None


def _reason(ours: Entry | None, theirs: Entry | None) -> str:
    if ours is None:
        return "It has been removed since."
    if theirs is None:
        return "It was new, and has been changed since."
    return "It has been changed since, in the same place."


def _keep_sound(plan: Plan) -> None:
    """Nothing lies in what is no folder: where undo and the user's own changes come to that, the user's stay."""
    for path in sorted(plan.result, key=lambda path: path.count("/")):
        for folder in folders_above(path):
            entry, now = plan.result.get(folder), plan.current.get(folder)
            if path not in plan.result or isinstance(entry, Folder):
                continue
            if entry != now:
                plan.leave(folder, "There are files in it now. Move them away, then undo again.")
                continue
            plan.put(path, plan.current.get(path), plan.current)
            if plan.is_open(folder):
                plan.leave(
                    folder, "It is no folder now, so what lay in it stays away. Move it, then undo again."
                )
