"""Uploaded files on the disk: private, whole, apart until they are sent, and gone when nobody wants them."""

from __future__ import annotations

import io
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.workspace.attached import LARGEST_FILE, LARGEST_TOGETHER, Attachment, too_much
from app.workspace.attachments import KEPT_UNSENT, Attachments, sweep
from app.workspace.errors import CannotAttach
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data").create()


@pytest.fixture
def at(folder: DataFolder) -> Attachments:
    return Attachments(folder, "conv_1", new_id)


async def keep(at: Attachments, name: str = "a.txt", data: bytes = b"a") -> Attachment:
    return await at.keep(name, io.BytesIO(data))


def below(folder: DataFolder) -> list[str]:
    """Every file that was uploaded, and every picture made of one."""
    places = (folder.attachments, folder.results)
    return sorted(path.name for place in places for path in place.rglob("*") if path.is_file())


async def test_a_file_is_private_and_lies_under_its_own_name(at: Attachments, folder: DataFolder) -> None:
    [sent] = at.send([(await keep(at, "../b?.txt", b"hello")).id])
    file = folder.root / sent.path
    assert (file.name, file.read_bytes(), sent.size) == ("b?.txt", b"hello", 5)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_sending_again_what_was_sent_changes_nothing(at: Attachments) -> None:
    id = (await keep(at)).id
    assert at.send([id, id]) == at.send([id])


@pytest.mark.parametrize("id", ["att_1", "", "..", "../conv_2/att_1", "att_1/..", "/etc"])
async def test_what_is_no_file_of_the_conversation_is_not_sent(at: Attachments, id: str) -> None:
    there = Attachments(at.folder, "conv_2", lambda _: "att_1")
    there.send([(await keep(there)).id])
    assert at.file_of(id) is None
    with pytest.raises(CannotAttach, match="not there any more"):
        at.send([id])


async def test_where_one_cannot_go_none_does(at: Attachments, folder: DataFolder) -> None:
    id = (await keep(at)).id
    with pytest.raises(CannotAttach):
        at.send([id, "att_gone"])
    assert not (folder.attachments / "conv_1").exists()
    assert [one.id for one in at.find([id])] == [id]


@pytest.mark.parametrize(("size", "why"), [(0, "a.txt is empty"), (LARGEST_FILE + 1, "the limit is 25 MB")])
async def test_a_refused_file_leaves_nothing_behind(
    at: Attachments, folder: DataFolder, size: int, why: str
) -> None:
    with pytest.raises(CannotAttach, match=why):
        await keep(at, data=bytes(size))
    assert below(folder) == []


async def test_a_disk_that_takes_nothing_is_told_in_words(at: Attachments, folder: DataFolder) -> None:
    (folder.attachments / "waiting").write_text("a file in its place")
    with pytest.raises(CannotAttach, match=r"a\.txt could not be stored \("):
        await keep(at)


def test_all_files_of_a_message_have_a_limit_together() -> None:
    files = [Attachment(f"{number}.bin", LARGEST_FILE) for number in range(5)]
    assert too_much(files[:4]) == ""
    assert (
        too_much(files)
        == "The files are 125 MB together; one message takes 100 MB. Send some of them after it."
    )
    assert LARGEST_FILE * 4 == LARGEST_TOGETHER


async def test_what_only_looks_like_a_picture_is_a_file(at: Attachments, folder: DataFolder) -> None:
    for data in (b"\x89PNG\r\n\x1a\n broken", b"\xff\xd8\xff broken", b"<svg onload='x()'/>"):
        assert (await keep(at, "a.png", data)).picture == ""
    assert list(folder.results.rglob("*")) == []


async def test_what_is_taken_away_takes_its_picture_along(at: Attachments, folder: DataFolder) -> None:
    drawn = await keep(at, "a.png", picture())
    other = at.send([(await keep(at, "b.png", picture())).id])
    assert len(below(folder)) == 4
    at.discard(drawn.id)
    assert below(folder) == sorted(["b.png", Path(other[0].picture).name])
    at.discard(other[0].id)
    assert len(below(folder)) == 2
    at.take_back(other)
    assert below(folder) == []


async def test_what_was_never_sent_is_swept_away_after_days(at: Attachments, folder: DataFolder) -> None:
    at.send([(await keep(at, "sent.txt")).id])
    await keep(at, "unsent.png", picture())
    sweep(folder, FakeClock(datetime.now(UTC)))
    assert len(below(folder)) == 3
    sweep(folder, FakeClock(datetime.now(UTC) + KEPT_UNSENT * 2))
    assert below(folder) == ["sent.txt"]


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 6), "teal").save(file, "PNG")
    return file.getvalue()
