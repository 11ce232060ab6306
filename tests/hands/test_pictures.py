"""Pictures of tools: opened one at a time, where it can be ended, and behind a reference that leads nowhere else."""

from __future__ import annotations

import errno
import io
import re
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from PIL import Image as pillow

import app
from app.engine.messages import Image
from app.hands.errors import Refused
from app.hands.ledger import ReadLedger
from app.hands.picture_child import LONGEST_SIDE
from app.hands.pictures import SmallPicture, StoredPictures, load_picture, make_small, name_of
from app.hands.toolbox import file_tools
from app.infra.ids import new_id
from tests.hands.places import Hands, Machine, picture, running, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


def large() -> bytes:
    """Takes a while to be opened."""
    return picture(6_000, 4_000, "WEBP")


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n" + bytes(100), picture(50, 50)[:60], b"<svg/>", b"GIF89a" + b"\xff" * 50],
)
async def test_what_cannot_be_opened_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(Refused, match=r"photo\.png cannot be opened as a picture: "):
        await make_small(data, "photo.png")


async def test_a_picture_of_too_many_pixels_is_refused_in_words() -> None:
    with pytest.raises(Refused, match="big has 6,000 by 5,000 pixels") as refused:
        await make_small(picture(6_000, 5_000), "big")
    assert refused.value.code == "E_TOO_LARGE"


async def test_a_picture_that_takes_too_long_is_given_up() -> None:
    before = running()
    with pytest.raises(Refused) as refused:
        await make_small(large(), "big", seconds=0)
    assert refused.value.code == "E_TIMEOUT"
    assert running() == before


async def test_a_stop_ends_the_look_at_a_picture() -> None:
    before = running()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make_small, large(), "big")
        with anyio.move_on_after(5):  # where the system does not tell what runs
            while running() == before:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert running() == before


async def test_pictures_asked_for_side_by_side_are_opened_one_at_a_time() -> None:
    before, seen = running(), list[int]()
    done: list[SmallPicture] = []

    async def one() -> None:
        done.append(await make_small(picture(20, 10), "small"))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(one)
        while len(done) < 4:
            seen.append(len(running() - before))
            await anyio.lowlevel.checkpoint()
    assert max(seen) <= 1


async def test_where_nothing_can_open_pictures_the_command_that_adds_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = picture(20, 10)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Refused, match=r'^E_FAILED: photo is a picture.*pip install "plancia\[documents\]"'):
        await make_small(data, "photo")


def test_no_picture_is_opened_in_the_process_that_serves() -> None:
    folder = Path(app.__file__).parent
    importing = re.compile(r"^\s*(from|import) PIL\b", re.MULTILINE)
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if importing.search(path.read_text())
    }
    assert found == {"hands/picture_child.py"}


async def test_a_picture_that_is_read_is_shown_and_found_again(machine: Machine, tmp_path: Path) -> None:
    write(machine.workspace / "photo.png", picture(4000, 1000))
    store = StoredPictures(tmp_path / "data", "conv_1", new_id)
    hands = Hands(file_tools(machine.gate(), ReadLedger(), store.keep))
    output = await hands.call("read_file", path="photo.png")
    assert "PNG image, 4,000 × 1,000 pixels, scaled to 2,000 × 500" in output.text
    (image,) = output.images
    assert image.ref is not None
    found = load_picture(tmp_path / "data", image.ref)
    assert found is not None
    assert found[0] == image.media_type == "image/png"
    assert pillow.open(io.BytesIO(found[1])).size == (LONGEST_SIDE, 500)


async def test_a_broken_picture_is_an_error_for_the_model(machine: Machine, tmp_path: Path) -> None:
    write(machine.workspace / "photo.png", picture(100, 100)[:80])
    store = StoredPictures(tmp_path / "data", "conv_1", new_id)
    hands = Hands(file_tools(machine.gate(), ReadLedger(), store.keep))
    assert (await hands.call("read_file", path="photo.png")).error == "E_FAILED"


async def test_a_full_disk_is_said(machine: Machine) -> None:
    def full(picture: SmallPicture) -> Image:
        raise OSError(errno.ENOSPC, "No space left on device")

    write(machine.workspace / "photo.png", picture(10, 10))
    output = await Hands(file_tools(machine.gate(), ReadLedger(), full)).call("read_file", path="photo.png")
    assert output.error == "E_FAILED"
    assert "No space left" in output.text


@pytest.mark.parametrize(
    "ref",
    [
        "results/c/img_1.png",
        "../secrets.json",
        "results/../secrets.json",
        "results/c/../../x.png",
        "/etc/passwd",
        "",
    ],
)
def test_a_reference_to_anything_else_finds_nothing(tmp_path: Path, ref: str) -> None:
    (tmp_path / "secrets.json").write_text("{}")
    assert load_picture(tmp_path, ref) is None


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("results/conv_1/img_1.png", "img_1.png"),
        ("results/conv_1/img_1.jpeg", "img_1.jpeg"),
        ("results/conv_2/img_1.png", None),
        ("results/conv_1/img_1.svg", None),
        ("results/conv_1/../conv_1/img_1.png", None),
        ("img_1.png", None),
        ("results/conv_1/res_1.txt", None),
    ],
)
def test_a_picture_has_a_name_in_its_own_conversation_only(ref: str, name: str | None) -> None:
    assert name_of(ref, "conv_1") == name
