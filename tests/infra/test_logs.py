"""The log: metrics and classes of errors, and not one word of a conversation."""

from __future__ import annotations

import logging
import re
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.infra.logs import failure, logging_to, note, reference_id

SECRETS = ["the user's words", "sk-live-0123456789abcdef", "Once upon a time"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with logging_to(tmp_path):
        yield tmp_path


def lines(folder: Path) -> list[str]:
    file = folder / "plancia.log"
    return file.read_text().splitlines() if file.exists() else []


def test_an_event_is_one_line_with_its_figures(folder: Path) -> None:
    note(
        "turn_ended",
        turn="turn_01",
        provider="openai",
        model="a/b-1.2:x",
        duration_ms=12,
        cost=0.5,
        live=False,
    )
    (line,) = lines(folder)
    assert re.match(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info turn_ended ", line)
    assert line.endswith("turn=turn_01 provider=openai model=a/b-1.2:x duration_ms=12 cost=0.5 live=false")


def test_texts_become_their_length(folder: Path) -> None:
    note("turn_ended", model=SECRETS[2], text="word", status="x" * 81, reason="two\nlines")
    (line,) = lines(folder)
    assert line.endswith(
        "model=<16 characters> text=<4 characters> status=<81 characters> reason=<9 characters>"
    )


def test_a_key_in_a_field_for_names_is_masked(folder: Path) -> None:
    note("source_added", provider=SECRETS[1])
    assert lines(folder)[0].endswith("provider=[redacted]")


def test_an_error_is_its_classes_and_places_and_a_reference(folder: Path) -> None:
    reference = "R-"
    try:
        try:
            raise KeyError(SECRETS[0])
        except KeyError as cause:
            raise RuntimeError(SECRETS[1]) from cause
    except RuntimeError as error:
        reference = failure("turn_failed", error, kind="server")
    (line,) = lines(folder)
    assert f"error turn_failed reference={reference} kind=server error=RuntimeError<-KeyError at=" in line
    assert re.search(r"at=\S*tests/infra/test_logs\.py:\d+$", line)


def test_no_word_of_a_conversation_gets_into_the_log(folder: Path) -> None:
    ours, theirs = logging.getLogger("plancia"), logging.getLogger("some.library")
    for text in SECRETS:
        note("message", text=text, member=text, kind=text)
        ours.error("failed: %s", text)
        ours.error(text)
        theirs.warning("request %s", text)
        theirs.warning(text, extra={"fields": {"text": text}})
        try:
            raise ValueError(text)
        except ValueError as error:
            failure("turn_failed", error, text=text)
            theirs.exception(text)
    written = "\n".join(lines(folder))
    assert len(lines(folder)) == 7 * len(SECRETS)
    assert not any(text in written for text in SECRETS)
    assert not any(word in written for word in ("sk-live", "upon", "words"))
    assert "library=some.library" in written


def test_chatter_of_libraries_is_not_written(folder: Path) -> None:
    logging.getLogger("httpx").info("HTTP Request: POST https://host/?key=1")
    assert lines(folder) == []


def test_the_file_is_private_and_made_only_when_there_is_something_to_write(tmp_path: Path) -> None:
    with logging_to(tmp_path):
        assert list(tmp_path.iterdir()) == []
        note("started")
    assert stat.S_IMODE((tmp_path / "plancia.log").stat().st_mode) == 0o600


def test_old_lines_make_room(tmp_path: Path) -> None:
    with logging_to(tmp_path, size=300, kept=2):
        for number in range(50):
            note("step", number=number)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "plancia.log",
        "plancia.log.1",
        "plancia.log.2",
    ]
    assert all(file.stat().st_size <= 300 for file in tmp_path.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


def test_a_log_that_cannot_be_written_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to(tmp_path / "absent"):
        note("started", text=SECRETS[0])
    assert SECRETS[0] not in capsys.readouterr().err


def test_after_the_block_nothing_more_is_written(tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers)
    with logging_to(tmp_path):
        note("started")
    logging.getLogger("plancia").error("late")
    assert len(lines(tmp_path)) == 1
    assert logging.getLogger().handlers == before


def test_reference_ids_differ_and_can_be_read_aloud() -> None:
    ids = {reference_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"R-[2-9A-HJ-NP-Z]{8}", reference) for reference in ids)


def test_a_disk_that_is_full_ends_nothing_and_is_not_complained_of(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with logging_to(tmp_path):
        note("turn_ended")
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        try:
            with logging_to(tmp_path):
                note("turn_ended")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert capfd.readouterr().err == ""
