"""``generate_image``: a picture drawn by a model, stored as a new file and shown in the chat.

look at the path → read the references, small → have it drawn → store it, under no name that is taken → show it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Protocol

from app.engine.errors import ProviderError
from app.engine.messages import Image
from app.engine.pictures import look_at
from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.errors import Refused
from app.hands.ledger import ReadLedger, content_hash, write_lock
from app.hands.limits import PROMPT_CHARACTERS, REFERENCES, WHOLE_FILE_BYTES
from app.hands.permissions.paths import PathGate
from app.hands.permissions.places import read_whole
from app.hands.pictures import KeepPicture, make_small
from app.hands.text import find_kind, number_of
from app.hands.threads import CheckStop, in_thread
from app.hands.tool import Arguments, HandTool, schema
from app.infra.threads import to_the_end

ENDINGS = {"image/png": (".png",), "image/jpeg": (".jpg", ".jpeg"), "image/webp": (".webp",)}


class Draw(Protocol):
    """Whoever draws."""

    async def __call__(self, prompt: str, size: str | None, references: Sequence[bytes]) -> bytes:
        """A PNG, JPEG or WebP of a bounded size. Raises ``ProviderError``, whose sentence is for people."""
        ...


@dataclass(frozen=True, slots=True)
class Studio:
    """The pictures of one run; ``model`` is what draws them, as users call it."""

    gate: PathGate
    ledger: ReadLedger
    keep: KeepPicture
    draw: Draw
    model: str

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolOutput:
        """The work of ``generate_image``."""
        prompt = arguments["prompt"].strip()
        if not prompt:
            raise Refused("E_BAD_INPUT", "The prompt is empty. Describe what the picture shows.")
        label = await in_thread(lambda check_stop: self._free(arguments["path"]))
        references = [await self._reference(path) for path in arguments.get("references", ())]
        context.progress(f"{self.model} draws", None, None)
        try:
            data = await self.draw(prompt, arguments.get("size"), references)
        except ProviderError as error:
            return ToolOutput.failed("E_FAILED", error.message, transient=error.retryable)
        trouble = await in_thread(lambda check_stop: self._store(arguments["path"], data))
        image, hidden = await self._show(data, label)
        images = (image,) if image else ()
        if trouble is not None:
            return ToolOutput(
                f"{trouble.code}: {trouble.sentence} The picture was drawn and is not stored.",
                images,
                trouble.code,
            )
        return ToolOutput(f"[{label}: {self._described(data, label)} {hidden}]", images)

    def _free(self, path: str) -> str:
        """What a path is called that nothing stands at. Raises ``Refused``."""
        if not path.lower().endswith(tuple(ending for several in ENDINGS.values() for ending in several)):
            raise Refused("E_BAD_INPUT", f"{path} does not end like a picture. Use a name that ends in .png.")
        with self.gate.find(path, "write") as place:
            if place.status is not None:
                raise Refused(
                    "E_BAD_INPUT",
                    f"{place.label} is there already and is not drawn over. Choose another name.",
                )
            return place.label

    async def _reference(self, path: str) -> bytes:
        """A picture to go by, small enough for any server. Raises ``Refused``."""
        label, data = await in_thread(partial(self._read, path))
        return (await make_small(data, label)).data

    def _read(self, path: str, check_stop: CheckStop) -> tuple[str, bytes]:
        with self.gate.find(path, "read") as place, place.open_file() as file:
            label, data = place.label, read_whole(file, place.label, WHOLE_FILE_BYTES)
        if not (find_kind(data) or "").endswith("image"):
            raise Refused("E_BAD_INPUT", f"{label} is no picture. Name one as reference, or none.")
        return label, data

    def _store(self, path: str, data: bytes) -> Refused | None:
        """Why it could not be stored, which was paid for all the same."""
        try:
            with self.gate.find(path, "write") as place, write_lock(place.path):
                place.look_again()
                if place.status is not None:
                    return Refused("E_STALE", f"{place.label} has appeared meanwhile. Choose another name.")
                place.replace(data)
                self.ledger.note(place.path, content_hash(data))
        except Refused as refused:
            return refused
        return None

    async def _show(self, data: bytes, label: str) -> tuple[Image | None, str]:
        """What is shown of it, and a sentence about that."""
        try:
            small = await make_small(data, label)
            return await to_the_end(partial(self.keep, small)), "It is shown after the results."
        except Refused as refused:
            return None, f"It cannot be shown here: {refused.sentence}"
        except OSError as error:
            return None, f"It cannot be shown here: {error.strerror or error}."

    def _described(self, data: bytes, label: str) -> str:
        seen = look_at(data)
        assert seen is not None, "whoever draws gives a picture"
        fits = PurePath(label).suffix.lower() in ENDINGS.get(seen.media_type, ())
        another = "" if fits else ", although its name says otherwise"
        sides = f"{seen.width:,} × {seen.height:,} pixels"
        size = number_of(len(data), "byte")
        return f"{find_kind(data)}{another}, {sides}, {size}, drawn by {self.model}."


def image_tool(
    gate: PathGate, ledger: ReadLedger, keep_picture: KeepPicture, draw: Draw, *, model: str
) -> Tool:
    """``generate_image`` for one run: it sends a prompt, and references, to whoever draws, and makes a new file.

    For those only for whom a model is chosen that draws: ``model``, as users call it, stands in what the model is
    told. It is not read-only, its prompt leaves the machine, and it costs money: the gate asks before it runs.
    """
    studio = Studio(gate, ledger, keep_picture, draw, model)
    return HandTool(
        "generate_image",
        f"Have {model} draw a picture, which is stored as a new file and shown in the chat. Prompt and references "
        "leave this machine, and each picture costs money: draw one at a time, and only what is wanted.",
        schema(
            {
                "prompt": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": PROMPT_CHARACTERS,
                    "description": "All that the picture shows, and in which style: who draws knows nothing else.",
                },
                "path": {
                    "type": "string",
                    "description": "Where the picture is stored, from the workspace: a new file that ends in .png.",
                },
            },
            {
                "size": {
                    "type": "string",
                    "pattern": r"^(auto|[1-9]\d{1,3}x[1-9]\d{1,3})$",
                    "description": "Width and height as the model takes them, such as 1024x1024 or 1536x1024; "
                    "without it the model chooses.",
                },
                "references": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": REFERENCES,
                    "description": "Paths of pictures to change or to go by.",
                },
            },
        ),
        False,
        studio.run,
    )
