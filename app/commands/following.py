"""What happens in a room while the command line waits: printed as it comes, until all that was set off is quiet.

The turn that was asked for ends before those that it brings about may: a hand-off is answered by another one, and the
steps of a plan are done after it. Its ``done`` is printed last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from app.commands.event_lines import Told
from app.commands.terminal import Terminal
from app.engine import events as engine
from app.group_chat.events import FormShown, RoomEvent
from app.group_chat.room import Room
from app.workspace import messages
from app.workspace.store import Store
from app.workspace.turns import find_turn

Asked = engine.Approval | FormShown
"""What waits for whoever sits there."""


class Printer(Protocol):
    """Shows what happens as it comes."""

    def take(self, place: RoomEvent, event: Told) -> None:
        """Of a turn that answers the user."""
        ...

    def aside(self, place: RoomEvent, event: Told) -> None:
        """Of a member that was sent."""
        ...


class Following:
    def __init__(
        self, room: Room, store: Store, printer: Printer, terminal: Terminal, ask: Callable[[Asked], object]
    ) -> None:
        self._room = room
        self._store = store
        self._printer = printer
        self._terminal = terminal
        self._ask = ask
        self._answers: dict[str, bool] = {}
        """Turns by their ids: whether they answer the user."""
        self._forms: list[str] = []
        """Those that were shown: nobody is at work while a step of a plan waits for one, and yet it is not over."""

    async def follow(self, start: int) -> engine.Done:
        """From an event of the room on. Returns how the last turn ended that answered the user."""
        turn, last = self._room.floor.turn, None
        asked_for: tuple[RoomEvent, engine.Done] | None = None
        async for batch in self._room.feed.follow(start):
            for _, place in batch:
                event = place.event
                if isinstance(event, engine.Done) and place.turn == turn:
                    asked_for, last = (place, event), event
                elif isinstance(event, Told):
                    self._print(place, event)
                    if isinstance(event, engine.Done) and self._answers_user(place):
                        last = event
            self._terminal.stdout.flush()
            if asked_for is not None and last is not None and self._is_quiet():
                self._printer.take(*asked_for)
                self._terminal.stdout.flush()
                return last
        raise AssertionError("a turn ends with a Done")

    def _print(self, place: RoomEvent, event: Told) -> None:
        show = self._printer.take if self._answers_user(place) else self._printer.aside
        show(place, event)
        if isinstance(event, FormShown):
            self._forms.append(event.id)
        if isinstance(event, Asked):
            self._terminal.stdout.flush()
            self._ask(event)

    def _is_quiet(self) -> bool:
        self._forms = [
            id for id in self._forms if messages.load_message(self._store, id).state == "streaming"
        ]
        return not self._room.at_work and not self._forms

    def _answers_user(self, place: RoomEvent) -> bool:
        if place.turn is None:
            return False
        if place.turn not in self._answers:
            row = find_turn(self._store, place.turn)
            self._answers[place.turn] = row is None or row.task is None
        return self._answers[place.turn]
