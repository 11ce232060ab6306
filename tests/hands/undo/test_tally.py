"""The short list of what steps came to."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.undo import tally as tallying
from app.hands.undo.tally import Tally, key_of, tally
from tests.hands.undo.workshop import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path)
    shop.write({"a.txt": "one\ntwo\n", "src/b.txt": "b\n"})
    return shop


def listed(counted: Tally) -> list[tuple[str, str, int | None, int | None]]:
    return [(line.path, line.kind, line.added, line.removed) for line in counted.lines]


def test_each_file_stands_with_its_lines(shop: Workshop) -> None:
    step = shop.step("printf 'one\\n2\\n3\\n' > a.txt; rm src/b.txt; printf 'n\\n' > new")
    assert listed(tally(shop.history, [step])) == [
        ("a.txt", "changed", 2, 1),
        ("new", "added", 1, 0),
        ("src/b.txt", "removed", 0, 1),
    ]


def test_a_folder_stands_only_where_nothing_in_it_does(shop: Workshop) -> None:
    step = shop.step("mkdir -p full empty; touch full/file; rm -r src")
    assert [line.path for line in tally(shop.history, [step]).lines] == ["empty", "full/file", "src/b.txt"]


def test_what_has_no_lines_is_not_counted(shop: Workshop) -> None:
    step = shop.step("printf '\\0\\1' > binary; ln -s a.txt link; chmod 700 a.txt")
    assert listed(tally(shop.history, [step])) == [
        ("a.txt", "changed", None, None),
        ("binary", "added", None, None),
        ("link", "added", None, None),
    ]


def test_a_file_that_came_and_went_is_not_listed(shop: Workshop) -> None:
    steps = [shop.step("touch here"), shop.step("rm here")]
    assert tally(shop.history, steps) == Tally()


def test_a_later_step_counts_only_what_it_touched(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shop.step("echo more >> a.txt; echo more >> src/b.txt")
    known = tally(shop.history, [first])
    second = shop.step("echo again >> src/b.txt")
    compared: list[str] = []
    whole = shop.history.text_diff
    monkeypatch.setattr(
        shop.history, "text_diff", lambda change: compared.append(change.path) or whole(change)
    )
    assert listed(tally(shop.history, [first, second], known)) == [
        ("a.txt", "changed", 1, 0),
        ("src/b.txt", "changed", 2, 0),
    ]
    assert compared == ["src/b.txt"]


def test_more_files_than_are_listed_are_counted(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "LISTED", 2)
    counted = tally(shop.history, [shop.step("touch c d e")])
    assert (counted.files, [line.path for line in counted.lines]) == (3, ["c", "d"])


def test_lines_of_very_much_are_not_counted(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "COUNTED_BYTES", 5)
    counted = tally(shop.history, [shop.step("printf 'abc\\n' > c; printf 'abc\\n' > d")])
    assert listed(counted) == [("c", "added", 1, 0), ("d", "added", None, None)]


def test_it_is_kept_as_json(shop: Workshop) -> None:
    counted = tally(shop.history, [shop.step("echo more >> a.txt")])
    assert Tally.of(counted.kept()) == counted
    assert Tally.of(None) == Tally()


def test_a_name_that_is_no_text_has_a_key_and_can_be_shown() -> None:
    assert key_of("caf\udce9") != key_of("café")
    assert key_of("a") == key_of("a")
