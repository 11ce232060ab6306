"""A background job on a page: how it stands in a word and a mark, where it came from, what it wrote last."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.hands.executor import Ended
from app.hands.jobs import Job
from app.web.job_views import JobScreen, job_view, last_lines
from app.workspace import conversations
from tests.hands.bash import Bash
from tests.hands.test_jobs import ended, text_with
from tests.web.pages import Open, open_page

pytestmark = pytest.mark.anyio

TIME = "2026-11-30T12:00:00.000Z"

STANDING = [
    (None, "running", "live", "", "running"),
    (None, "lost", "broken", "", "lost: nobody saw how it ended"),
    (Ended("exit", 0, None, 1.0), "ended", "tick", "done", "ended"),
    (Ended("exit", 3, None, 1.0), "ended", "octagon", "failed", "exit 3"),
    (Ended("exit", None, 9, 1.0), "ended", "octagon", "failed", "killed by signal 9"),
    (Ended("stopped", None, 15, 1.0), "ended", "bar", "", "stopped"),
]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(("how", "state", "mark", "tone", "word"), STANDING)
async def test_how_a_job_stands_is_a_mark_and_a_word(
    opened: Open, how: Ended | None, state: str, mark: str, tone: str, word: str
) -> None:
    job = Job("job_1", "conv_1", "make", "/work", TIME, state=state, ended=how)  # type: ignore[arg-type]
    view = job_view(opened.bench.store, job)
    assert (view.mark, view.tone, view.word, view.runs) == (mark, tone, word, state == "running")
    assert view.seconds == (how.seconds if how else None)


async def test_it_leads_to_its_conversation_as_long_as_that_is_there(opened: Open) -> None:
    store, room = opened.bench.store, opened.conversation()
    conversations.rename(store, room.id, "The harbour")
    job = Job("job_1", room.id, "cd src\nmake", "/work", TIME)
    view = job_view(store, job)
    assert (view.conversation, view.came_from) == ("The harbour", f"/conversations/{room.id}")
    assert (view.first_line, view.command) == ("cd src …", "cd src\nmake")
    conversations.delete(store, room.id)
    gone = job_view(store, job)
    assert (gone.conversation, gone.came_from) == ("a deleted conversation", "")


@pytest.fixture
async def bash(tmp_path: Path) -> AsyncIterator[Bash]:
    bash = Bash.on(tmp_path / "bash")
    yield bash
    await bash.jobs.forget("conv_1")


async def begun(bash: Bash, command: str) -> Job:
    await bash.run(command, run_in_background=True)
    return bash.jobs.list_all()[0]


async def test_what_it_wrote_grows_and_a_line_that_was_open_is_there_once(bash: Bash) -> None:
    job = await begun(bash, "printf 'ready\\nName: '; read name; printf \"\\033[32mHello $name\\033[0m\\n\"")
    screen = JobScreen(bash.jobs, job.id)
    await text_with(bash.jobs, job, "Name: ")
    assert screen.look() == ("ready\n", True)
    assert (screen.terminal.closed, screen.terminal.open) == ("ready\n", "Name: ")
    assert screen.look() is None
    bash.jobs.write(job.id, "Anna\n")
    await ended(bash.jobs, job)
    assert screen.look() == ('Name: Anna\n<span class="out-green">Hello Anna</span>\n', False)
    assert last_lines(bash.jobs, job) == "ready\nName: Anna\nHello Anna"


async def test_a_page_that_is_far_behind_goes_to_the_end(bash: Bash) -> None:
    job = await begun(bash, "echo first; read go; seq 1 50000")
    screen = JobScreen(bash.jobs, job.id)
    await text_with(bash.jobs, job, "first")
    screen.look()
    bash.jobs.write(job.id, "\n")
    await ended(bash.jobs, job)
    came = screen.look()
    assert came is not None
    assert came[1] is True
    assert screen.terminal.closed.endswith("49999\n50000\n")
    assert "first" not in screen.terminal.closed


async def test_a_progress_bar_is_one_line(bash: Bash) -> None:
    job = await begun(bash, "for n in $(seq 1 300); do printf '\\r%s %%' $n; done; echo; read stay")
    await text_with(bash.jobs, job, "300 %\n")
    screen = JobScreen(bash.jobs, job.id)
    screen.look()
    assert (screen.terminal.closed, screen.terminal.open) == ("300 %\n", "")
