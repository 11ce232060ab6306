"""The lines of one file: right numbers in any size, shown in part, none from what is no text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.patterns import Query, matcher_for
from app.hands.scan import Found, Line, scan
from tests.hands.places import write

NEEDLE = matcher_for(Query("needle"))


def scanned(
    path: Path, data: str | bytes, *, show: int = 10, context: int = 0, count: bool = False
) -> Found | None:
    with write(path, data).open("rb", buffering=0) as file:
        return scan(file, NEEDLE, show=show, context=context, count=count)


@given(
    lines=st.lists(st.sampled_from(["needle", "x needle", "", "other", "è", "  "]), max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    context=st.integers(0, 3),
)
def test_lines_and_those_around_them_are_numbered_as_in_the_file(
    lines: list[str], end: str, last: bool, context: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = scanned(
        tmp_path_factory.mktemp("scan") / "f",
        end.join(lines) + end * last,
        context=12 * bool(context),
        show=99,
    )
    hits = [number for number, line in enumerate(lines, 1) if "needle" in line]
    assert (found.count if found else 0) == len(hits)
    if found and context:
        shown = lines if last or lines[-1] else lines[:-1]
        assert [line.text for line in found.lines] == shown
        assert [line.number for line in found.lines if line.matches] == hits


def test_context_does_not_show_a_line_twice(tmp_path: Path) -> None:
    found = scanned(tmp_path / "f", "a\nneedle\nb\nneedle\nc\nd\n", context=1)
    assert found is not None
    assert [(line.number, line.matches) for line in found.lines] == [
        (1, False),
        (2, True),
        (3, False),
        (4, True),
        (5, False),
    ]


def test_only_so_many_are_shown_and_all_are_counted_on_demand(tmp_path: Path) -> None:
    text = "needle\n" * 5
    assert scanned(tmp_path / "f", text, show=2) == Found(
        2, (Line(1, True, "needle"), Line(2, True, "needle"))
    )
    assert scanned(tmp_path / "f", text, show=0) == Found(1)
    assert scanned(tmp_path / "f", text, show=0, count=True) == Found(5)


def test_a_long_line_is_shown_around_its_match(tmp_path: Path) -> None:
    found = scanned(tmp_path / "f", "é" * 50_000 + "NEEDLE" + "木" * 50_000)
    assert found is not None
    text = found.lines[0].text
    assert text.startswith("…é")
    assert "NEEDLE木" in text
    assert text.endswith("木…")
    assert len(text) < 450
    assert "\ufffd" not in text


def test_a_file_of_many_blocks_has_the_right_line_numbers(tmp_path: Path) -> None:
    text = "".join(f"{number:>99}\n" for number in range(1, 100_001)) + "NEEDLE\nafter"
    found = scanned(tmp_path / "f", text, context=1)
    assert found == Found(
        1,
        (
            Line(100_000, False, f"{100_000:>99}"),
            Line(100_001, True, "NEEDLE"),
            Line(100_002, False, "after"),
        ),
    )


def test_a_line_longer_than_a_block_is_searched_to_its_end(tmp_path: Path) -> None:
    found = scanned(tmp_path / "f", "first\n" + "x" * 9_000_000 + "needle\nneedle\n")
    assert found is not None
    assert [line.number for line in found.lines] == [2, 3]


@pytest.mark.parametrize(
    "data", [b"needle\0", b"needle\n" + b"x" * 9_000_000 + b"\0", "\ufeffneedle\0".encode("utf-16-le")]
)
def test_a_nul_byte_anywhere_makes_it_no_text(tmp_path: Path, data: bytes) -> None:
    assert scanned(tmp_path / "f", data) is None


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_a_mark_is_no_part_of_the_first_line(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    assert scanned(tmp_path / "f", (mark + "needle\n").encode(encoding)) == Found(
        1, (Line(1, True, "needle"),)
    )
