"""Form bodies, read once and in words where they are too big."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import FormData
from starlette.requests import Request

LONGEST_FIELD = 8 * 1024 * 1024
"""Bytes of one field. A message of a million characters passes."""


@dataclass(frozen=True, slots=True)
class Form:
    """The text fields of a request; a missing one is empty."""

    data: FormData

    def raw(self, name: str) -> str:
        """As it was typed, with the line ends of a text area as they are everywhere else."""
        value = self.data.get(name, "")
        return value.replace("\r\n", "\n") if isinstance(value, str) else ""

    def text(self, name: str) -> str:
        return self.raw(name).strip()

    def all(self, name: str) -> list[str]:
        return [value.strip() for value in self.data.getlist(name) if isinstance(value, str)]


async def read_form(request: Request) -> Form:
    return Form(await request.form(max_files=0, max_fields=100, max_part_size=LONGEST_FIELD))
