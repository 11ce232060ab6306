"""Who is at work and who has the floor, as the lines above the message box, and as one sentence for a listener."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.group_chat.events import FORM, Floor
from app.group_chat.roles import COMMANDER
from app.web.member_words import FindAgent, Person, nobody, person
from app.web.times import local
from app.web.tool_words import words_for


@dataclass(frozen=True, slots=True)
class AtWork:
    """One member at work. ``words`` follow its name."""

    turn: str
    who: Person
    words: str
    stopping: bool
    asks: bool
    """It needs the user."""
    since: datetime | None
    about: str
    """Its job in a few words, where it was sent."""


@dataclass(frozen=True, slots=True)
class FloorView:
    at_work: tuple[AtWork, ...] = ()
    """The one that answers the user first, then those that were sent."""
    guest: Person | None = None
    """Who has the floor, where that is not Commander."""

    @property
    def live(self) -> bool:
        return bool(self.at_work)

    @property
    def stopping(self) -> bool:
        return all(one.stopping for one in self.at_work)


def floor_view(
    floors: Sequence[Floor] = (),
    holder: str = COMMANDER,
    abouts: Mapping[str, str] = {},
    agents: FindAgent = nobody,
) -> FloorView:
    """``floors`` as ``Room.at_work`` has them, ``abouts`` the jobs by the turns that work on them."""
    lines = tuple(
        AtWork(
            turn=floor.turn or "",
            who=person(floor.member, agents),
            words=_words(floor, waits=floor is floors[0] and len(floors) > 1),
            stopping=floor.state == "stopping",
            asks=floor.state == "asking",
            since=local(floor.since) if floor.since else None,
            about=abouts.get(floor.turn or "", ""),
        )
        for floor in floors
    )
    guest = person(holder, agents) if holder != COMMANDER else None
    return FloorView(lines, guest)


def _words(floor: Floor, *, waits: bool) -> str:
    """``waits``: it has sent others, who are at work."""
    tool = floor.detail or ""
    if floor.state in ("thinking", "tool") and (waits or tool in _WITH_OTHERS):
        return _WITH_OTHERS.get(tool, "waits for the others")
    if floor.state == "asking" and tool == FORM:
        return "is waiting for your answers"
    return _DOING.get(floor.state, "").format(tool=words_for(tool).verb)


def announcement(floors: Sequence[Floor], holder: str = COMMANDER, agents: FindAgent = nobody) -> str:
    """For a screen reader; empty where nothing is worth a word. Who needs the user comes first; of several at work
    only that they are is said, or it would never be quiet."""
    names = [person(floor.member, agents).label for floor in floors]
    for name, floor in zip(names, floors, strict=True):
        if floor.state == "asking":
            return f"{name} needs your {'answers' if floor.detail == FORM else 'approval'}."
    match floors:
        case []:
            return f"{person(holder, agents).label} has ended its turn."
        case [only]:
            return _ANNOUNCED.get(only.state, "").format(label=names[0])
        case _:
            return f"{', '.join(names[:-1])} and {names[-1]} are at work."


_ANNOUNCED = {
    "organising": "{label} organises the conversation.",
    "writing": "{label} is writing.",
    "waiting": "{label} waits to try again.",
    "stopping": "{label} is stopping.",
}
_DOING = {
    "thinking": "is thinking",
    "organising": "organises the conversation",
    "writing": "is writing",
    "tool": "runs a tool: {tool}",
    "asking": "is waiting for you",
    "waiting": "waits to try again",
    "stopping": "is stopping…",
}
_WITH_OTHERS = {
    "dispatch_to": "waits for the others",
    "run_worker": "waits for the others",
    "hand_off_to": "hands the floor over",
    "hand_back": "gives the floor back",
}
