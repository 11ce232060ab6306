"""The demo model in the real loop, with the real file tools on a real folder, stopped and continued anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.harness import Harness
from app.engine.provider import ResolvedModel
from app.engine.runner import run
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.hands.ledger import ReadLedger
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.toolbox import file_tools
from app.infra.ids import new_id
from app.providers.demo import SUGGESTIONS, Demo
from app.providers.demo_words import NOTE, SAMPLE
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio

TOUR, _, LOOK, LONG = (suggestion.prompt for suggestion in SUGGESTIONS)


class Only:
    """A model source with the demo in it and nothing else."""

    def __init__(self) -> None:
        self.demo = Demo(FakeClock())

    def resolve(self, name: str | None) -> ResolvedModel:
        return ResolvedModel(self.demo, "tour", price_in=0.0, price_out=0.0)


class Desk:
    """One conversation of the demo in ``workspace``; every turn has read nothing yet."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.session = MemorySession("s")
        self.harness = Harness(Only(), FakeClock(), new_id, lambda: 0.5)

    async def turn(self, text: str | None, *, stop_after: int | None = None) -> events.Done:
        """A whole turn, or one that the user stops when so many events have come."""
        gate = PathGate(self.workspace, closed=ClosedPlaces(Path.home(), own=()))
        agent = Agent("commander", lambda: "", file_tools(gate, ReadLedger()))
        inputs = [UserInput(text, new_id("msg"))] if text else []
        abort = Abort()
        seen = 0
        done = None
        async for event in run(agent, self.session, inputs, self.harness, abort=abort):
            seen += 1
            if seen == stop_after:
                abort.set()
            done = event if isinstance(event, events.Done) else None
        assert done is not None
        return done

    @property
    def said(self) -> str:
        return "".join(message.text for message in self.session.messages if message.role == "assistant")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "README.md").write_text("Cargo: tea and rope.\n")
    return Desk(tmp_path)


async def test_the_tour_leaves_a_real_file_and_a_true_report(desk: Desk) -> None:
    done = await desk.turn(TOUR)
    assert done.status == "completed"
    assert (desk.workspace / "plancia-tour.md").read_text() == NOTE
    assert "reading it back shows" in done.text
    assert (done.usage.cost, done.tool_errors) == (0.0, events.ToolErrors())
    assert done.usage.output_tokens > 100


async def test_a_second_tour_in_the_same_folder_needs_no_refusal(desk: Desk) -> None:
    await desk.turn(TOUR)
    done = await desk.turn("Another tour, please")
    assert (done.status, done.tool_errors) == ("completed", events.ToolErrors())
    assert [path.name for path in sorted(desk.workspace.iterdir())] == ["README.md", "plancia-tour.md"]


async def test_looking_tells_what_is_there(desk: Desk) -> None:
    done = await desk.turn(LOOK)
    assert "Cargo: tea and rope." in done.text
    assert [path.name for path in desk.workspace.iterdir()] == ["README.md"]


@pytest.mark.parametrize("stop_after", [1, 2, 40, 150])
async def test_a_long_answer_goes_on_where_it_was_stopped(desk: Desk, stop_after: int) -> None:
    assert (await desk.turn(LONG, stop_after=stop_after)).status == "aborted"
    assert (await desk.turn(None, stop_after=5)).status == "aborted"
    assert (await desk.turn(None)).status == "completed"
    assert desk.said == SAMPLE


@pytest.mark.parametrize("stop_after", range(1, 120, 7))
async def test_a_tour_stopped_anywhere_ends_as_an_unbroken_one_when_continued(
    desk: Desk, stop_after: int
) -> None:
    await desk.turn(TOUR, stop_after=stop_after)
    done = await desk.turn(None)
    assert done.status == "completed"
    assert (desk.workspace / "plancia-tour.md").read_text() == NOTE
    assert [path.name for path in sorted(desk.workspace.iterdir())] == ["README.md", "plancia-tour.md"]
    assert "The note is in `plancia-tour.md`, and reading it back shows:" in desk.said
