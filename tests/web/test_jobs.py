"""The pages of background jobs: what is listed, what one writes, and what the user may do with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.hands.executor import Executor
from app.hands.jobs import Job
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.confinement import Confinement, Unconfined
from app.hands.permissions.paths import PathGate
from app.workspace import conversations
from tests.hands.test_jobs import ended, text_with
from tests.web.pages import HTMX, Open, open_page

pytestmark = pytest.mark.anyio


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


async def begun(opened: Open, command: str, conversation: str = "conv_none") -> Job:
    """At the end of the page it is ended, as nobody keeps it."""
    bench = opened.bench
    executor = Executor(
        PathGate(opened.workspace, closed=ClosedPlaces(opened.workspace.parent)),
        bench.folder.temporary / conversation,
        Confinement(Unconfined()),
        bench.environment,
    )
    return await bench.machine.jobs.start(command, executor, conversation)


async def test_without_a_job_the_page_says_what_would_stand_there(opened: Open) -> None:
    text = (await opened.browser.get("/jobs")).text
    assert "No background jobs." in text
    assert 'id="rail-jobs"' in text


async def test_jobs_are_listed_the_newest_first_with_what_they_wrote(opened: Open) -> None:
    room = opened.conversation()
    conversations.rename(opened.bench.store, room.id, "The <harbour>")
    jobs = opened.bench.machine.jobs
    old = await begun(opened, "echo '<b>'; read stay", room.id)
    new = await ended(jobs, await begun(opened, "exit 3"))
    await text_with(jobs, old, "<b>")
    text = (await opened.browser.get("/jobs")).text
    assert text.index(new.id) < text.index(old.id)
    assert "exit 3" in text
    assert "&lt;b&gt;</pre>" in text
    assert "The &lt;harbour&gt;" in text
    assert 'Jobs</span><span class="meta">1<' in text
    panel = (await opened.browser.get(f"/conversations/{room.id}")).text
    assert f'id="panel-{old.id}"' in panel
    assert new.id not in panel


async def test_a_job_is_typed_into_and_shows_what_it_answers(opened: Open) -> None:
    jobs = opened.bench.machine.jobs
    job = await begun(opened, "read name; echo Hello $name; read more; cat; echo over")
    sent = await opened.browser.post(f"/jobs/{job.id}/input", {"text": "Anna", "key": "line"}, HTMX)
    assert sent.status == 204
    await text_with(jobs, job, "Hello Anna")
    sent = await opened.browser.post(f"/jobs/{job.id}/input", {"text": ""})
    assert (sent.status, sent.header("location")) == (303, f"/jobs/{job.id}")
    await opened.browser.post(f"/jobs/{job.id}/input", {"text": "not sent", "key": "end"})
    await ended(jobs, job)
    page = (await opened.browser.get(f"/jobs/{job.id}")).text
    assert "Hello Anna" in page
    assert "over" in page
    assert "not sent" not in page
    assert 'id="bus"' not in page
    whole = await opened.browser.get(f"/jobs/{job.id}/output")
    assert whole.text.endswith("over\n")
    assert whole.header("content-disposition") == f'attachment; filename="{job.id}.txt"'


async def test_ctrl_c_interrupts_it(opened: Open) -> None:
    jobs = opened.bench.machine.jobs
    job = await begun(opened, "trap 'echo interrupted; exit 4' INT; echo ready; while :; do sleep 0.05; done")
    await text_with(jobs, job, "ready")
    await opened.browser.post(f"/jobs/{job.id}/input", {"key": "interrupt"})
    assert "exit 4" in (await opened.browser.get(f"/jobs/{(await ended(jobs, job)).id}")).text


async def test_it_is_stopped_and_stopping_it_again_is_no_trouble(opened: Open) -> None:
    job = await begun(opened, "sleep 600")
    for _ in range(2):
        assert (await opened.browser.post(f"/jobs/{job.id}/stop", (), HTMX)).status == 204
    page = (await opened.browser.get(f"/jobs/{job.id}")).text
    assert "stopped" in page
    assert "/input" not in page


async def test_one_that_has_ended_takes_no_input_and_says_so(opened: Open) -> None:
    job = await begun(opened, "true")
    await ended(opened.bench.machine.jobs, job)
    for headers in ((), (HTMX,)):
        sent = await opened.browser.post(f"/jobs/{job.id}/input", {"text": "x"}, *headers)
        assert sent.status == 409
        assert "This job does not run any more." in sent.text


async def test_a_line_that_is_too_long_is_refused_in_words(opened: Open) -> None:
    job = await begun(opened, "read stay")
    sent = await opened.browser.post(f"/jobs/{job.id}/input", {"text": "x" * 20_000}, HTMX)
    assert sent.status == 409
    assert "A job takes 16,384 characters at once." in sent.text


async def test_whether_it_is_kept_is_a_switch(opened: Open) -> None:
    jobs = opened.bench.machine.jobs
    job = await begun(opened, "read stay")
    await opened.browser.post(f"/jobs/{job.id}/keep", {"keep": "yes"}, HTMX)
    assert jobs.load(job.id).is_kept
    assert 'value="yes" checked' in (await opened.browser.get(f"/jobs/{job.id}")).text
    await opened.browser.post(f"/jobs/{job.id}/keep", {}, HTMX)
    assert not jobs.load(job.id).is_kept


async def test_an_open_page_sees_what_it_writes_and_how_it_ends(opened: Open) -> None:
    jobs = opened.bench.machine.jobs
    job = await begun(opened, "echo one; read go; printf '\\033[31mtwo\\033[0m\\n'")
    async with opened.browser.stream(f"/jobs/{job.id}/stream") as stream:
        await stream.until_text("one")
        jobs.write(job.id, "\n")
        await stream.until_text('<span class="out-red">two</span>')
        await stream.until_text('hx-target="#bus" hx-swap="delete"')
        assert 'id="stop"' not in stream.messages[-1].data


async def test_the_open_list_sees_a_job_that_begins_and_one_that_ends(opened: Open) -> None:
    async with opened.browser.stream("/jobs/stream") as stream:
        await stream.until_text("No background jobs.")
        job = await begun(opened, "read stay")
        await stream.until_text(job.id)
        opened.bench.machine.jobs.write(job.id, "\n")
        await stream.until_text(">ended<")


async def test_streams_end_with_the_server(opened: Open) -> None:
    async with opened.browser.stream("/jobs/stream") as stream:
        await stream.until_text("No background jobs.")
        opened.app.goodbye()
        await stream.ended.wait()


@pytest.mark.parametrize("id", ["job_nobody", "nobody", "job_01hzzzzzzzzzzzzzzzzz"])
async def test_there_is_no_page_of_a_job_that_never_was(opened: Open, id: str) -> None:
    for path in (f"/jobs/{id}", f"/jobs/{id}/output", f"/jobs/{id}/stream"):
        assert (await opened.browser.get(path)).status == 404
    for act in ("input", "stop", "keep"):
        assert (await opened.browser.post(f"/jobs/{id}/{act}")).status == 404
