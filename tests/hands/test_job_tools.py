"""Members read, type into and stop the jobs of their own conversation, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.job_tools import job_tools
from tests.hands.bash import Bash

pytestmark = pytest.mark.anyio


@pytest.fixture
def bash(tmp_path: Path) -> Bash:
    return Bash.on(tmp_path)


async def test_a_job_is_started_read_typed_into_and_stopped(bash: Bash) -> None:
    started = await bash.run("echo ready; read line; echo got $line; sleep 600", run_in_background=True)
    job = started.text.partition(" runs")[0].removeprefix("[")
    assert (await bash.call("job_write", job_id=job, text="hello\n")).error is None
    while "got hello" not in (text := (await bash.call("job_read", job_id=job)).text):
        pass
    assert text.startswith(f"[{job} runs; bytes 0-")
    cursor = int(text.partition("cursor ")[2].partition(".")[0])
    assert (await bash.call("job_read", job_id=job, cursor=cursor)).text.endswith("(no output)")
    stopped = await bash.call("job_stop", job_id=job)
    assert stopped.text.startswith(f"[{job} has ended: Ended after ")
    again = await bash.call("job_write", job_id=job, text="x")
    assert again.text == f"E_NOT_FOUND: {job} does not run any more. Read its output, or start it again."


async def test_jobs_of_other_conversations_are_as_if_they_were_not(bash: Bash) -> None:
    started = await bash.run("sleep 600", run_in_background=True)
    job = started.text.partition(" runs")[0].removeprefix("[")
    bash.tools |= job_tools(bash.jobs, "conv_2")
    for name, arguments in {"job_read": {}, "job_write": {"text": "x"}, "job_stop": {}}.items():
        output = await bash.call(name, job_id=job, **arguments)
        assert output.text.startswith("E_NOT_FOUND: There is no job")
    assert bash.jobs.load(job).state == "running"
    await bash.jobs.close()


@pytest.mark.parametrize("id", ["job_1", "../../etc", "job_/../x", "conv_1", ""])
async def test_a_name_that_is_no_job_opens_no_file(bash: Bash, id: str) -> None:
    assert (await bash.call("job_read", job_id=id)).error == "E_NOT_FOUND"
