"""What a room lets others see of itself, as it stands now: nothing here changes it, and nothing waits for its lock."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.messages import Message
from app.group_chat.board import Board
from app.group_chat.events import Floor, RoomEvent
from app.group_chat.floor_keeping import FloorKeeper
from app.group_chat.live_turns import LiveTurns
from app.group_chat.members import Members
from app.infra.feed import Feed
from app.workspace import messages, sessions, tasks, turns
from app.workspace.agent_files import AgentFile
from app.workspace.rows import MessageRow, TaskRow, TurnRow
from app.workspace.store import Store

TURNS_SHOWN = 200
"""The newest ones, those of members that were sent among them."""


class Onlook:
    """The side of a ``Room`` that pages and commands look at; ``feed`` tells what happens in it."""

    _turns: LiveTurns
    _floor: FloorKeeper

    def __init__(self, store: Store, conversation: str, feed: Feed[RoomEvent], members: Members) -> None:
        self.id = conversation
        self.feed = feed
        self.board = Board(store, conversation, feed)
        self._store = store
        self._members = members

    @property
    def floor(self) -> Floor:
        """What the member is at that answers the user; while nobody does, who works for a plan."""
        first = self._turns.root or next(iter(self._turns.all), None)
        return first.floor if first else Floor()

    @property
    def at_work(self) -> tuple[Floor, ...]:
        """What everybody is at, the first to begin first."""
        return tuple(live.floor for live in self._turns.all)

    @property
    def holder(self) -> str:
        """Who answers a message that names nobody."""
        return self._floor.holder

    def team(self) -> list[AgentFile]:
        """The agents that can be called now. Looks at the disk."""
        return self._floor.team()

    def counts_later(self, model: str | None) -> bool:
        """Whether the turn that runs began with another choice of model: this one is for the next."""
        root = self._turns.root
        return root is not None and root.chosen != model

    def growing(self, message_id: str) -> tuple[str, str] | None:
        """Text and thinking so far of the article that is being written; None for every other one."""
        for live in self._turns.all:
            growing = live.segments.growing
            if growing is not None and growing.row_id == message_id:
                return "".join(growing.text), "".join(growing.reasoning)
        return None

    def output_of(self, message_id: str) -> str:
        """What the tool of an article has said by now, while it runs: the end of it."""
        return next((said for live in self._turns.all if (said := live.segments.output_of(message_id))), "")

    def find_message(self, message_id: str) -> MessageRow | None:
        """An article as it stands now; where the store takes nothing, that is more than what is stored."""
        kept = (board.find_kept(message_id) for board in self._turns.boards)
        return next(filter(None, kept), None) or messages.find_message(self._store, message_id)

    def list_messages(self, *, before: int | None = None, limit: int = 100) -> list[MessageRow]:
        """The last ``limit`` articles, or those just before a position, oldest first, as they stand now."""
        rows = messages.list_messages(self._store, self.id, before_position=before, limit=limit)
        return self._turns.over(rows, at_end=before is None)

    @property
    def has_unstored(self) -> bool:
        """Whether the store refuses articles, so that a new one may stand before others that are there already."""
        return self._turns.has_unstored

    def list_turns(self) -> list[TurnRow]:
        """The newest turns, oldest first, as they stand now."""
        return self._turns.as_now(turns.list_turns(self._store, self.id, limit=TURNS_SHOWN))

    def list_tasks(self) -> list[TaskRow]:
        """The newest tasks, oldest first."""
        return tasks.list_tasks(self._store, self.id)

    async def read_history(self, turn_id: str) -> Sequence[Message]:
        """What the member that took a turn has in its session, of this turn and all others. Empty where it is gone.

        Raises ``NotFound``, ``SessionError``.
        """
        session = sessions.find_session(self._store, turns.load_turn(self._store, turn_id).session)
        return await self._members.read_history(session) if session else ()
