"""Forms where there is no page: asked field by field of who sits there, else declined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import anyio

from app.commands.terminal import Terminal
from app.group_chat.errors import NothingToDecide
from app.group_chat.events import FormShown
from app.group_chat.forms import TICKED, Field, Form, typed_default
from app.group_chat.room import Room

_NOBODY = "nobody could be asked, because the run has no terminal."
_LEFT = "they left the form."
_EMPTY = "-"
_HOW = f"Enter takes what stands in brackets, {_EMPTY} leaves a field empty, Ctrl-D declines the form."


class Answering:
    """Answers what the members of one room ask with forms."""

    def __init__(self, room: Room, terminal: Terminal, one_by_one: anyio.Lock) -> None:
        """``one_by_one`` is held while somebody is asked."""
        self._room = room
        self._terminal = terminal
        self._one_by_one = one_by_one
        self.declined = 0
        """Forms that nobody could be asked to fill in."""

    async def answer(self, asked: FormShown) -> None:
        """One form; one that has ended meanwhile needs no answer any more."""
        async with self._one_by_one:
            with suppress(NothingToDecide):
                if self._terminal.can_ask:
                    await self._fill_in(asked.id, Form.of({"title": asked.title, "fields": asked.fields}))
                else:
                    self.declined += 1
                    await self._room.forms.decline(asked.id, _NOBODY)

    async def _fill_in(self, form_id: str, form: Form) -> None:
        """Until every answer fits; the end of the input declines."""
        self._terminal.tell(f"\n{form.title or 'Some questions.'}\n  {_HOW}")
        typed: dict[str, Sequence[str]] = {}
        left: Iterable[Field] = form.fields
        while left:
            for field in left:
                line = await self._ask(field)
                if line is None:
                    await self._room.forms.decline(form_id, _LEFT)
                    return
                typed[field.id] = read_line(field, line)
            errors = await self._room.forms.answer(form_id, typed)
            left = [field for field in form.fields if field.id in errors]
            for field in left:
                self._terminal.tell(f"  {field.label}: {errors[field.id]}")

    async def _ask(self, field: Field) -> str | None:
        """What is typed for one field; None at the end of the input."""
        stands = ", ".join(typed_default(field))
        self._terminal.tell(f"\n  {field.label}{'' if field.required else ' (optional)'} [{stands}]")
        if field.help:
            self._terminal.tell(f"  {field.help}")
        for number, option in enumerate(field.options, 1):
            self._terminal.tell(f"    {number}  {option}")
        if hint := _HINTS.get(field.type):
            self._terminal.tell(f"  {hint}")
        return await self._terminal.line()


_HINTS = {
    "select": "Type its number.",
    "multiselect": "Type their numbers, with commas.",
    "boolean": "Type yes or no.",
    "file": "Type a path, from the workspace or whole.",
}


def read_line(field: Field, line: str) -> Sequence[str]:
    """What one line says of a field, as a page would send it."""
    if line == "":
        return typed_default(field)
    if line == _EMPTY:
        return ()
    match field.type:
        case "boolean":
            return (TICKED,) if line.lower() in ("y", TICKED, "true") else ()
        case "select":
            return (_option(field, line),)
        case "multiselect":
            return tuple(_option(field, each.strip()) for each in line.split(","))
        case _:
            return (line,)


def _option(field: Field, typed: str) -> str:
    """The option of a number; what is no number of one is taken for the option itself."""
    numbers = {str(number): option for number, option in enumerate(field.options, 1)}
    return typed if typed in field.options else numbers.get(typed, typed)
