"""From the rows of a conversation to the spans of its timeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.errors import ProviderError
from app.engine.scripted import call, say
from app.group_chat.room import Room
from app.web.member_words import nobody
from app.web.spans import newest_spans
from app.web.timeline import Span
from tests.group_chat.rooms import house
from tests.group_chat.teams import TeamModel, dispatch

pytestmark = pytest.mark.anyio


def spans(room: Room) -> list[Span]:
    return newest_spans(room.board.store, room.list_turns(), room.list_tasks(), nobody)


async def test_the_newest_turn_that_gave_jobs_is_shown_with_those_of_its_jobs_alone(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            dispatch(("writer", "An old one.")),
            say("Old."),
            dispatch(("coder", "Patch it.\nThen test it."), ("analyst", "Count.")),
            say("New."),
            say("Nothing to give away."),
        ],
        writer=[say("Old too.")],
        coder=[[call("list_files", "l1", path=".")], say("Patched.")],
        analyst=[[ProviderError("auth", "The key was refused.")]],
    )
    async with house(tmp_path, model) as at:
        assert spans(at.room) == []
        for text in ("First.", "Second.", "Third."):
            await at.say(text)
        shown = spans(at.room)
        assert [(span.who.label, span.what) for span in shown] == [
            ("Commander", "the turn itself"),
            ("Coder", "Patch it."),
            ("Analyst", "Count."),
        ]
        assert [len(span.calls) for span in shown] == [0, 1, 0]
        assert [span.is_cut for span in shown] == [False, False, True]
        assert all(span.ended is not None and span.waits == () for span in shown)


async def test_what_waited_for_the_user_is_a_wait_from_the_first_question_to_the_last_answer(
    tmp_path: Path,
) -> None:
    model = TeamModel(commander=[dispatch(("coder", "Patch it.")), say("Done.")], coder=[say("Patched.")])
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        turn = next(row.turn for row in at.room.list_tasks())
        for first, last in (("10", "30"), ("20", "40"), ("50", "55")):
            row = at.room.board.add("approval", member="coder", turn=turn)
            at.store.database._sqlite.sql(
                "UPDATE messages SET created = ? WHERE id = ?", (f"2026-11-30T12:00:{first}.000Z", row.id)
            )
            at.room.board.change(row.id, data={"decided_at": f"2026-11-30T12:00:{last}.000Z"})
        (waited,) = [span for span in spans(at.room) if span.waits]
        took = [(start.second, stop.second) for start, stop in waited.waits if stop]
        assert took == [(10, 40), (50, 55)]
