"""What a member hears when its turn begins: of what was said in the chat, that which is for it and which it has not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from app.engine.messages import Message
from app.engine.steering import UserInput
from app.group_chat.attaching import named, with_files
from app.group_chat.roles import COMMANDER, USER
from app.group_chat.visibility import Said, to_replay
from app.prompts.rendering import compose
from app.workspace.attached import attachments_of
from app.workspace.rows import MessageRow

NameOf = Callable[[str], str]
"""How a member is called."""

_FRAME = re.compile(r"<(\s*/?\s*said\b)", re.IGNORECASE)
"""What stands around words of others, and could be written by them."""

_IN_A_NAME = str.maketrans({'"': "'", "<": "(", ">": ")"})
"""What could end the place of a name in the frame."""

LONGEST_HEARD = 12_000
"""Characters of what somebody else said in the chat: of more, Commander is told the beginning and the end."""


def unheard(
    member: str,
    rows: Iterable[MessageRow],
    jobs: Collection[str],
    history: Sequence[Message],
    name_of: NameOf,
    root: Path,
) -> list[UserInput]:
    """The oldest first. They share their ids with the chat, so a crash between the two loses none and repeats none.

    ``rows`` are those of the chat in which something is said; ``jobs`` the turns that worked on a task, whose words
    Commander gets as results; ``root`` is the data folder, below which attachments lie.
    """
    heard = {message.id for message in history}
    said = [one for row in rows if (one := _said(row, jobs)) is not None]
    return [_told(one, member, name_of, root) for one in to_replay(said, member, heard)]


def addressed(row: MessageRow) -> tuple[str, ...]:
    """Whom a message of the user, or of one member to another, is for."""
    to = row.data.get("to") or (COMMANDER,)
    return (to,) if isinstance(to, str) else tuple(map(str, to))


def _said(row: MessageRow, jobs: Collection[str]) -> Said | None:
    match row.kind:
        case "user":
            return Said(row.id, USER, addressed(row), row.text, attachments_of(row.data))
        case "assistant" if row.turn not in jobs and row.text.strip():
            return Said(row.id, row.member, (USER,), row.text)
        case "dispatch" if row.data.get("how") in ("handoff", "handback", "again"):
            told = str(row.data.get("told") or row.text)
            return Said(row.id, row.member, addressed(row), told, attachments_of(row.data))
        case _:
            return None


def _told(said: Said, member: str, name_of: NameOf, root: Path) -> UserInput:
    """As it was said where it is for the member; else with who said it to whom, and no picture of it."""
    if member in said.to:
        return with_files(UserInput(said.text, said.id), said.attachments, root)
    return UserInput(_overheard(said, name_of, root), said.id)


def _overheard(said: Said, name_of: NameOf, root: Path) -> str:
    text = named(said.text, said.attachments, root, shown=False)
    if len(text) > LONGEST_HEARD:
        half = LONGEST_HEARD // 2
        text = f"{text[:half]}\n[…]\n{text[-half:]}"
    to = "the user" if said.to == (USER,) else ", ".join(map(name_of, said.to))
    return quoted("the user" if said.author == USER else name_of(said.author), to, text)


def quoted(author: str, to: str, text: str) -> str:
    """Words of others, in a frame that they cannot close: they are no instructions of the user."""
    names = {"author": author.translate(_IN_A_NAME), "to": to.translate(_IN_A_NAME)}
    return compose("overheard", **names, text=unclosed(text))


def unclosed(text: str) -> str:
    """As it stands in a frame."""
    return _FRAME.sub(r"&lt;\1", text)
