"""The tour without a key: two members at once, a command that asks, a form, a hand-off and the way back, for real."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from app.engine.provider import ResolvedModel
from app.engine.scripted import ScriptedModel
from app.providers.demo import SUGGESTIONS, Demo
from app.providers.demo_team import COMMAND
from app.workspace import tasks
from app.workspace.rows import MessageKind, MessageRow
from tests.fakes.clock import FakeClock
from tests.group_chat.rooms import House, house

pytestmark = pytest.mark.anyio

TEAM = SUGGESTIONS[1].prompt


class Offline(ScriptedModel):
    """The demo alone, at once."""

    def resolve(self, name: str | None) -> ResolvedModel:
        return ResolvedModel(Demo(FakeClock()), "tour", price_in=0.0, price_out=0.0)


async def waiting(at: House, kind: MessageKind) -> MessageRow:
    with anyio.fail_after(20):
        async for _ in at.room.feed.follow(0):
            for row in at.rows():
                if row.kind == kind and row.state == "streaming":
                    return row
    raise AssertionError


def said(at: House) -> list[tuple[str, str]]:
    return [(row.member, row.text) for row in at.rows() if row.kind == "assistant"]


async def test_it_shows_all_that_members_do_with_each_other_and_with_the_user(tmp_path: Path) -> None:
    async with house(tmp_path, Offline()) as at:
        await at.room.post(TEAM, client_id="c1")
        asked = await waiting(at, "approval")
        assert asked.data["payload"] == COMMAND
        assert {row.state for row in tasks.list_tasks(at.store, at.room.id)} == {"done"}
        assert (at.workspace / "plancia-team.md").exists()
        await at.room.decide(asked.id, "allow_once")
        form = await waiting(at, "form")
        await at.room.forms.answer(form.id, {"pace": ["fast"], "note": ["calm sea"]})
        await at.quiet()
        assert at.room.holder == "tutor"
        summary = next(text for who, text in reversed(said(at)) if who == "commander")
        assert "The command: 42" in summary
        assert "Your answer: pace: fast, note: calm sea" in summary
        assert "Researcher: I see" in summary
        await at.say("The Adriatic.")
        assert at.room.holder == "commander"
        assert said(at)[-1] == (
            "tutor",
            "“The Adriatic.”, noted. That was all, so I give the floor back to Commander.",
        )


async def test_what_was_denied_is_told_as_denied(tmp_path: Path) -> None:
    async with house(tmp_path, Offline()) as at:
        await at.room.post(TEAM, client_id="c1")
        await at.room.decide((await waiting(at, "approval")).id, "deny")
        await at.room.forms.decline((await waiting(at, "form")).id)
        await at.quiet()
        summary = next(text for who, text in reversed(said(at)) if who == "commander")
        assert "The command: not done. The user denied this." in summary


async def test_a_second_tour_in_the_same_folder_ends_as_well(tmp_path: Path) -> None:
    async with house(tmp_path, Offline()) as at:
        for number in range(2):
            await at.say(SUGGESTIONS[0].prompt, client_id=f"c{number}")
        assert [row.state for row in tasks.list_tasks(at.store, at.room.id)] == ["done"] * 4
        assert [row.state for row in at.rows() if row.kind == "tool_call" and row.state == "failed"] == []
