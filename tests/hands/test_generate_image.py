"""generate_image: what is sent to whoever draws, what becomes of the picture, what is refused before it is paid for."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from PIL import Image as pillow

from app.engine.errors import ProviderError
from app.engine.tools import ToolContext, ToolOutput
from app.hands.generate_image import image_tool
from app.hands.ledger import ReadLedger
from app.hands.pictures import StoredPictures, load_picture
from tests.fakes.pictures import png_head
from tests.hands.places import Hands, Machine, picture, write

pytestmark = pytest.mark.anyio

CAT = {"prompt": "A cat on a roof", "path": "art/cat.png"}


class Painter:
    """Draws what it was given, and remembers what it was asked."""

    def __init__(self, *pictures: bytes | ProviderError) -> None:
        self.pictures = list(pictures) or [picture(30, 20)]
        self.asked: list[tuple[str, str | None, Sequence[bytes]]] = []
        self.meanwhile: list[Path] = []
        """What somebody else writes while it draws."""

    async def __call__(self, prompt: str, size: str | None, references: Sequence[bytes]) -> bytes:
        self.asked.append((prompt, size, references))
        for path in self.meanwhile:
            write(path, "in between")
        drawn = self.pictures.pop(0) if len(self.pictures) > 1 else self.pictures[0]
        if isinstance(drawn, ProviderError):
            raise drawn
        return drawn


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


class Room:
    def __init__(self, machine: Machine, painter: Painter) -> None:
        self.machine = machine
        self.painter = painter
        self.ledger = ReadLedger()
        self.root = machine.home / "data"
        self.shown: list[str | None] = []
        pictures = StoredPictures(self.root, "con_1", lambda prefix: f"{prefix}_1")
        self.tool = image_tool(machine.gate(), self.ledger, pictures.keep, painter, model="lab/gpt-image-1")

    async def draw(self, **arguments: Any) -> ToolOutput:
        jsonschema.validate(arguments, self.tool.parameters)
        return await self.tool.execute(
            arguments, ToolContext("call_1", lambda text, done, total: self.shown.append(text))
        )


async def test_a_picture_becomes_a_new_file_and_is_shown(machine: Machine) -> None:
    room = Room(machine, Painter(picture(3_000, 20)))
    output = await room.draw(**CAT, size="3000x20")
    stored = machine.workspace / "art/cat.png"
    assert stored.read_bytes() == picture(3_000, 20)
    assert output.error is None
    assert output.text.startswith("[art/cat.png: PNG image, 3,000 × 20 pixels, ")
    assert "drawn by lab/gpt-image-1. It is shown after the results." in output.text
    (image,) = output.images
    loaded = load_picture(room.root, image.ref or "")
    assert loaded is not None
    assert pillow.open(io.BytesIO(loaded[1])).size == (2_000, 13)
    assert room.painter.asked == [("A cat on a roof", "3000x20", [])]
    assert room.shown == ["lab/gpt-image-1 draws"]


async def test_the_run_knows_the_file_that_it_made(machine: Machine) -> None:
    room = Room(machine, Painter())
    await room.draw(**CAT)
    hands = Hands.on(machine.gate(), room.ledger)
    assert room.ledger.find(machine.workspace / "art/cat.png") is not None
    again = await room.draw(**CAT)
    assert again.error == "E_BAD_INPUT"
    assert "is there already" in again.text
    assert len(room.painter.asked) == 1, "it is refused before it is paid for"
    assert (await hands.call("stat_file", path="art/cat.png")).error is None


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.txt", "E_BAD_INPUT"),
        ("sub", "E_BAD_INPUT"),
        ("cat.svg", "E_BAD_INPUT"),
        ("../cat.png", "E_OUTSIDE"),
        ("@HOME@/.ssh/cat.png", "E_OUTSIDE"),
        (".git/cat.png", "E_DENIED"),
        ("a.txt/cat.png", "E_NOT_FOUND"),
        ("", "E_BAD_INPUT"),
    ],
)
async def test_a_path_that_cannot_be_is_refused_before_anything_is_sent(
    path: str, code: str, machine: Machine
) -> None:
    room = Room(machine, Painter())
    output = await room.draw(prompt="A cat", path=machine.fill(path))
    assert output.error == code, output.text
    assert room.painter.asked == []


async def test_an_empty_prompt_is_not_sent(machine: Machine) -> None:
    room = Room(machine, Painter())
    assert (await room.draw(prompt=" \n", path="cat.png")).error == "E_BAD_INPUT"
    assert room.painter.asked == []


@pytest.mark.parametrize(
    "more",
    [
        {"size": "huge"},
        {"size": "01x2"},
        {"references": ["a.png"] * 5},
        {"references": "a.png"},
        {"quality": "high"},
        {"prompt": "x" * 16_001},
    ],
)
async def test_arguments_beyond_its_schema_are_not_taken(more: dict[str, Any], machine: Machine) -> None:
    with pytest.raises(jsonschema.ValidationError):
        await Room(machine, Painter()).draw(**{**CAT, **more})


async def test_references_are_read_inside_the_workspace_and_sent_small(machine: Machine) -> None:
    write(machine.workspace / "large.png", picture(5_000, 50))
    write(machine.workspace / "photo.jpg", picture(40, 30, "JPEG"))
    room = Room(machine, Painter())
    await room.draw(**CAT, references=["large.png", "photo.jpg"])
    ((_, _, sent),) = room.painter.asked
    assert [pillow.open(io.BytesIO(one)).size for one in sent] == [(2_000, 20), (40, 30)]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.txt", "E_BAD_INPUT"),
        ("none.png", "E_NOT_FOUND"),
        ("@OUT@/plain.txt", "E_OUTSIDE"),
        ("@HOME@/.ssh/id_rsa", "E_OUTSIDE"),
        ("broken.png", "E_FAILED"),
    ],
)
async def test_a_reference_that_may_not_be_sent_or_is_no_picture_is_refused(
    path: str, code: str, machine: Machine
) -> None:
    write(machine.workspace / "broken.png", png_head(30, 30))
    room = Room(machine, Painter())
    output = await room.draw(**CAT, references=[machine.fill(path)])
    assert output.error == code, output.text
    assert room.painter.asked == []
    assert not (machine.workspace / "art").exists()


async def test_a_provider_that_fails_is_quoted_and_leaves_no_file(machine: Machine) -> None:
    limited = ProviderError("rate_limit", "lab limits how much may be asked. Wait a little.")
    declined = ProviderError("policy", "lab declined to answer this. Rephrase it.")
    room = Room(machine, Painter(limited, declined))
    first, second = await room.draw(**CAT), await room.draw(**CAT)
    assert (first.error, first.transient) == ("E_FAILED", True)
    assert (second.error, second.transient) == ("E_FAILED", False)
    assert second.text == "E_FAILED: lab declined to answer this. Rephrase it."
    assert not (machine.workspace / "art").exists()


async def test_a_name_that_is_taken_while_it_is_drawn_keeps_what_is_there_and_the_picture_is_seen(
    machine: Machine,
) -> None:
    room = Room(machine, Painter())
    stored = machine.workspace / "art/cat.png"
    room.painter.meanwhile = [stored]
    output = await room.draw(**CAT)
    assert stored.read_text() == "in between"
    assert output.error == "E_STALE"
    assert "was drawn and is not stored" in output.text
    assert len(output.images) == 1


async def test_a_picture_of_another_kind_than_its_name_is_stored_as_it_came_and_said(
    machine: Machine,
) -> None:
    jpeg = picture(30, 20, "JPEG")
    room = Room(machine, Painter(jpeg))
    output = await room.draw(**CAT)
    assert "JPEG image, although its name says otherwise," in output.text
    assert (machine.workspace / "art/cat.png").read_bytes() == jpeg
    fitting = await room.draw(prompt="A cat", path="cat.JPEG")
    assert "otherwise" not in fitting.text


async def test_a_picture_that_cannot_be_opened_is_stored_and_not_shown(machine: Machine) -> None:
    room = Room(machine, Painter(png_head(3, 2)))
    output = await room.draw(**CAT)
    assert (output.error, output.images) == (None, ())
    assert "It cannot be shown here" in output.text
    assert (machine.workspace / "art/cat.png").exists()


def test_it_is_no_tool_that_only_looks(machine: Machine) -> None:
    tool = Room(machine, Painter()).tool
    assert (tool.name, tool.read_only) == ("generate_image", False)
    assert set(tool.parameters["properties"]) == {"prompt", "path", "size", "references"}
    assert tool.parameters["required"] == ["prompt", "path"]
