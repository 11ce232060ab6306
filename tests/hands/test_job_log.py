"""A job's output on disk: named by bytes, bounded, and read wherever it is cut into files."""

from __future__ import annotations

from pathlib import Path

from app.hands.job_log import JobLog, read, segments, stretch
from app.hands.limits import JOB_SEGMENT

HALF = b"x" * (JOB_SEGMENT // 2)


def test_nothing_written_is_nothing_kept(tmp_path: Path) -> None:
    assert stretch(tmp_path) == (0, 0)
    JobLog(tmp_path)
    assert stretch(tmp_path) == (0, 0)
    assert read(tmp_path, 0, 100) == b""


def test_any_part_is_read_across_files(tmp_path: Path) -> None:
    log = JobLog(tmp_path)
    for piece in (HALF, HALF, b"between", HALF):
        log.add(piece)
    assert [start for start, _ in segments(tmp_path)] == [0, JOB_SEGMENT]
    assert read(tmp_path, JOB_SEGMENT - 1, JOB_SEGMENT + 8) == b"xbetweenx"
    assert read(tmp_path, JOB_SEGMENT, JOB_SEGMENT + 7) == b"between"
    assert read(tmp_path, 0, 3) == b"xxx"


def test_the_oldest_goes(tmp_path: Path) -> None:
    log = JobLog(tmp_path)
    for _ in range(7):
        log.add(HALF)
    first, end = stretch(tmp_path)
    assert (first, end) == (2 * JOB_SEGMENT, 7 * len(HALF))
    assert read(tmp_path, 0, end) == HALF * 3


def test_other_files_of_the_job_are_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_bytes(b"not ours")
    (tmp_path / "end.json").write_bytes(b"{}")
    assert segments(tmp_path) == []
