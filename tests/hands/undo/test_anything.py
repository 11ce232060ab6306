"""Any tree, any change of it, any edit of the user in between: restoring is exact, and the user's part stays."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
from hypothesis import given

from app.hands.undo.limits import Limits
from app.hands.undo.merge import merge
from app.hands.undo.values import Step, Unheld, folders_above
from tests.hands.undo.workshop import UNDO, Workshop, picture_of

NAMES = st.sampled_from(["a", "A", "b", "c d", "é", ".env", "node_modules"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENTS = st.one_of(
    st.binary(max_size=40), st.lists(st.sampled_from([b"x\n", b"y\n", b"z"]), max_size=8).map(b"".join)
)
MODES = st.sampled_from([0o600, 0o644, 0o755, 0o400])
ACTS = st.one_of(
    st.tuples(st.just("file"), PATHS, CONTENTS, MODES),
    st.tuples(st.just("link"), PATHS, st.sampled_from(["a", "../out", "/nowhere", "."])),
    st.tuples(st.just("folder"), PATHS, st.sampled_from([0o700, 0o755, 0o2775])),
    st.tuples(st.just("remove"), PATHS),
)


def act(workspace: Path, what: tuple) -> None:  # type: ignore[type-arg]
    """Make it so, whatever stands in the way of it; no link is written through."""
    kind, path, *more = what
    place = workspace
    *folders, last = path.split("/")
    for name in folders:
        place = place / name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)
    place = place / last
    if place.is_dir() and not place.is_symlink():
        if kind == "folder":
            place.chmod(more[0])
            return
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    if kind == "file":
        place.write_bytes(more[0])
        place.chmod(more[1])
    elif kind == "link":
        place.symlink_to(more[0])
    elif kind == "folder":
        place.mkdir()
        place.chmod(more[0])


def build(folder: Path, acts: list) -> None:  # type: ignore[type-arg]
    for each in acts:
        act(folder, each)


@given(st.lists(ACTS, max_size=8), st.lists(st.lists(ACTS, max_size=4), min_size=1, max_size=3))
def test_undoing_all_steps_gives_back_what_was_before_the_first(start: list, steps: list) -> None:  # type: ignore[type-arg]
    with TemporaryDirectory() as folder:
        shop = Workshop(Path(folder))
        build(shop.workspace, start)
        before = picture_of(shop.workspace)
        taken = []
        for acts in steps:
            first = shop.take()
            build(shop.workspace, acts)
            taken.append(Step(first, shop.take()))
        after = picture_of(shop.workspace)
        done = shop.history.restore(taken, UNDO)
        assert (done.conflicts, done.left) == ((), ())
        assert picture_of(shop.workspace) == before
        shop.history.restore([done.step], UNDO)
        assert picture_of(shop.workspace) == after


@given(st.lists(ACTS, max_size=8), st.lists(ACTS, min_size=1, max_size=4), st.lists(ACTS, max_size=4))
def test_what_the_user_changed_since_is_never_lost_without_a_word(
    start: list, acts: list, mine: list
) -> None:  # type: ignore[type-arg]
    with TemporaryDirectory() as folder:
        shop = Workshop(Path(folder))
        build(shop.workspace, start)
        before = picture_of(shop.workspace)
        first = shop.take()
        build(shop.workspace, acts)
        step = Step(first, shop.take())
        after = picture_of(shop.workspace)
        build(shop.workspace, mine)
        now = picture_of(shop.workspace)
        done = shop.history.restore([step], UNDO)
        end = picture_of(shop.workspace)
        told = {each.path for each in (*done.conflicts, *done.left)}
        for path in before.keys() | after.keys() | now.keys() | end.keys():
            sides = (before.get(path), after.get(path), now.get(path))
            stays = [] if told.isdisjoint(folders_above(path)) else [now.get(path)]
            assert end.get(path) in allowed(*sides, told=path in told) + stays, path
        shop.history.restore([done.step], UNDO)
        assert picture_of(shop.workspace) == now


Side = tuple[str, bytes] | None


def allowed(before: Side, after: Side, now: Side, *, told: bool) -> list[Side]:
    """What may stand at a path that a step took from ``before`` to ``after`` and the user to ``now``."""
    if told:
        return [now]
    if before == after:
        # A folder that the user removed comes back where something in it does.
        return [now, before] if now is None and before and before[0].startswith("4") else [now]
    if after == now or now == before or is_empty_folder(before, after, now):
        return [before]
    return merged(before, after, now)


def is_empty_folder(before: Side, after: Side, now: Side) -> bool:
    """Made by the step; that the user gave it another mode does not keep it."""
    return before is None and all(side and side[0].startswith("4") for side in (after, now))


def merged(before: Side, after: Side, now: Side) -> list[Side]:
    kinds = {side and side[0][:-4] for side in (before, after, now)}
    if before is None or after is None or now is None or len(kinds) > 1 or kinds == {""}:
        return []
    modes = {side[0] for side in (before, now)}
    whole = merge(after[1], now[1], before[1])
    contents = {before[1], now[1]} if after[1] in (before[1], now[1]) else {whole}
    return [(mode, content) for mode in modes for content in contents if content is not None]


@given(st.lists(ACTS, max_size=8), st.lists(ACTS, min_size=1, max_size=4), st.lists(ACTS, max_size=4))
def test_where_not_all_can_be_held_nothing_that_is_not_is_lost(start: list, acts: list, mine: list) -> None:  # type: ignore[type-arg]
    with TemporaryDirectory() as folder:
        shop = Workshop(Path(folder), Limits(file_bytes=20, workspace_bytes=60, entries=6))
        build(shop.workspace, start)
        first = shop.take()
        build(shop.workspace, acts)
        step = Step(first, shop.take())
        build(shop.workspace, mine)
        now = picture_of(shop.workspace)
        done = shop.history.restore([step], UNDO)
        end = picture_of(shop.workspace)
        held = shop.history.contents(done.step.before)
        lost = {path for path, side in now.items() if end.get(path) != side}
        assert {path for path in lost if isinstance(held.get(path), Unheld | None)} == set()
