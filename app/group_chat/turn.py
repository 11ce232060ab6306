"""One turn: one member, one run, its events drawn into the chat as they come."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from app.engine import events as engine
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.runner import Harness, run
from app.engine.session import Session
from app.engine.steering import Steering, UserInput
from app.group_chat.board import Board
from app.group_chat.events import Floor, FloorChanged, FloorState
from app.group_chat.segments import Segments
from app.infra.logs import failure


class LiveTurn:
    """A turn while it runs: what its member is doing, what it has written, and the way to stop it."""

    def __init__(self, board: Board, turn: str, member: str) -> None:
        self.id = turn
        self.abort = Abort()
        self.segments = Segments(board, turn, member)
        self.floor = Floor("thinking", member, turn, board.store.now())
        self.model: str | None = None
        """``provider/model`` of the last call."""
        self._board = board

    async def run(
        self,
        agent: Agent,
        session: Session,
        inputs: Sequence[UserInput],
        harness: Harness,
        steering: Steering,
    ) -> engine.Done:
        """From the inputs to the ``Done``; a defect of ours becomes a failed one, with the chat intact."""
        try:
            events = run(agent, session, inputs, harness, abort=self.abort, steering=steering)
            async with aclosing(events):
                async for event in events:
                    self._follow(event)
                    if isinstance(event, engine.Done):
                        return event
        except Exception as defect:  # noqa: BLE001 - whatever broke, the turn has to end in words
            failure("turn_broke", defect, turn=self.id)
        return self.fail(
            "defect", "Something went wrong inside Plancia. What was written so far is kept; press Retry."
        )

    def stop(self) -> None:
        """Ask the run to end; it answers with its ``Done``."""
        self._set_floor("stopping")
        self.abort.set()

    def fail(self, kind: str, sentence: str) -> engine.Done:
        """End a turn whose run could not begin, or broke."""
        return self._close(engine.Done("failed", error=engine.Failure(kind, sentence)))

    def cut_off(self) -> engine.Done:
        """End a turn that was cancelled from outside before it could end itself."""
        return self._close(engine.Done("aborted" if self.abort.is_set else "interrupted", reason="cancelled"))

    def _close(self, done: engine.Done) -> engine.Done:
        self.segments.take(done)
        return done

    def _follow(self, event: engine.Event) -> None:
        self.segments.take(event)
        match event:
            case engine.TextDelta():
                self._set_floor("writing")
            case engine.ToolDelta() | engine.ToolStart():
                self._set_floor("tool", event.name)
            case engine.ReasoningDelta() | engine.ToolEnd():
                self._set_floor("thinking")
            case engine.Retry():
                self._set_floor("waiting")
            case engine.Usage():
                self.model = f"{event.provider}/{event.model}"
            case _:
                pass

    def _set_floor(self, state: FloorState, detail: str | None = None) -> None:
        if self.floor.state == "stopping" or (self.floor.state, self.floor.detail) == (state, detail):
            return
        self.floor = Floor(state, self.floor.member, self.id, self.floor.since, detail)
        self._board.publish(FloorChanged(), member=self.floor.member, turn=self.id)
