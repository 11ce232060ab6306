"""Background jobs outlive turns and the app, are found again, and none is left behind that the user did not keep."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.hands.errors import Refused
from app.hands.job_log import stretch
from app.hands.jobs import Job, Jobs
from app.hands.limits import JOB_SEGMENT, JOBS_AT_ONCE
from app.hands.permissions.confinement import Unconfined
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.redaction import Redactor
from tests.hands.confined import EVERY, Commands, left_with, name_of
from tests.hands.places import Machine
from tests.hands.test_executor import Broken

pytestmark = pytest.mark.anyio

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
async def jobs(tmp_path: Path) -> AsyncIterator[Jobs]:
    jobs = Jobs(tmp_path / "jobs", SystemClock(), new_id, Redactor([KEY]).redact)
    yield jobs
    for job in jobs.list_all():
        await jobs.forget(job.conversation)


@pytest.fixture(params=EVERY, ids=name_of)
def commands(request: pytest.FixtureRequest, machine: Machine) -> Commands:
    return Commands.on(machine, request.param)


@pytest.fixture
def simple(machine: Machine) -> Commands:
    return Commands.on(machine, Unconfined())


async def until(fact: Callable[[], bool]) -> None:
    while not fact():
        await anyio.lowlevel.checkpoint()


async def ended(jobs: Jobs, job: Job) -> Job:
    await until(lambda: jobs.load(job.id).state != "running")
    return jobs.load(job.id)


async def text_with(jobs: Jobs, job: Job, words: str) -> str:
    """What it has written, as soon as the words are in it."""
    await until(lambda: words in jobs.read(job.id).text.plain)
    return jobs.read(job.id).text.plain


async def test_it_runs_on_while_nobody_waits_and_says_how_it_ended(jobs: Jobs, commands: Commands) -> None:
    job = await jobs.start("echo begun; read go; echo $go; exit 7", commands.executor, "conv_1")
    assert (job.state, job.command, job.conversation) == (
        "running",
        "echo begun; read go; echo $go; exit 7",
        "conv_1",
    )
    assert job.pid is not None
    jobs.write(job.id, "now\n")
    over = await ended(jobs, job)
    assert over.ended is not None
    assert (over.state, over.ended.how, over.ended.code) == ("ended", "exit", 7)
    assert jobs.read(job.id).text.plain == "begun\nnow\nnow\n"


async def test_it_has_a_terminal(jobs: Jobs, commands: Commands) -> None:
    job = await jobs.start("[ -t 0 ] && [ -t 1 ] && echo yes; stty size; cat", commands.executor, "conv_1")
    assert await text_with(jobs, job, "40") == "yes\n40 120\n"
    jobs.write(job.id, "\x04")
    over = await ended(jobs, job)
    assert over.ended is not None
    assert over.ended.code == 0


async def test_ctrl_c_is_heard(jobs: Jobs, simple: Commands) -> None:
    job = await jobs.start("trap 'echo heard; exit 5' INT; echo begun; read x", simple.executor, "conv_1")
    await text_with(jobs, job, "begun")
    jobs.write(job.id, "\x03")
    assert "heard" in await text_with(jobs, job, "heard")


async def test_all_of_it_is_ended_when_it_is_stopped(jobs: Jobs, commands: Commands) -> None:
    mark = commands.mark
    script = (
        f"export MARK={mark}; trap '' HUP; setsid sleep 600 & sleep 600 & bash -c 'echo begun; sleep 600'"
    )
    job = await jobs.start(script, commands.executor, "conv_1")
    await text_with(jobs, job, "begun")
    stopped = await jobs.stop(job.id)
    assert stopped.ended is not None
    assert stopped.ended.how == "stopped"
    assert left_with(mark) == []


async def test_it_may_put_its_things_in_order(jobs: Jobs, commands: Commands) -> None:
    job = await jobs.start(
        "trap 'echo orderly; exit 0' TERM; echo begun; sleep 600 & wait", commands.executor, "conv_1"
    )
    await text_with(jobs, job, "begun")
    await jobs.stop(job.id)
    assert jobs.read(job.id).text.plain == "begun\norderly\n"


async def test_none_is_left_behind_but_those_the_user_keeps(jobs: Jobs, simple: Commands) -> None:
    left = await jobs.start("sleep 600", simple.executor, "conv_1")
    kept = await jobs.start("sleep 600", simple.executor, "conv_1")
    assert jobs.keep(kept.id).is_kept
    await jobs.close()
    assert (jobs.load(left.id).state, jobs.load(kept.id).state) == ("ended", "running")
    jobs.keep(kept.id, is_kept=False)
    await jobs.close()
    assert jobs.load(kept.id).state == "ended"


APP = """
import sys
from pathlib import Path
import anyio
from app.hands.jobs import Jobs
from app.hands.permissions.confinement import Unconfined
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from tests.hands.confined import Commands
from tests.hands.places import Machine

async def main():
    executor = Commands.on(Machine.made_in(Path(sys.argv[1]) / "other"), Unconfined()).executor
    jobs = Jobs(Path(sys.argv[1]) / "jobs", SystemClock(), new_id, lambda text: text)
    print((await jobs.start("echo begun; read go; echo $go; exit 7", executor, "conv_1")).id, flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""


def started_by_an_app_that_died(folder: Path) -> str:
    """The job of another process, which is no more."""
    command = (sys.executable, "-c", APP, str(folder))
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as app:
        assert app.stdout is not None
        id = app.stdout.readline().decode().strip()
        app.kill()
    return id


async def test_it_survives_the_death_of_the_app_and_is_found_again(jobs: Jobs, tmp_path: Path) -> None:
    id = started_by_an_app_that_died(tmp_path)
    (job,) = jobs.list_all()
    assert (job.id, job.state) == (id, "running")
    jobs.write(id, "still here\n")
    over = await ended(jobs, job)
    assert over.ended is not None
    assert over.ended.code == 7
    assert "still here" in jobs.read(id).text.plain


async def test_a_number_that_was_given_out_anew_is_not_the_job(jobs: Jobs, simple: Commands) -> None:
    job = await jobs.start("true", simple.executor, "conv_1")
    await ended(jobs, job)
    place = jobs.folder / job.id
    (place / "end.json").unlink()
    facts = json.loads((place / "process.json").read_bytes())
    (place / "process.json").write_text(json.dumps({**facts, "pid": os.getpid()}))
    assert jobs.load(job.id).state == "lost"
    with pytest.raises(Refused, match="does not run any more"):
        await jobs.stop(job.id)
    await jobs.forget("conv_1")


async def test_a_supervisor_that_was_killed_leaves_a_job_that_is_lost(jobs: Jobs, simple: Commands) -> None:
    job = await jobs.start("echo begun; read x", simple.executor, "conv_1")
    await text_with(jobs, job, "begun")
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    over = await ended(jobs, job)
    assert (over.state, over.ended) == ("lost", None)
    assert jobs.read(job.id).text.plain == "begun\n"


async def test_one_that_cannot_be_confined_does_not_run(jobs: Jobs, machine: Machine) -> None:
    broken = Commands.on(machine, Broken("/bin/sh", "-c", "echo no more namespaces"))
    with pytest.raises(Refused, match=r"E_UNCONFINED.*no more namespaces"):
        await jobs.start("touch ran", broken.executor, "conv_1")
    with pytest.raises(Refused, match="E_FAILED"):
        await jobs.start("touch ran", Commands.on(machine, Broken("/no/such")).executor, "conv_1")
    assert not (machine.workspace / "ran").exists()
    assert jobs.list_all() == []


async def test_one_whose_notes_are_damaged_hides_no_other(jobs: Jobs, simple: Commands) -> None:
    first = await jobs.start("true", simple.executor, "conv_1")
    second = await jobs.start("true", simple.executor, "conv_1")
    await ended(jobs, first)
    await ended(jobs, second)
    for damaged in ("{}", "[]", "half", "null"):
        (jobs.folder / first.id / "job.json").write_text(damaged)
        assert [job.id for job in jobs.list_all()] == [second.id]
    (jobs.folder / second.id / "end.json").write_text("{}")
    assert jobs.load(second.id).state == "lost"


async def test_only_so_many_run_at_once_in_a_conversation(jobs: Jobs, simple: Commands) -> None:
    for _ in range(JOBS_AT_ONCE):
        await jobs.start("sleep 600", simple.executor, "conv_1")
    with pytest.raises(Refused, match="E_TOO_MANY"):
        await jobs.start("sleep 600", simple.executor, "conv_1")
    assert (await jobs.start("true", simple.executor, "conv_2")).conversation == "conv_2"
    assert len(jobs.list_all("conv_1")) == JOBS_AT_ONCE


async def test_what_is_forgotten_is_ended_and_gone(jobs: Jobs, simple: Commands) -> None:
    job = await jobs.start(f"export MARK={simple.mark}; sleep 600", simple.executor, "conv_1")
    await jobs.forget("conv_1")
    assert not (jobs.folder / job.id).exists()
    assert left_with(simple.mark) == []


async def test_its_output_is_bounded_and_says_where_it_begins(jobs: Jobs, simple: Commands) -> None:
    lines = JOB_SEGMENT // 16 * 4
    job = await jobs.start(f"yes 0123456789abcde | head -n {lines}; echo {KEY}", simple.executor, "conv_1")
    await ended(jobs, job)
    first, end = stretch(jobs.folder / job.id)
    assert end == lines * 16 + len(KEY) + 1
    assert 0 < end - first <= 2 * JOB_SEGMENT + 65_536
    shown = jobs.read(job.id, 0, 64)
    assert (shown.start >= first, shown.is_all) == (True, False)
    assert jobs.read(job.id).text.plain.endswith("0123456789abcde\n[redacted]\n")


async def test_it_is_read_on_by_whole_lines_and_no_key_is_cut(jobs: Jobs, simple: Commands) -> None:
    job = await jobs.start(f"for n in 1 2 3 4 5; do echo $n {KEY}; done", simple.executor, "conv_1")
    await ended(jobs, job)
    cursor, texts = 0, []
    while True:
        shown = jobs.read(job.id, cursor, 40)
        texts.append(shown.text.plain)
        if shown.is_all:
            break
        cursor = shown.end
    assert "".join(texts) == "".join(f"{n} [redacted]\n" for n in range(1, 6))
    for start in range(40):
        assert "0123456789" not in jobs.read(job.id, start, 40).text.plain


async def test_a_full_pipe_of_input_is_said(jobs: Jobs, simple: Commands) -> None:
    job = await jobs.start("stty raw; echo begun; sleep 600", simple.executor, "conv_1")
    await text_with(jobs, job, "begun")

    def flood() -> None:
        for _ in range(1_000):
            jobs.write(job.id, "x" * 16_000)

    with pytest.raises(Refused, match="Read what it does first"):
        flood()
    with pytest.raises(Refused, match="E_TOO_LARGE"):
        jobs.write(job.id, "x" * 20_000)
