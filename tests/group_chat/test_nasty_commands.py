"""Processes that do not want to end, through the whole product: each call comes back, and nothing of it is left."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.engine.scripted import ScriptedModel, call, say
from app.hands.permissions.confinement import Mechanism
from app.workspace import conversations
from tests.group_chat.rooms import House, house, members_confined
from tests.hands.confined import EVERY, left_with, name_of

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("mechanism", EVERY, ids=name_of)]

MARK = f"mark-{os.urandom(8).hex()}"
"""In the environment of all that is started here."""

ENDS = {
    "a daemon that holds the pipe": "setsid -f sleep 600; echo done",
    "one that does not hear": "(trap '' TERM INT HUP; sleep 600; sleep 600) & echo done",
    "a reader": "cat; read x; echo done",
    "a hundred megabytes": "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo done",
    "a chain of forks": "f() { sleep 0.01; f & }; f; f; f; echo done",
    "bytes that are no text": "printf '\\377\\376\\000\\200'; echo; echo done",
}
DOES_NOT = "trap '' TERM INT; setsid -f sleep 600; : > begun; while :; do sleep 600; done"


@asynccontextmanager
async def running(place: Path, mechanism: Mechanism, script: str, **more: int) -> AsyncIterator[House]:
    """A conversation in which a script has just been run, or is."""
    command = call("bash", command=f"MARK={MARK} bash script.sh", **more)
    model = ScriptedModel([command], say("Done."))
    async with house(place, model, make_members=members_confined(mechanism)) as at:
        (at.workspace / "script.sh").write_text(script)
        conversations.choose_access(at.store, at.room.id, "trusted")
        await at.room.post("Run it.", client_id="c1")
        yield at


async def told(at: House) -> list[str]:
    messages = (await at.session()).messages
    return [result.text for message in messages for result in message.results]


@pytest.mark.parametrize("script", ENDS.values(), ids=ENDS)
async def test_one_that_ends_comes_back_with_its_end(
    tmp_path: Path, mechanism: Mechanism, script: str
) -> None:
    async with running(tmp_path, mechanism, script, timeout_ms=120_000) as at:
        with anyio.fail_after(100):
            await at.room.wait_quiet()
        [text] = await told(at)
        assert text.startswith("[Exit code 0 after ")
        assert text.rstrip().endswith("done")
        assert left_with(MARK) == []


async def test_one_that_does_not_is_ended_when_its_time_is_over(tmp_path: Path, mechanism: Mechanism) -> None:
    async with running(tmp_path, mechanism, DOES_NOT, timeout_ms=300) as at:
        with anyio.fail_after(100):
            await at.room.wait_quiet()
        assert [text.partition(":")[0] for text in await told(at)] == ["E_TIMEOUT"]
        assert left_with(MARK) == []


async def test_stop_ends_all_of_it(tmp_path: Path, mechanism: Mechanism) -> None:
    async with running(tmp_path, mechanism, DOES_NOT) as at:
        with anyio.fail_after(100):
            while not (at.workspace / "begun").exists():
                await anyio.lowlevel.checkpoint()
            assert left_with(MARK) != []
            await at.room.stop()
            await at.room.wait_quiet()
        assert left_with(MARK) == []
        assert [row.text for row in at.rows() if row.kind == "assistant" and row.text] == []
