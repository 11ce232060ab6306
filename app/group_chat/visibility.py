"""Who sees what: the slices of a conversation, and what a dispatched member is given.

A message is in the slices of its author and of those it is addressed to; an unaddressed one is addressed to the
holder of the floor (``floor.addressees``). Names in the prose of a model count for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from app.group_chat.roles import COMMANDER, USER
from app.prompts.rendering import compose
from app.workspace.attached import Attachment


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a room as far as it matters for who sees it. What it quotes is part of its text."""

    id: str
    author: str
    to: tuple[str, ...]
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    hidden: bool = False
    """Work of a worker without a name, which has no place in the chat."""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody is asked to do, and the files that go along."""

    text: str
    attachments: tuple[Attachment, ...] = ()


NO_REQUEST = Request("")


def sees(member: str, message: Said) -> bool:
    """Whether a message is in a member's slice. The user sees all of the chat, and so does Commander."""
    if message.deleted:
        return False
    in_chat = not message.hidden
    takes_part = member == message.author or member in message.to
    if member == USER:
        return in_chat
    return takes_part or (member == COMMANDER and in_chat)


def slice_of(messages: Iterable[Said], member: str) -> list[Said]:
    """What a member has of a conversation, in its order."""
    return [message for message in messages if sees(member, message)]


def to_replay(messages: Iterable[Said], member: str, heard: Collection[str]) -> list[Said]:
    """What a starting member has to be told: its slice without its own words and what its session has, by id."""
    return [one for one in slice_of(messages, member) if one.author != member and one.id not in heard]


def carry(led_to: Sequence[Request], job: Request) -> Request:
    """What a member is given for its job: what the user asked first, the job last, the files of both.

    ``led_to`` are the messages of the user that led to the job, oldest first; of a plan, the user's first one.
    """
    request = "\n\n".join(one.text for one in led_to if one.text)
    files = dict.fromkeys(file for one in (*led_to, job) for file in one.attachments)
    return Request(compose("dispatched", request=request, job=job.text), tuple(files))
