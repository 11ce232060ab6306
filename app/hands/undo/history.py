"""The way back from everything: snapshots of one workspace, what is different between them, and restoring.

All of it lies outside the workspace, in a folder of its own that only the user can read: ``.env`` and its like are in
it as well. Git is neither asked nor touched. Every method blocks, so it is called in a thread.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.hands.errors import SnapshotTrouble
from app.hands.permissions.names import shown
from app.hands.permissions.paths import PathGate
from app.hands.permissions.places import FOLDER
from app.hands.terminal_text import Redact, as_it_is
from app.hands.threads import CheckStop
from app.hands.undo.applying import Applying
from app.hands.undo.diff import diff, in_order
from app.hands.undo.limits import LIMITS, Limits
from app.hands.undo.memory import Memory, load_memory, store_memory
from app.hands.undo.packs import SUFFIX, Packs, PackWriter
from app.hands.undo.plan import Plan, plan_undo
from app.hands.undo.pruning import prune
from app.hands.undo.records import find_record, has_record, list_records, store_record
from app.hands.undo.taking import Workspace, take_stock
from app.hands.undo.texts import TextDiff, left_out, text_diff
from app.hands.undo.trees import read_apart, read_tree
from app.hands.undo.values import (
    Change,
    Choice,
    Contents,
    File,
    Left,
    Origin,
    Outcome,
    Restored,
    Snapshot,
    Step,
)
from app.infra.clock import Clock, SystemClock
from app.infra.files import SYSTEM_DISK, Disk
from app.infra.ids import NewId, new_id
from app.infra.locks import Turn

_MEMORY = "memory"


class History:
    """The snapshots of the workspace of ``gate``, below ``root`` (the data folder's ``snapshots/``)."""

    def __init__(
        self,
        root: Path,
        gate: PathGate,
        *,
        limits: Limits = LIMITS,
        clock: Clock | None = None,
        new_id: NewId = new_id,
        disk: Disk = SYSTEM_DISK,
        redact: Redact = as_it_is,
    ) -> None:
        """``redact`` masks the keys in what is shown; what is brought back is what was there."""
        self._root = root
        self._gate = gate
        self._limits = limits
        self._clock = clock or SystemClock()
        self._new_id = new_id
        self._disk = disk
        self._redact = redact
        self._folder = root / hashlib.sha256(os.fsencode(gate.workspace)).hexdigest()[:24]
        self._packs = Packs(self._folder, disk)
        self._memory: Memory | None = None
        self._last: Snapshot | None = None

    # Looking

    def snapshots(self) -> tuple[Snapshot, ...]:
        """All that are kept, the oldest first."""
        return list_records(self._folder)

    def step(self, before: str, after: str) -> Step:
        """Two snapshots by their ids. Raises ``SnapshotTrouble`` for one that has been given up or is damaged."""
        sides = [find_record(self._folder, id) for id in (before, after)]
        if sides[0] is None or sides[1] is None:
            raise SnapshotTrouble(
                "What the workspace held then is not kept any more: the oldest snapshots make room for new ones."
            )
        return Step(sides[0], sides[1])

    def contents(self, snapshot: Snapshot) -> Contents:
        """Raises ``SnapshotTrouble`` for one that has been given up or is damaged."""
        with self._turn():
            return read_tree(snapshot.tree, self._packs)

    def left_out(self, snapshot: Snapshot) -> tuple[str, ...]:
        """What it does not hold and why, one sentence a path. Raises as ``contents``."""
        return left_out(self.contents(snapshot))

    def changes(self, steps: Sequence[Step]) -> tuple[Change, ...]:
        """What steps have come to, the first one first: of each path that one of them changed, what it was before
        the first of these and behind the last. Raises as ``contents``."""
        with self._turn():
            single = [change for step in steps for change in diff(*self._sides(step))]
        first = {change.path: change for change in reversed(single)}
        last = {change.path: change for change in single}
        whole = (Change(path, first[path].before, last[path].after) for path in sorted(first, key=in_order))
        return tuple(change for change in whole if change.before != change.after)

    def text_diff(self, change: Change) -> TextDiff:
        """A change for people. Raises as ``contents``."""
        with self._turn():
            diff = text_diff(change, self._packs.read)
        return replace(
            diff, lines=tuple(self._redact("\n".join(diff.lines)).split("\n") if diff.lines else ())
        )

    # Taking

    def take(self, origin: Origin, check_stop: CheckStop = lambda: None) -> Snapshot:
        """Keep what the workspace holds now; where nothing changed since the last look of a turn, its last snapshot.

        Raises ``SnapshotTrouble``, ``Stopped``; then no snapshot was taken, and the earlier ones are as they were.
        """
        with self._turn(), self._workspace() as workspace:
            last = self._last
            snapshot, _ = self._take(workspace, origin, check_stop)
            if snapshot is not last:
                self._prune(origin)
            return snapshot

    # Restoring

    def preview(
        self,
        steps: Sequence[Step],
        origin: Origin,
        *,
        only: Collection[str] | None = None,
        choices: Mapping[str, Choice] | None = None,
        check_stop: CheckStop = lambda: None,
    ) -> Outcome:
        """What ``restore`` would come to; nothing in the workspace changes. Raises as ``take``."""
        with self._turn(), self._workspace() as workspace:
            _, memory = self._take(workspace, origin, check_stop)
            plan = self._plan(steps, memory, only, choices)
            return _outcome(plan, plan.result, {})

    def restore(
        self,
        steps: Sequence[Step],
        origin: Origin,
        *,
        only: Collection[str] | None = None,
        choices: Mapping[str, Choice] | None = None,
        check_stop: CheckStop = lambda: None,
    ) -> Restored:
        """Undo steps, given the first one first, and keep what the user has changed since.

        ``only`` names paths to bring back, each with all below it; ``choices`` answers conflicts of an earlier call.
        The step of the result, undone, takes it back. Raises as ``take``; then nothing was restored, unless the
        sentence says that only the look at the result failed.
        """
        with self._turn(), self._workspace() as workspace:
            before, memory = self._take(workspace, origin, check_stop)
            plan = self._plan(steps, memory, only, choices)
            applying = Applying(workspace.root, memory.known, self._packs.read)
            applying.apply(plan.current, plan.result)
            after, now = self._look_back(workspace, origin)
            self._prune(origin)
        outcome = _outcome(plan, now.contents(), applying.left)
        return Restored(outcome.changes, outcome.conflicts, outcome.left, Step(before, after))

    # Parts

    def _take(self, workspace: Workspace, origin: Origin, check_stop: CheckStop) -> tuple[Snapshot, Memory]:
        last = self._memory or load_memory(self._folder / _MEMORY)
        now, id = self._clock.now(), self._new_id("snap")
        kept = self._last if self._last and has_record(self._folder, self._last.id) else None
        with PackWriter(self._packs, f"{id}{SUFFIX}") as writer:
            memory = take_stock(
                workspace,
                last,
                writer,
                self._limits,
                int(now.timestamp() * 1e9),
                check_stop,
                is_kept=kept is not None and kept.tree == last.tree,
            )
            writer.finish()
        self._memory = memory
        if memory != last:
            store_memory(self._folder / _MEMORY, memory, self._disk)
        if kept and kept.tree == memory.tree and Origin(kept.conversation, kept.turn) == origin:
            return kept, memory
        sizes = [known.entry.size for known in memory.known.values() if isinstance(known.entry, File)]
        self._last = Snapshot(
            id,
            str(self._gate.workspace),
            origin.conversation,
            origin.turn,
            now,
            memory.tree,
            len(sizes),
            sum(sizes),
        )
        store_record(self._folder, self._last, self._disk)
        return self._last, memory

    def _look_back(self, workspace: Workspace, origin: Origin) -> tuple[Snapshot, Memory]:
        """What a restore has come to. Raises ``SnapshotTrouble``."""
        try:
            return self._take(workspace, origin, lambda: None)
        except OSError as error:
            raise SnapshotTrouble(
                "The files were brought back, but what came of it could not be kept, so this cannot be undone: "
                f"{error.strerror or error}. Make room on the disk of {shown(str(self._root))}."
            ) from error

    def _plan(
        self,
        steps: Sequence[Step],
        memory: Memory,
        only: Collection[str] | None,
        choices: Mapping[str, Choice] | None,
    ) -> Plan:
        plan = plan_undo(
            memory.contents(),
            (self._sides(step) for step in reversed(steps)),
            self._packs.read,
            only=None if only is None else frozenset(only),
            choices=choices or {},
        )
        with PackWriter(self._packs, f"{self._new_id('merged')}{SUFFIX}") as writer:
            for data in plan.merged.values():
                writer.put(data)
            writer.finish()
        return plan

    def _sides(self, step: Step) -> tuple[Contents, Contents]:
        return read_apart(step.before.tree, step.after.tree, self._packs)

    def _prune(self, origin: Origin) -> None:
        try:
            prune(self._root, self._packs, origin.conversation, self._limits)
        except OSError:
            pass  # a full disk may refuse this; what was asked for is done, and the next call tries again

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One at a time on this workspace's snapshots, in all threads and processes."""
        try:
            self._root.mkdir(0o700, parents=True, exist_ok=True)
            self._folder.mkdir(0o700, exist_ok=True)
            with Turn(self._folder):
                self._packs.refresh()
                yield
        except OSError as error:
            raise SnapshotTrouble(
                f"Undo cannot keep or bring back what {shown(str(self._gate.workspace))} holds: "
                f"{error.strerror or error}. Make room on the disk of {shown(str(self._root))} and of the workspace, "
                "and see that both can be written; then try again."
            ) from error

    @contextmanager
    def _workspace(self) -> Iterator[Workspace]:
        root = self._gate.roots.workspace
        if root.standing is None:
            raise SnapshotTrouble(f"{shown(str(root.path))} is closed to tools. Choose another workspace.")
        try:
            descriptor = os.open(root.path, FOLDER)
        except OSError as error:
            raise SnapshotTrouble(
                f"The workspace {shown(str(root.path))} cannot be opened: {error.strerror}. "
                "See that the folder is there and can be read."
            ) from error
        try:
            yield Workspace(descriptor, root.standing, self._gate.is_closed_file)
        finally:
            os.close(descriptor)


def _outcome(plan: Plan, result: Contents, left: Mapping[str, Left]) -> Outcome:
    return Outcome(
        diff(plan.current, result),
        tuple(plan.conflicts.values()),
        tuple({**plan.left, **left}.values()),
    )
