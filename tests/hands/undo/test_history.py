"""Undo at the highest seam: whatever a command did comes back to the byte, and what the user did since stays."""

from __future__ import annotations

import os
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.hands.errors import SnapshotTrouble, Stopped
from app.hands.undo.limits import Limits
from app.hands.undo.values import File, Origin, Snapshot, Step
from tests.fakes.disk import FaultyDisk
from tests.hands.undo.workshop import ORIGIN, UNDO, Workshop, bash, picture_of

DIRTY = """
git init -q
mkdir -p src/deep/empty bin
for n in $(seq 200); do printf 'name = "alpha"\\nnumber = %s\\n' $n > src/file$n.py; done
printf '#!/bin/sh\\necho hi\\n' > bin/run; chmod 755 bin/run
printf 'ignored/\\n.env\\n' > .gitignore
git add -A; git commit -qm one
mkdir ignored; printf 'cache' > ignored/cache.bin; printf 'KEY=1' > .env; chmod 600 .env
printf 'never added\\0\\1' > untracked.bin
ln -s ../bin/run src/link; ln -s /nowhere/at/all dangling
printf 'half done' >> src/file1.py; rm src/file2.py; printf 'staged' > src/file3.py; git add src/file3.py
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf src",
        "git reset -q --hard",
        "git clean -fdq",
        "git clean -fdxq && git reset -q --hard",
        "sed -i s/alpha/omega/ src/*.py",
        "git checkout -q . && git stash -q -u",
        "chmod -R 700 src bin && chmod 400 untracked.bin",
        "rm -rf bin && printf 'a file' > bin",
        "rm .env && mkdir -p .env/inside && touch .env/inside/file",
        "rm src/link && cp -r bin src/link",
        "mv src Src && mv bin src",
        "find . -path ./.git -prune -o -type f -exec truncate -s 0 {} +",
        "rm -rf ignored untracked.bin dangling .env src/deep",
    ],
)
def test_a_dirty_tree_comes_back_to_the_byte_and_git_is_not_touched(script: str, shop: Workshop) -> None:
    bash(DIRTY, shop.workspace)
    files = picture_of(shop.workspace, without=".git")
    step = shop.step(script)
    git = picture_of(shop.workspace / ".git")
    assert picture_of(shop.workspace, without=".git") != files
    done = shop.history.restore([step], UNDO)
    assert picture_of(shop.workspace, without=".git") == files
    assert picture_of(shop.workspace / ".git") == git
    assert (done.conflicts, done.left) == ((), ())


def test_a_restore_can_be_undone_and_that_again(shop: Workshop) -> None:
    bash(DIRTY, shop.workspace)
    start = picture_of(shop.workspace)
    step = shop.step("rm -rf src bin; touch new")
    end = picture_of(shop.workspace)
    undone = shop.history.restore([step], UNDO)
    assert picture_of(shop.workspace) == start
    redone = shop.history.restore([undone.step], UNDO)
    assert picture_of(shop.workspace) == end
    shop.history.restore([redone.step], UNDO)
    assert picture_of(shop.workspace) == start


def test_what_is_unchanged_is_kept_once_and_makes_no_file(shop: Workshop) -> None:
    shop.write({"a": "one", "sub/b": "one"})
    first = shop.take()
    files = sorted(shop.store.rglob("*"))
    assert shop.take() == first
    assert sorted(shop.store.rglob("*")) == files


def test_another_turn_has_its_own_snapshot_of_the_same(shop: Workshop) -> None:
    first, second = shop.take(), shop.take(Origin("conv_a", "turn_2"))
    assert (first.tree, first.id) != (second.tree, second.id)
    assert first.tree == second.tree
    assert shop.history.snapshots() == (first, second)


def test_snapshots_are_found_again_by_another_process(shop: Workshop) -> None:
    shop.write({"a": "one"})
    step = shop.step("echo two > a")
    other = shop.open()
    assert other.snapshots() == (step.before, step.after)
    other.restore([step], UNDO)
    assert shop.read("a") == "one"


def test_a_change_that_leaves_size_and_date_as_they_were_is_seen(shop: Workshop) -> None:
    shop.write({"a": "one"})
    step = shop.step("touch -r a ../date && printf two > a && touch -r ../date a")
    assert [change.path for change in shop.history.changes([step])] == ["a"]


def test_only_the_user_can_read_what_is_kept(shop: Workshop) -> None:
    shop.write({".env": "KEY=secret"})
    shop.take()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in shop.store.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (shop.store, *shop.store.iterdir())} == {0o700}


# The user's own changes


def test_later_edits_of_the_user_are_kept_in_the_same_file(shop: Workshop) -> None:
    shop.write({"a": "1\n2\n3\n4\n5\n"})
    step = shop.step("sed -i s/2/two/ a")
    shop.write({"a": "1\ntwo\n3\n4\nfive\n"})
    done = shop.history.restore([step], UNDO)
    assert shop.read("a") == "1\n2\n3\n4\nfive\n"
    assert done.conflicts == ()
    shop.history.restore([done.step], UNDO)
    assert shop.read("a") == "1\ntwo\n3\n4\nfive\n"


def test_edits_of_the_user_between_two_steps_of_a_turn_are_kept(shop: Workshop) -> None:
    shop.write({"a": "1\n2\n3\n4\n5\n"})
    first = shop.step("sed -i s/1/one/ a")
    shop.write({"a": "one\n2\nthree\n4\n5\n", "mine": "yes"})
    second = shop.step("sed -i s/5/last/ a; touch its")
    done = shop.history.restore([first, second], UNDO)
    assert shop.read("a") == "1\n2\nthree\n4\n5\n"
    assert sorted(path.name for path in shop.workspace.iterdir()) == ["a", "mine"]
    assert (done.conflicts, done.left) == ((), ())


def test_where_both_changed_the_same_line_nothing_is_written_until_the_user_chose(shop: Workshop) -> None:
    shop.write({"a": "1\n2\n3\n", "b": "b\n"})
    step = shop.step("sed -i s/2/two/ a; rm b")
    shop.write({"a": "1\nzwei\n3\n"})
    done = shop.history.restore([step], UNDO)
    assert [(each.path, each.why) for each in done.conflicts] == [
        ("a", "It has been changed since, in the same place.")
    ]
    assert (shop.read("a"), shop.read("b")) == ("1\nzwei\n3\n", "b\n")
    assert shop.history.restore([step], UNDO, choices={"a": "mine"}).conflicts == ()
    assert shop.read("a") == "1\nzwei\n3\n"
    chosen = shop.history.restore([step], UNDO, choices={"a": "before"})
    assert shop.read("a") == "1\n2\n3\n"
    shop.history.restore([chosen.step], UNDO)
    assert shop.read("a") == "1\nzwei\n3\n"


def test_a_new_file_that_the_user_went_on_with_is_asked_about(shop: Workshop) -> None:
    step = shop.step("mkdir new; echo draft > new/a; echo draft > new/b")
    shop.write({"new/a": "my text"})
    done = shop.history.restore([step], UNDO)
    assert [each.path for each in done.conflicts] == ["new/a"]
    assert [each.path for each in done.left] == ["new"]
    assert picture_of(shop.workspace).keys() == {"new", "new/a"}


def test_a_file_that_the_user_put_into_a_new_folder_stays_with_it(shop: Workshop) -> None:
    step = shop.step("mkdir -p new/inner; touch new/its new/inner/its")
    shop.write({"new/mine": "mine"})
    done = shop.history.restore([step], UNDO)
    assert picture_of(shop.workspace).keys() == {"new", "new/mine"}
    assert [(each.path, each.why) for each in done.left] == [
        ("new", "It stays for what lies in it and is not undone.")
    ]


def test_a_folder_that_the_user_made_a_file_since_is_left_alone(shop: Workshop) -> None:
    shop.write({"sub/a": "1", "b": "1"})
    step = shop.step("rm -r sub; rm b")
    shop.write({"sub": "a file of mine"})
    done = shop.history.restore([step], UNDO)
    assert shop.read("sub") == "a file of mine"
    assert shop.read("b") == "1"
    assert [each.path for each in done.conflicts] == ["sub"]
    assert done.left == ()
    shop.history.restore([step], UNDO, choices={"sub": "before"})
    assert shop.read("sub/a") == "1"


def test_a_folder_that_is_asked_about_does_not_come_back_by_way_of_what_lay_in_it(shop: Workshop) -> None:
    shop.write({"a/inside": "1"})
    step = shop.step("rm -r a; touch a")
    (shop.workspace / "a").unlink()
    done = shop.history.restore([step], UNDO)
    assert [(each.path, each.why) for each in done.conflicts] == [("a", "It has been removed since.")]
    assert picture_of(shop.workspace) == {}
    shop.history.restore([step], UNDO, choices={"a": "before"})
    assert shop.read("a/inside") == "1"


def test_a_folder_that_the_user_replaced_after_a_change_in_it_is_left_alone(shop: Workshop) -> None:
    shop.write({"sub/a": "1", "sub/b": "1"})
    step = shop.step("rm sub/*")
    bash("rmdir sub; echo mine > sub", shop.workspace)
    done = shop.history.restore([step], UNDO)
    assert [each.path for each in done.left] == ["sub"]
    assert shop.read("sub") == "mine\n"


def test_a_file_that_a_folder_took_the_place_of_stays_away_while_the_user_has_files_in_it(
    shop: Workshop,
) -> None:
    shop.write({"a": "1"})
    step = shop.step("rm a; mkdir a; touch a/its")
    shop.write({"a/mine": "mine"})
    done = shop.history.restore([step], UNDO)
    assert [(each.path, each.why) for each in done.left] == [
        ("a", "There are files in it now. Move them away, then undo again.")
    ]
    assert picture_of(shop.workspace).keys() == {"a", "a/mine"}


# Parts


def test_one_file_comes_back_with_the_folders_it_lay_in(shop: Workshop) -> None:
    shop.write({"sub/deep/a": "1", "sub/deep/b": "1"})
    step = shop.step("rm -r sub")
    shop.history.restore([step], UNDO, only=["sub/deep/a"])
    assert picture_of(shop.workspace).keys() == {"sub", "sub/deep", "sub/deep/a"}


def test_a_folder_comes_back_with_all_below_it_and_nothing_else(shop: Workshop) -> None:
    shop.write({"sub/a": "1", "subtle": "1"})
    step = shop.step("rm -r sub subtle")
    shop.history.restore([step], UNDO, only=["sub"])
    assert picture_of(shop.workspace).keys() == {"sub", "sub/a"}


def test_a_preview_says_what_would_happen_and_changes_nothing(shop: Workshop) -> None:
    shop.write({"a": "1\n2\n3\n4\n5\n"})
    step = shop.step("sed -i s/1/one/ a; touch new")
    shop.write({"a": "one\n2\n3\n4\nfive\n"})
    before = picture_of(shop.workspace)
    outcome = shop.history.preview([step], UNDO)
    assert picture_of(shop.workspace) == before
    assert [(each.path, each.kind) for each in outcome.changes] == [("a", "changed"), ("new", "removed")]
    assert "+1" in shop.history.text_diff(outcome.changes[0]).lines


def test_a_turn_is_what_its_first_step_found_against_what_its_last_one_left(shop: Workshop) -> None:
    shop.write({"a": "1\n"})
    first = shop.step("echo 2 > a; touch passing")
    second = shop.step("echo 3 > a; rm passing; touch new")
    changes = shop.history.changes([first, second])
    assert [(each.path, each.kind) for each in changes] == [("a", "changed"), ("new", "added")]
    assert shop.history.text_diff(changes[0]).lines == ("@@ -1 +1 @@", "-1", "+3")


# What is not held


def test_what_a_snapshot_does_not_hold_is_said_and_left_alone(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, Limits(file_bytes=100))
    shop.write({"big": "x" * 101, ".git/config": "", "a": "1"})
    os.mkfifo(shop.workspace / "pipe")
    step = shop.step("echo more >> big; rm a pipe; head -c 200 /dev/zero > newbig; rm -r .git")
    assert shop.history.left_out(step.before) == (
        ".git is not kept: it is a version history, which undo leaves alone.",
        "big is not kept: it is too large.",
        "pipe is not kept: it is a pipe, socket or device.",
    )
    done = shop.history.restore([step], UNDO)
    assert {each.path for each in done.left} == {".git", "big", "newbig", "pipe"}
    assert picture_of(shop.workspace).keys() == {"a", "big", "newbig"}


def test_a_cloned_repository_goes_but_for_its_history(shop: Workshop) -> None:
    step = shop.step("mkdir clone; cd clone; git init -q; touch a b")
    done = shop.history.restore([step], UNDO)
    assert [path.name for path in (shop.workspace / "clone").iterdir()] == [".git"]
    assert [each.path for each in done.left] == ["clone/.git", "clone"]


def test_a_folder_that_is_too_large_is_neither_removed_nor_filled(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, Limits(workspace_bytes=10_000))
    shop.write({"src/a": "1", **{f"cache/{n}": "x" * 1_000 for n in range(20)}})
    step = shop.step("rm cache/1? cache/2; echo 2 > src/a")
    assert shop.history.left_out(step.after) == ()
    done = shop.history.restore([step], UNDO)
    assert shop.read("src/a") == "1"
    assert len(list((shop.workspace / "cache").iterdir())) == 9
    assert [each.path for each in done.left] == ["cache"]


def test_a_socket_and_a_closed_place_are_not_read(shop: Workshop) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(shop.workspace / "s"))
        history = shop.open(shop.folder)
        assert history.left_out(history.take(ORIGIN)) == (
            "snapshots is not kept: it is closed to tools.",
            "ws/s is not kept: it is a pipe, socket or device.",
        )


def test_names_that_are_no_utf8_come_back(shop: Workshop) -> None:
    name = os.fsdecode(b"caf\xe9")
    shop.write({name: "latin", "sub/Ünï\n": "odd"})
    before = picture_of(shop.workspace)
    shop.history.restore([shop.step("rm -r *")], UNDO)
    assert picture_of(shop.workspace) == before


# Trouble


def test_a_call_that_is_stopped_leaves_nothing(shop: Workshop) -> None:
    shop.write({f"f{n}": "x" for n in range(5)})
    looks = iter(range(4))

    def check_stop() -> None:
        if next(looks, None) is None:
            raise Stopped

    with pytest.raises(Stopped):
        shop.history.take(ORIGIN, check_stop)
    assert [path for path in shop.store.rglob("*") if path.is_file()] == []
    assert shop.take().files == 5


def test_a_workspace_that_is_gone_is_said(shop: Workshop) -> None:
    shop.workspace.rmdir()
    with pytest.raises(SnapshotTrouble, match="cannot be opened: No such file"):
        shop.take()


def test_a_damaged_store_is_said_and_nothing_is_restored(shop: Workshop) -> None:
    shop.write({"a": "one"})
    step = shop.step("rm a")
    (pack,) = shop.store.rglob(f"{step.before.id}.pack")
    data = bytearray(pack.read_bytes())
    data[1] ^= 1
    pack.write_bytes(bytes(data))
    with pytest.raises(SnapshotTrouble, match="cannot be brought back"):
        shop.open().restore([step], UNDO)
    assert picture_of(shop.workspace) == {}


def test_two_workspaces_and_two_conversations_do_not_meet(shop: Workshop) -> None:
    other = shop.open(shop.folder / "home")
    shop.write({"a": "1"})
    mine = shop.step("rm a")
    theirs = Step(other.take(Origin("conv_b", "turn_9")), other.take(Origin("conv_b", "turn_9")))
    assert shop.history.snapshots() == (mine.before, mine.after)
    assert other.snapshots() == (theirs.before,)
    shop.history.restore([mine], UNDO)
    assert shop.read("a") == "1"


def test_many_at_once_take_turns(shop: Workshop) -> None:
    """Two workspaces, and two conversations in one of them, each with a history of its own as processes have it."""
    places = [shop.workspace, shop.workspace, shop.folder / "home"]
    histories = [shop.open(place) for place in places]

    def work(number: int) -> list[Snapshot]:
        taken = []
        for turn in range(8):
            (places[number] / f"file{number}").write_text(f"{number} {turn}")
            taken.append(histories[number].take(Origin(f"conv_{number}", f"turn_{turn}")))
        return taken

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(work, range(3)))
    for number, taken in enumerate(done):
        name = f"file{number}"
        held = [histories[number].contents(snapshot)[name] for snapshot in taken]
        assert len({entry.content for entry in held if isinstance(entry, File)}) == 8
    assert len(shop.history.snapshots()) == 16


def test_a_store_that_is_full_ends_a_restore_before_anything_changed_or_says_that_it_was_done(
    tmp_path: Path,
) -> None:
    ends = set()
    for call in range(1, 99):
        shop = Workshop(tmp_path / str(call))
        shop.write({"a": "1\n2\n3\n4\n", "gone": "x"})
        step = shop.step("sed -i s/1/one/ a; rm gone")
        shop.write({"a": "one\n2\n3\nfour\n"})
        now = picture_of(shop.workspace)
        try:
            shop.open(disk=FaultyDisk(call)).restore([step], UNDO)
        except SnapshotTrouble as error:
            is_done = "were brought back" in error.sentence
            assert (picture_of(shop.workspace) != now) is is_done
            ends.add(is_done)
        else:
            break
    assert ends == {True, False}
