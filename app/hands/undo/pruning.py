"""The budget of all snapshots: from the newest back as many as fit, and what the others alone needed goes."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from app.hands.errors import SnapshotTrouble
from app.hands.undo.limits import Limits
from app.hands.undo.packs import Packs, size_of
from app.hands.undo.records import list_records, remove_record
from app.hands.undo.trees import walk_tree
from app.hands.undo.values import Snapshot
from app.infra.locks import Turn

_FILLED = 0.7
"""Part of the budget that stays in use when it was exceeded, so that the next snapshots find room."""

_SLACK = 0.2
"""Part of a pack that may be dead before it is written anew."""


@dataclass(slots=True)
class _Store:
    packs: Packs
    snapshots: tuple[Snapshot, ...]
    live: set[bytes] = field(default_factory=set)


def prune(root: Path, own: Packs, conversation: str, limits: Limits) -> None:
    """Give up the oldest snapshots of all workspaces below ``root`` where they are too many or take too much.

    The snapshots of a conversation's newest turn go last, and those of this ``conversation`` never. The caller has the
    turn of ``own``; a workspace in which somebody else is at work is not touched. Raises ``OSError``.
    """
    if not _is_over(root, limits):
        return
    with ExitStack() as turns:
        stores = {own.folder: own}
        for folder in root.iterdir():
            turn = Turn(folder)
            if folder != own.folder and folder.is_dir() and turn.try_acquire():
                turns.callback(turn.release)
                stores[folder] = Packs(folder)
                stores[folder].refresh()
        _prune(
            [_Store(packs, list_records(folder)) for folder, packs in stores.items()], conversation, limits
        )


def forget(root: Path, conversation: str) -> None:
    """All snapshots of a conversation leave the disk, with what they alone needed. Blocks. Raises ``OSError``."""
    for folder in [each for each in root.glob("*") if each.is_dir()]:
        with Turn(folder):
            records = list_records(folder)
            kept = tuple(each for each in records if each.conversation != conversation)
            if len(kept) < len(records):
                _keep(folder, kept)


def _keep(folder: Path, kept: tuple[Snapshot, ...]) -> None:
    """These and no others. Nothing of the workspace, not even the names of its files, stays for none."""
    if not kept:
        shutil.rmtree(folder)
        return
    for record in list_records(folder):
        if record not in kept:
            remove_record(folder, record.id)
    store = _Store(Packs(folder), kept)
    store.packs.refresh()
    for snapshot in kept:
        _needed(snapshot, store)
    store.packs.keep_only(store.live, slack=0)


def _is_over(root: Path, limits: Limits) -> bool:
    files = list(root.glob("*/*"))
    return len(files) > limits.snapshots * 2 or size_of(files) > limits.store_bytes


def _prune(stores: list[_Store], conversation: str, limits: Limits) -> None:
    room, places = int(limits.store_bytes * _FILLED), int(limits.snapshots * _FILLED)
    for spared, store, snapshot in _newest_first(stores, conversation):
        needed = _needed(snapshot, store)
        size = sum(map(store.packs.length, needed))
        if spared or (size <= room and places > 0):
            room, places = room - size, places - 1
        else:
            store.live.difference_update(needed)
            remove_record(store.packs.folder, snapshot.id)
            room = -1  # all that is older goes as well
    for store in stores:
        store.packs.keep_only(store.live, slack=_SLACK)


def _newest_first(stores: list[_Store], conversation: str) -> list[tuple[bool, _Store, Snapshot]]:
    """All snapshots in the order in which they are to be kept, each with whether it is spared in any case."""
    held = [(snapshot, store) for store in stores for snapshot in store.snapshots]
    newest = {each.conversation: each.turn for each, _ in sorted(held, key=lambda pair: pair[0].made_at)}

    def rank(pair: tuple[Snapshot, _Store]) -> tuple[bool, bool, datetime]:
        snapshot, _ = pair
        is_last = newest[snapshot.conversation] == snapshot.turn
        return is_last and snapshot.conversation == conversation, is_last, snapshot.made_at

    return [(rank(pair)[0], pair[1], pair[0]) for pair in sorted(held, key=rank, reverse=True)]


def _needed(snapshot: Snapshot, store: _Store) -> list[bytes]:
    """What a snapshot needs and none before it did; what of it cannot be read is not looked into."""
    needed = []
    try:
        for digest in walk_tree(snapshot.tree, store.packs, store.live):
            needed.append(digest)  # noqa: PERF402 - what was found before the trouble counts
    except SnapshotTrouble:
        pass
    return needed
