"""Small output is a result, large output is stored and shown by both ends, endless output is bounded."""

from __future__ import annotations

from pathlib import Path

from app.engine.large_results import find_shortened
from app.hands.limits import LIVE_CHARACTERS, OUTPUT_BYTES, OUTPUT_ENDING
from app.hands.results import StoredResults
from app.hands.spool import Spool
from app.infra.ids import new_id
from app.infra.redaction import Redactor

KEY = "sk-abcdefghij0123456789"


def spool(folder: Path) -> tuple[Spool, StoredResults]:
    results = StoredResults(folder / "results", new_id)
    return Spool(results, Redactor([KEY]).redact), results


def test_small_output_is_given_whole_and_leaves_no_file(tmp_path: Path) -> None:
    spooled, results = spool(tmp_path)
    assert spooled.add(b"\x1b[31mone\x1b[0m\ntw") == "\x1b[31mone\x1b[0m\n"
    assert spooled.add(b"o\n") == "two\n"
    output = spooled.end(10_000)
    assert (output.text, output.is_kept) == ("one\ntwo\n", False)
    assert not results.folder.exists()


def test_large_output_is_stored_whole_and_shown_by_both_ends(tmp_path: Path) -> None:
    spooled, results = spool(tmp_path)
    lines = [f"line {number} {KEY}\n" for number in range(20_000)]
    for line in lines:
        spooled.add(line.encode())
    output = spooled.end(1_000)
    shown = find_shortened(output.text)
    assert output.is_kept
    assert shown is not None
    assert shown.ref is not None
    assert shown.head.startswith("line 0 [redacted]\n")
    assert shown.tail.endswith("line 19999 [redacted]\n")
    assert results.load(shown.ref) == "".join(lines).replace(KEY, "[redacted]")
    left_out = int(shown.left_out.replace(",", ""))
    assert len(shown.head) + left_out + len(shown.tail) == len(results.load(shown.ref))


def test_of_endless_output_both_ends_are_kept_and_what_is_between_is_counted(tmp_path: Path) -> None:
    spooled, results = spool(tmp_path)
    piece = b"x" * 65_535 + b"\n"
    pieces = OUTPUT_BYTES // len(piece) * 3
    for _ in range(pieces):
        spooled.add(piece)
    spooled.add(f"the end {KEY}\n".encode())
    shown = find_shortened(spooled.end(1_000).text)
    assert shown is not None
    assert shown.ref is not None
    assert shown.tail.endswith("the end [redacted]\n")
    kept = results.load(shown.ref)
    dropped = pieces * len(piece) + len(f"the end {KEY}\n") - OUTPUT_BYTES - OUTPUT_ENDING
    assert f"[… {dropped:,} bytes were not kept …]" in kept
    assert len(kept) < OUTPUT_BYTES + 2 * OUTPUT_ENDING


def test_of_a_long_piece_its_end_is_shown_live(tmp_path: Path) -> None:
    spooled, _ = spool(tmp_path)
    live = spooled.add(b"line\n" * 10_000)
    assert live.endswith("line\nline\n")
    assert len(live) < LIVE_CHARACTERS + 10


def test_a_disk_that_takes_nothing_loses_the_middle_and_says_so(tmp_path: Path) -> None:
    spooled, results = spool(tmp_path)
    results.folder.write_bytes(b"a file where the folder should be")
    spooled.add(b"begin\n" + b"x" * 200_000 + b"\nend\n")
    text = spooled.end(1_000).text
    assert text.startswith("begin")
    assert text.endswith("end\n")
    assert "The rest is lost: it could not be stored (File exists)" in text
