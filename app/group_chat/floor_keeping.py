"""Who holds the floor of one room, who is there to be asked, and who speaks next. All is called under its lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.group_chat.board import Board
from app.group_chat.events import ConversationChanged
from app.group_chat.floor import FloorEvent, Passing, Roster, UserSaid, pass_floor
from app.group_chat.mentions import Mentions, read_mentions
from app.group_chat.roles import COMMANDER, USER
from app.workspace import conversations, messages
from app.workspace.agent_files import AgentFile

ListTeam = Callable[[], Sequence[AgentFile]]
"""The agents that can be asked now."""


class FloorKeeper:
    def __init__(self, board: Board, list_team: ListTeam) -> None:
        self._board = board
        self._store = board.store
        self._list_team = list_team
        self._next: list[str] = []
        """Members that speak after the turn that runs, in their order."""

    @property
    def holder(self) -> str:
        """A holder who is gone has lost it."""
        row = conversations.load_conversation(self._store, self._board.conversation)
        return row.floor if row.floor in self._roster().members else COMMANDER

    def team(self) -> list[AgentFile]:
        return list(self._list_team())

    def name_of(self, member: str) -> str:
        return self.names().get(member) or member.replace("-", " ").capitalize()

    def names(self) -> Mapping[str, str]:
        """How each member is called, Commander among them."""
        return {COMMANDER: "Commander", **{agent.id: agent.name for agent in self._list_team()}}

    def read(self, text: str) -> Mentions:
        """Whom a message of the user calls."""
        return read_mentions(USER, text, self.names())

    def ask(self, event: FloorEvent) -> Passing:
        """What would come of it."""
        return pass_floor(self.holder, event, self._roster())

    def pass_(self, event: FloorEvent) -> str:
        """Let it happen: who is to speak does so after the turn that runs. Returns why it is refused, or nothing."""
        passing = self.ask(event)
        if not passing.refusal:
            self._keep(passing.holder)
            self._next += passing.answers
        return passing.refusal

    def said(self, to: Sequence[str]) -> str:
        """The user has spoken, to these members or to nobody by name. Returns who answers; others follow."""
        passing = self.ask(UserSaid(tuple(to)))
        self._keep(passing.holder)
        first, *others = passing.answers
        self._next = others
        return first

    @property
    def next(self) -> str | None:
        """Who speaks when a turn has ended well."""
        return self._next[0] if self._next else None

    def recall(self, members: Sequence[str]) -> None:
        """These follow the turn that goes on."""
        self._next = list(members)

    def take_next(self) -> str:
        """Let them speak."""
        return self._next.pop(0)

    def clear(self) -> None:
        """Nobody follows a turn that did not end well."""
        self._next.clear()

    def _keep(self, holder: str) -> None:
        row = conversations.load_conversation(self._store, self._board.conversation)
        if row.floor != holder:
            conversations.pass_floor(self._store, row.id, holder)
            self._settle_hand_offs()
            self._board.publish(ConversationChanged(), member=holder)

    def _settle_hand_offs(self) -> None:
        """The floor is somebody else's: those who had it handed to them hold it no more, and the chat says so."""
        for row in messages.list_of_kind(self._store, self._board.conversation, "dispatch"):
            if row.data.get("keeps") and not row.data.get("settled"):
                self._board.change(row.id, data={**row.data, "settled": True})

    def _roster(self) -> Roster:
        team = self._list_team()
        return Roster(
            frozenset({COMMANDER, *(agent.id for agent in team)}),
            frozenset(agent.id for agent in team if agent.interactive),
        )
