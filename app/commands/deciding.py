"""Calls that need approval, decided where there is no page: by the command line's word, or by who sits there."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import anyio

from app.commands.terminal import Terminal, shown
from app.engine.events import Approval
from app.group_chat.approvals import Decision
from app.group_chat.errors import NothingToDecide
from app.group_chat.room import Room

Approve = Literal["ask", "never", "always"]

_ANSWERS: dict[str, Decision] = {
    "o": "allow_once",
    "once": "allow_once",
    "y": "allow_once",
    "yes": "allow_once",
    "r": "allow_run",
    "run": "allow_run",
    "a": "allow_always",
    "always": "allow_always",
    "d": "deny",
    "deny": "deny",
    "n": "deny",
    "no": "deny",
}
_WORDS: dict[Decision, str] = {
    "allow_once": "[o]nce",
    "allow_run": "for this [r]un",
    "allow_always": "[a]lways",
    "deny": "[d]eny",
}
_NOBODY = "Nobody could be asked: the run was started without approvals."


class Deciding:
    """Answers what the runs of one room ask. Without a terminal nothing is allowed that has to ask."""

    def __init__(self, room: Room, approve: Approve, terminal: Terminal, one_by_one: anyio.Lock) -> None:
        """``one_by_one`` is held while somebody is asked."""
        self._room = room
        self._approve = "never" if approve == "ask" and not terminal.can_ask else approve
        self._terminal = terminal
        self._one_by_one = one_by_one
        self.refused = 0
        """Calls that were refused because nobody could be asked."""

    async def decide(self, asked: Approval) -> None:
        """One question; one that has ended meanwhile needs no answer any more. Cancelled, it leaves nothing behind."""
        async with self._one_by_one:
            await self._decide(asked)

    async def _decide(self, asked: Approval) -> None:
        with suppress(NothingToDecide):
            match self._approve:
                case "always":
                    await self._room.decide(asked.id, "allow_once")
                case "never":
                    self.refused += 1
                    await self._room.decide(asked.id, "deny", _NOBODY)
                case _:
                    await self._room.decide(asked.id, await self._ask(asked))

    async def _ask(self, asked: Approval) -> Decision:
        """Until it is answered; the end of the input denies."""
        subject = asked.subject
        self._terminal.tell(f"\n{subject.get('tool')} needs your approval.")
        for reason in subject.get("reasons", ()):
            self._terminal.tell(f"  {shown(str(reason))}")
        for name, value in subject.get("facts", ()):
            self._terminal.tell(f"  {shown(str(name))}: {shown(str(value))}")
        self._terminal.tell(
            "\n".join(f"  │ {line}" for line in shown(str(subject.get("payload"))).split("\n"))
        )
        if rules := subject.get("rules"):
            self._terminal.tell(f"  Always adds the rule {shown(str(rules[0]))} for this workspace.")
        offers = [offer for offer in _WORDS if offer in subject.get("offers", ())]
        while True:
            self._terminal.tell(f"  {', '.join(_WORDS[offer] for offer in offers)}?")
            typed = (await self._terminal.line() or "").lower()
            answer = _ANSWERS.get(typed, "deny" if not typed else None)
            if answer in offers:
                return answer
            self._terminal.tell("Type the letter of one of them; nothing denies.")
