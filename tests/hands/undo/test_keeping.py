"""A tool whose calls can be undone: what it did is kept whichever way its call ends, and it works whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.errors import SnapshotTrouble
from app.hands.threads import CheckStop
from app.hands.tool import HandTool, schema
from app.hands.undo import keeping
from app.hands.undo.keeping import undoable
from app.hands.undo.tally import Tally
from app.hands.undo.values import Origin, Snapshot, Step
from tests.hands.undo.workshop import ORIGIN, Workshop

pytestmark = pytest.mark.anyio


class Kept:
    """Steps in memory."""

    def __init__(self, *, takes: bool = True) -> None:
        self.takes = takes
        self.begun: list[tuple[str, str]] = []
        self.ended: list[tuple[Step, Tally]] = []
        self.sentences: list[str] = []

    async def begin(self, call_id: str, tool: str, before: Snapshot) -> str | None:
        self.begun.append((call_id, tool))
        return "step_1" if self.takes else None

    def end(self, id: str, step: Step, tally: Tally) -> None:
        self.ended.append((step, tally))

    def not_kept(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path)
    shop.write({"kept.txt": "one\n"})
    return shop


def tool_that(work: Callable[[], Any], *, read_only: bool = False) -> Tool:
    async def run(arguments: Any, context: ToolContext) -> str | ToolOutput:
        done = work()
        return await done if asyncio.iscoroutine(done) else str(done)

    return HandTool("bash", "Runs a command.", schema({}), read_only, run)


def wrapped(tool: Tool, shop: Workshop, steps: Kept, origin: Origin = ORIGIN) -> Tool:
    return undoable({"bash": tool}, shop.history, origin, steps)["bash"]


async def call(tool: Tool, progress: Callable[..., None] = lambda *_: None) -> ToolOutput:
    return await tool.execute({}, ToolContext("call_1", progress))


async def test_the_model_sees_the_tool_as_it_was(shop: Workshop) -> None:
    tool = tool_that(lambda: "done")
    other = wrapped(tool, shop, Kept())
    assert (other.name, other.description, other.parameters, other.read_only) == (
        tool.name,
        tool.description,
        tool.parameters,
        False,
    )
    assert (await call(other)).text == "done"


async def test_a_tool_that_only_reads_is_left_alone(shop: Workshop) -> None:
    tool = tool_that(lambda: "seen", read_only=True)
    assert wrapped(tool, shop, Kept()) is tool


async def test_what_a_call_did_is_kept_and_can_be_undone(shop: Workshop) -> None:
    steps = Kept()
    await call(wrapped(tool_that(lambda: shop.write({"kept.txt": "two\n", "new": "x"})), shop, steps))
    assert steps.begun == [("call_1", "bash")]
    [(step, tally)] = steps.ended
    assert [(line.path, line.kind, line.added, line.removed) for line in tally.lines] == [
        ("kept.txt", "changed", 1, 1),
        ("new", "added", 1, 0),
    ]
    shop.history.restore([step], ORIGIN)
    assert shop.read("kept.txt") == "one\n"
    assert not (shop.workspace / "new").exists()


async def test_the_tally_is_that_of_the_turn(shop: Workshop) -> None:
    steps = Kept()
    texts = iter(["one\ntwo\n", "one\ntwo\nthree\n"])
    tool = wrapped(tool_that(lambda: shop.write({"kept.txt": next(texts)})), shop, steps)
    await call(tool)
    await call(tool)
    assert [tally.lines[0].added for _, tally in steps.ended] == [1, 2]


async def test_a_call_that_fails_is_kept(shop: Workshop) -> None:
    def fail() -> None:
        shop.write({"kept.txt": "half\n"})
        raise OSError("broken")

    steps = Kept()
    with pytest.raises(OSError, match="broken"):
        await call(wrapped(tool_that(fail), shop, steps))
    assert [line.path for line in steps.ended[0][1].lines] == ["kept.txt"]


async def test_a_call_that_is_cancelled_is_kept(shop: Workshop) -> None:
    begun = anyio.Event()

    async def hang() -> str:
        shop.write({"kept.txt": "half\n"})
        begun.set()
        await anyio.sleep_forever()
        return ""

    steps = Kept()
    task = asyncio.ensure_future(call(wrapped(tool_that(hang), shop, steps)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [line.path for line in steps.ended[0][1].lines] == ["kept.txt"]


async def test_a_call_that_changed_nothing_ends_with_the_same_tree(shop: Workshop) -> None:
    steps = Kept()
    await call(wrapped(tool_that(lambda: "looked"), shop, steps))
    [(step, tally)] = steps.ended
    assert step.before.tree == step.after.tree
    assert tally == Tally()


async def test_a_tool_works_where_nothing_can_be_kept_and_that_is_said(shop: Workshop) -> None:
    shop.store.write_text("a file where the snapshots should lie")
    steps = Kept()
    output = await call(wrapped(tool_that(lambda: shop.write({"new": "x"})), shop, steps))
    assert output.error is None
    assert shop.read("new") == "x"
    assert "Undo cannot keep" in steps.sentences[0]
    assert steps.begun == []


async def test_a_defect_of_undo_stops_no_tool(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Snapshot:
        raise RuntimeError("a defect")

    monkeypatch.setattr(shop.history, "take", broken)
    steps = Kept()
    assert (await call(wrapped(tool_that(lambda: "done"), shop, steps))).text == "done"
    assert len(steps.sentences) == 1


async def test_a_step_that_is_not_kept_has_no_end(shop: Workshop) -> None:
    steps = Kept(takes=False)
    await call(wrapped(tool_that(lambda: "done"), shop, steps))
    assert steps.ended == []


async def test_trouble_after_the_call_keeps_its_result(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil() -> str:
        def full(*_: Any) -> Snapshot:
            raise SnapshotTrouble("The disk is full.")

        monkeypatch.setattr(shop.history, "take", full)
        return "done"

    steps = Kept()
    assert (await call(wrapped(tool_that(spoil), shop, steps))).text == "done"
    assert steps.sentences == ["The disk is full."]
    assert steps.ended == []


async def test_a_look_that_takes_long_says_so_once_and_goes_on_showing_life(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 0.0)
    shop.write({f"file{number}": "x" for number in range(5)})
    heard: list[tuple[str | None, int | None]] = []
    await call(
        wrapped(tool_that(lambda: "done"), shop, Kept()), lambda text, done, total: heard.append((text, done))
    )
    assert [text for text, _ in heard if text] == [keeping._LOOKING]
    assert [done for _, done in heard] == sorted({done for _, done in heard if done})


async def test_a_look_before_the_call_ends_with_its_run(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    ran: list[str] = []

    def slow(origin: Origin, check_stop: CheckStop) -> Snapshot:
        loop.call_soon_threadsafe(begun.set)
        while True:
            check_stop()

    monkeypatch.setattr(shop.history, "take", slow)
    steps = Kept()
    task = asyncio.ensure_future(call(wrapped(tool_that(lambda: ran.append("ran")), shop, steps)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (ran, steps.begun) == ([], [])
