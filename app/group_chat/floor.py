"""Who answers: whom a message goes to, who takes a turn because of it, who holds the floor afterwards.

A pure table of what may happen in a room. The holder is stored with the conversation, so a reload and a restart
change nothing; neither does a stop, or a run that fails: who held the floor still does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from app.group_chat.handback import Handback, read_handback
from app.group_chat.roles import COMMANDER, WORKER


@dataclass(frozen=True, slots=True)
class Roster:
    """The agents of a conversation by id, Commander among them; the interactive ones may keep the floor."""

    members: frozenset[str]
    interactive: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class UserSaid:
    """``to`` are those the message names. ``folded``: a turn that is live or waits takes it in; no other begins."""

    to: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Dispatched:
    """``by`` asks for a job by ``dispatch_to`` or ``run_worker``, of a worker without a name where ``to`` is empty."""

    by: str
    to: str = ""


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job that Commander gave came back, done or failed: Commander goes on with it."""


@dataclass(frozen=True, slots=True)
class HandedOff:
    by: str
    to: str


@dataclass(frozen=True, slots=True)
class HandedBack:
    """By the tool or by the marker, see ``hear``. ``unfinished``: the task registry holds what Commander was at."""

    by: str
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class FormAnswered:
    """``to`` is who asked."""

    to: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The user pressed the button and speaks next, so nobody is woken."""


@dataclass(frozen=True, slots=True)
class MemberLeft:
    member: str


FloorEvent = UserSaid | Dispatched | JobEnded | HandedOff | HandedBack | FormAnswered | TakenBack | MemberLeft


@dataclass(frozen=True, slots=True)
class Passing:
    """Who holds the floor now, who takes a turn in which order, and why a tool was refused, for the model."""

    holder: str
    answers: tuple[str, ...] = ()
    refusal: str = ""


def pass_floor(holder: str, event: FloorEvent, roster: Roster) -> Passing:
    """What ``event`` makes of a room in which ``holder`` has the floor. A holder who is gone has lost it."""
    holder = holder if holder in roster.members else COMMANDER
    match event:
        case UserSaid(to=to, folded=folded):
            return _said(holder, to, folded)
        case Dispatched(by=by, to=to):
            return _dispatched(holder, by, to, roster)
        case JobEnded():
            return Passing(holder, (COMMANDER,))
        case HandedOff(by=by, to=to):
            return _handed_off(holder, by, to, roster)
        case HandedBack(by=by, unfinished=unfinished):
            return _handed_back(holder, by, unfinished)
        case FormAnswered(to=to):
            return Passing(holder, (to,) if to in roster.members | {WORKER} else ())
        case TakenBack():
            return Passing(COMMANDER)
        case MemberLeft(member=member):
            return Passing(COMMANDER if member == holder else holder)
        case _:
            assert_never(event)


def addressees(named: tuple[str, ...], holder: str) -> tuple[str, ...]:
    """Whom a message of the user is for: those it names, else the holder of the floor."""
    return named or (holder,)


def hear(holder: str, by: str, text: str) -> Handback:
    """The last text of a turn: the marker counts only for a member that holds the floor, and is text in any other."""
    return read_handback(text) if _may_hand_back(holder, by) else Handback(False, text)


def _may_hand_back(holder: str, by: str) -> bool:
    return by == holder != COMMANDER


def _said(holder: str, to: tuple[str, ...], folded: bool) -> Passing:
    answers = () if folded else addressees(to, holder)
    return Passing(COMMANDER if COMMANDER in to else holder, answers)


def _dispatched(holder: str, by: str, to: str, roster: Roster) -> Passing:
    """A worker without a name is made for its task, so there is nobody to look for."""
    is_made = by == COMMANDER and not to
    if not is_made and (refusal := _refuse_asking(by, to, roster)):
        return Passing(holder, refusal=refusal)
    return Passing(holder, (to or WORKER,))


def _handed_off(holder: str, by: str, to: str, roster: Roster) -> Passing:
    if refusal := _refuse_asking(by, to, roster):
        return Passing(holder, refusal=refusal)
    return Passing(to if to in roster.interactive else holder, (to,))


def _handed_back(holder: str, by: str, unfinished: bool) -> Passing:
    if not _may_hand_back(holder, by):
        return Passing(
            holder, refusal="You do not hold the floor, so there is nothing to hand back. Just answer."
        )
    return Passing(COMMANDER, (COMMANDER,) if unfinished else ())


def _refuse_asking(by: str, to: str, roster: Roster) -> str:
    if by != COMMANDER:
        return "Only Commander asks other members. Say in your answer what is missing, and Commander will see to it."
    others = roster.members - {COMMANDER}
    if to in others:
        return ""
    return f'There is no member "{to}" to ask. There is: {", ".join(sorted(others)) or "nobody else"}.'
