"""Folders as contents of their own: one that did not change is kept once, however many snapshots hold it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from app.hands.undo.packs import Packs
from app.hands.undo.values import Contents, Entry, File, Folder, Link, Unheld, parent_of


class _Branch(Struct, frozen=True, array_like=True, tag="t"):
    """A folder in a folder: its mode, and the digest of what lies in it."""

    mode: int
    inside: bytes


_Row = tuple[bytes, File | Link | Unheld | _Branch]
_ROWS = msgspec.msgpack.Decoder(list[_Row])


def write_tree(contents: Contents, put: Callable[[bytes], bytes]) -> bytes:
    """Keep all folders, the deepest first; the digest of the root."""
    inside: dict[str, list[_Row]] = defaultdict(list)
    for path in sorted(contents, key=lambda path: path.count("/"), reverse=True):
        entry = contents[path]
        if isinstance(entry, Folder):
            stored: File | Link | Unheld | _Branch = _Branch(entry.mode, put(_rows(inside.pop(path, []))))
        else:
            stored = entry
        inside[parent_of(path)].append((os.fsencode(path.rpartition("/")[2]), stored))
    return put(_rows(inside[""]))


def read_tree(root: bytes, packs: Packs) -> dict[str, Entry]:
    """The contents of a root. Raises ``SnapshotTrouble``."""
    return read_apart(root, None, packs)[0]


def read_apart(
    before: bytes | None, after: bytes | None, packs: Packs
) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """The contents of two roots, less the folders that are the same in both. Raises ``SnapshotTrouble``."""
    contents: tuple[dict[str, Entry], dict[str, Entry]] = ({}, {})
    waiting = [("", before, after)] if before != after else []
    while waiting:
        prefix, *digests = waiting.pop()
        ahead: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
        for side, deeper, digest in zip(contents, ahead, digests, strict=True):
            for name, stored in _ROWS.decode(packs.read(digest)) if digest else ():
                path = prefix + os.fsdecode(name)
                if isinstance(stored, _Branch):
                    side[path] = Folder(stored.mode)
                    deeper[path] = stored.inside
                else:
                    side[path] = stored
        for path in ahead[0].keys() | ahead[1].keys():
            pair = (ahead[0].get(path), ahead[1].get(path))
            if pair[0] != pair[1]:
                waiting.append((f"{path}/", *pair))
    return contents


def walk_tree(root: bytes, packs: Packs, known: set[bytes]) -> Iterator[bytes]:
    """The digests of all that a root needs, less those that are ``known``, which grows by them."""
    waiting = [root]
    while waiting:
        digest = waiting.pop()
        if digest in known:
            continue
        known.add(digest)
        yield digest
        for _, stored in _ROWS.decode(packs.read(digest)):
            if isinstance(stored, _Branch):
                waiting.append(stored.inside)
            elif isinstance(stored, File) and stored.content not in known:
                known.add(stored.content)
                yield stored.content


def _rows(rows: list[_Row]) -> bytes:
    return msgspec.msgpack.encode(sorted(rows, key=lambda row: row[0]))
