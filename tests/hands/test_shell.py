"""``bash`` in the hands of a model: what it is told of a command, live and in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from app.engine.tools import ToolOutput
from tests.hands.bash import KEY, Bash

pytestmark = pytest.mark.anyio


@pytest.fixture
def bash(tmp_path: Path) -> Bash:
    return Bash.on(tmp_path)


def head_of(output: ToolOutput, folder: Path) -> str:
    """The first line, with what differs from run to run left out."""
    first = output.text.partition("\n")[0].replace(str(folder), "FOLDER")
    before, _, after = first.partition(" after ")
    return f"{before}{after.partition(' s')[2]}"


async def test_the_model_reads_how_it_ended_and_what_it_wrote(bash: Bash) -> None:
    output = await bash.run("printf '\\033[32mgreen\\033[0m\\n'; echo bad >&2; exit 2")
    assert head_of(output, bash.workspace) == "[Exit code 2, in FOLDER.]"
    assert output.text.partition("\n")[2] == "green\nbad\n"
    assert output.error is None


async def test_onlookers_see_it_live_and_in_its_colours(bash: Bash) -> None:
    await bash.run("printf '\\033[32mgreen\\033[0m\\n'")
    assert "".join(bash.live) == "\x1b[32mgreen\x1b[0m\n"


async def test_silence_and_signals_are_said(bash: Bash) -> None:
    output = await bash.run("kill -KILL $$")
    assert head_of(output, bash.workspace) == "[Killed by SIGKILL, in FOLDER.]"
    assert output.text.endswith("\n(no output)")


async def test_what_was_left_running_is_ended_and_said(bash: Bash) -> None:
    output = await bash.run("sleep 600 & echo begun")
    assert (
        head_of(output, bash.workspace)
        == "[Exit code 0, in FOLDER. A program it had left running was ended.]"
    )


async def test_a_key_is_masked_in_the_result_and_live(bash: Bash) -> None:
    (bash.workspace / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    output = await bash.run("cat .env; env")
    assert "[redacted]" in output.text
    assert KEY not in output.text + "".join(bash.live)


async def test_a_large_result_is_read_on_by_its_reference(bash: Bash) -> None:
    output = await bash.run("seq 1 100000")
    assert output.text.count("\n") < 20_000
    assert "characters are left out here" in output.text
    ref = output.text.partition("stored as ")[2].partition(":")[0]
    found = await bash.call("search_result", ref=ref, pattern="\n54321\n")
    assert "54321" in found.text
    assert output.text.endswith("99999\n100000\n")


async def test_one_that_shows_nothing_is_ended_and_what_it_wrote_is_told(bash: Bash) -> None:
    output = await bash.run("echo begun; sleep 600", timeout_ms=300)
    assert output.error == "E_TIMEOUT"
    assert output.text.startswith("E_TIMEOUT: The command was ended: nothing new came from it for 0.3 s")
    assert output.text.endswith("\nbegun\n")


async def test_each_call_starts_in_the_workspace(bash: Bash) -> None:
    await bash.run("cd sub")
    assert (await bash.run("pwd")).text.endswith(f"\n{bash.workspace}\n")


async def test_a_command_has_what_its_call_was_allowed(bash: Bash) -> None:
    assert (await bash.run("echo $GIVEN")).text.endswith("for this call\n")


async def test_an_empty_command_is_refused(bash: Bash) -> None:
    assert (await bash.run(" \n")).error == "E_BAD_INPUT"


@pytest.mark.parametrize("wrong", [{"timeout_ms": 0}, {"timeout_ms": 10**9}, {"cwd": "/"}, {"env": {}}])
async def test_a_model_chooses_neither_folder_nor_endless_time(bash: Bash, wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        await bash.run("true", **wrong)
