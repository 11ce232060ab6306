"""Form bodies, read once and in words where they are too big."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.models.fields import clean_text

LONGEST_FIELD = 13 * 1024 * 1024
"""Bytes of one field as a browser encodes it. A message of a million characters passes, whichever they are."""

MOST_VALUES = 1_100
"""Of one request: as many as a member can ask for at once."""

MOST_FILES_READ = 200
"""Of one request: each one that is too many for its message is told of."""


@dataclass(frozen=True, slots=True)
class Form:
    """The text fields of a request; a missing one is empty."""

    data: FormData

    def raw(self, name: str) -> str:
        """As it was typed, with the line ends of a text area as they are everywhere else, and as UTF-8 can hold it."""
        value = self.data.get(name, "")
        return clean_text(value.replace("\r\n", "\n")) if isinstance(value, str) else ""

    def text(self, name: str) -> str:
        return self.raw(name).strip()

    def all(self) -> dict[str, list[str]]:
        """Every text field with all that it was given, as ``raw`` has it."""
        pairs = ((name, value) for name, value in self.data.multi_items() if isinstance(value, str))
        fields: dict[str, list[str]] = {}
        for name, value in pairs:
            fields.setdefault(name, []).append(clean_text(value.replace("\r\n", "\n")))
        return fields

    def words(self, name: str) -> list[str]:
        """All words of a field that may be given several times."""
        return [word for value in self.data.getlist(name) if isinstance(value, str) for word in value.split()]

    async def close(self) -> None:
        """Its files are not needed any more."""
        await self.data.close()

    def files(self, name: str) -> list[UploadFile]:
        """Those that were chosen; a browser sends one without a name where none was."""
        return [file for file in self.data.getlist(name) if isinstance(file, UploadFile) and file.filename]

    def number(self, name: str) -> int:
        """A field of digits; 0 for one that is missing, -1 for any other text."""
        typed = self.text(name)
        return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else -1 if typed else 0


async def read_form(request: Request, files_in: Collection[str] = ()) -> Form:
    """``files_in`` are the fields that may hold files; they are read onto the disk, and ``close`` frees them.

    Raises ``HTTPException``: 413 for a field that is too long, 400 for what is no form.
    """
    try:
        form = await request.form(
            max_files=MOST_FILES_READ if files_in else 0, max_fields=MOST_VALUES, max_part_size=LONGEST_FIELD
        )
    except HTTPException as refused:
        raise HTTPException(413 if "maximum size" in refused.detail else refused.status_code) from refused
    if any(isinstance(value, UploadFile) and name not in files_in for name, value in form.multi_items()):
        await form.close()
        raise HTTPException(400)
    return Form(form)
