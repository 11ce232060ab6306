"""From deeds and diffs to what templates are given."""

from __future__ import annotations

import pytest

from app.group_chat.deeds import deeds_of
from app.hands.undo.tally import Line, Tally
from app.hands.undo.texts import TextDiff
from app.hands.undo.values import Change, File, Folder
from app.web.deed_views import LONGEST_LINE, all_lines, deed_views, diff_view, step_views
from tests.web.samples import DONE, UNDONE, row

FILE = File(0o644, 3, b"digest")


def diffed(*lines: str) -> list[tuple[str, str, str]]:
    view = diff_view(Change("a.txt", FILE, FILE), TextDiff(tuple(lines), 1, 1))
    return [(line.kind, line.number, line.text) for line in view.lines]


def test_each_line_has_its_number_in_the_file_it_stands_in() -> None:
    assert diffed("@@ -3,3 +3,4 @@", " same", "-old", "+new", "+newer", " end", "@@ -40 +41 @@", "-x") == [
        ("hunk", "", "from line 3"),
        ("same", "3", "same"),
        ("removed", "4", "old"),
        ("added", "4", "new"),
        ("added", "5", "newer"),
        ("same", "6", "end"),
        ("hunk", "", "from line 41"),
        ("removed", "40", "x"),
    ]


def test_lines_that_look_like_marks_are_lines() -> None:
    assert diffed("@@ -1,2 +1,2 @@", "---", "+@@ -9 +9 @@", "++") == [
        ("hunk", "", "from line 1"),
        ("removed", "1", "--"),
        ("added", "1", "@@ -9 +9 @@"),
        ("added", "2", "+"),
    ]


def test_a_missing_line_end_is_told_and_counts_no_line() -> None:
    marks = diffed("@@ -1 +1 @@", "-a", "\\ no line end after the last line", "+a")
    assert [kind for kind, _, _ in marks] == ["hunk", "removed", "hunk", "added"]
    assert [number for _, number, _ in marks] == ["", "1", "", "1"]


def test_a_very_long_line_is_cut() -> None:
    assert len(diffed("@@ -0,0 +1 @@", "+" + "x" * 9_000)[1][2]) == LONGEST_LINE + 1


def test_a_note_stands_in_the_place_of_lines() -> None:
    view = diff_view(Change("a", FILE, Folder(0o755)), TextDiff(note="a file → a folder"))
    assert (view.lines, view.note, view.file.word) == ((), "a file → a folder", "changed")


def test_the_newest_deed_comes_first_and_what_is_undone_says_when() -> None:
    views = deed_views("conv_1", deeds_of([DONE, UNDONE]), {"turn_1": "Write the notes."})
    assert [(view.id, view.is_restore, view.undone_at is not None) for view in views] == [
        ("undo_1", True, False),
        ("turn_1", False, True),
    ]
    assert views[0].about.startswith("Took back the turn of ")
    assert views[1].about == "Write the notes."
    assert [(line.path, line.word) for line in views[1].files] == [("a.txt", ""), ("<b>.bin", "new")]


def test_files_beyond_the_tally_are_listed_without_lines() -> None:
    known = Tally(2, (Line("k1", "a.txt", "changed", 1, 0),))
    lines = all_lines(known, [Change("z.txt", FILE, None)])
    assert [(line.path, line.added, line.word) for line in lines] == [
        ("a.txt", 1, ""),
        ("z.txt", None, "deleted"),
    ]


@pytest.mark.parametrize("call_id", ["c", "of another call"])
def test_a_step_says_what_its_call_acted_on_where_that_is_known(call_id: str) -> None:
    [deed] = deeds_of([DONE])
    called = row("tool_call", call_id=call_id, name="bash", arguments={"command": "make"})
    [view] = step_views(deed, [called])
    assert view.target == ("make" if call_id == "c" else "")
