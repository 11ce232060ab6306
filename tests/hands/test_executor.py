"""A command runs in an environment of its own, comes back when it has ended, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.engine.watchdog import Watchdog
from app.hands.errors import Refused
from app.hands.executor import Onlooker
from app.hands.permissions.confinement import Access, Badge, Mechanism, Unconfined
from tests.hands.confined import EVERY, Commands, left_with, name_of
from tests.hands.places import Machine, gone

pytestmark = pytest.mark.anyio

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture(params=EVERY, ids=name_of)
def commands(request: pytest.FixtureRequest, machine: Machine) -> Commands:
    return Commands.on(machine, request.param)


async def test_it_says_its_exit_code_and_writes_both_streams_into_one(commands: Commands) -> None:
    ended = await commands.run("echo one; echo two >&2; echo three; pwd; exit 3")
    assert (ended.how, ended.code, ended.signal, ended.left) == ("exit", 3, None, 0)
    assert commands.text.splitlines() == ["one", "two", "three", str(commands.executor.folder)]


async def test_the_text_that_was_given_is_what_the_shell_reads(commands: Commands) -> None:
    await commands.run("printf '%s|' \"a  b\" 'c\nd' $'\\t'; # \u00e9")
    assert commands.text == "a  b|c\nd|\t|"


async def test_one_that_a_signal_ends_says_which(machine: Machine) -> None:
    ended = await Commands.on(machine, Unconfined()).run("kill -SEGV $$")
    assert (ended.code, ended.signal) == (None, signal.SIGSEGV)


async def test_its_environment_is_made_anew(machine: Machine) -> None:
    planted = {
        **os.environ,
        "OPENAI_API_KEY": KEY,
        "SSH_AUTH_SOCK": "/tmp/agent",
        "SECRET_TOKEN": KEY,
        "LANG": "it_IT.UTF-8",
    }
    commands = Commands.on(machine, Unconfined(), environment=planted)
    await commands.run("env")
    names = {line.partition("=")[0] for line in commands.text.splitlines()}
    assert names <= {
        *(
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "TZ",
            "PATH",
            "TERM",
            "TMPDIR",
            "MARK",
        ),
        *(
            "GIT_TERMINAL_PROMPT",
            "PAGER",
            "GIT_PAGER",
            "PIP_NO_INPUT",
            "GOCACHE",
            "UV_CACHE_DIR",
            "npm_config_cache",
        ),
        *("PWD", "OLDPWD", "SHLVL", "_"),
    }
    assert "LANG=it_IT.UTF-8" in commands.text


@pytest.mark.parametrize("mechanism", EVERY, ids=name_of)
async def test_no_key_of_the_app_is_seen_in_it_or_above_it(machine: Machine, mechanism: Mechanism) -> None:
    commands = Commands.on(machine, mechanism, environment={**os.environ, "OPENAI_API_KEY": KEY})
    await commands.run(
        "env; cat /proc/self/environ /proc/$PPID/environ; tr '\\0' '\\n' < /proc/$PPID/cmdline; set; export -p"
    )
    assert "MARK" in commands.text
    assert KEY not in commands.text


async def test_it_has_three_descriptors_and_nothing_to_read(commands: Commands) -> None:
    ended = await commands.run(
        "for fd in {0..99}; do [ -e /dev/fd/$fd ] && echo $fd; done; cat; read x || echo nothing; tty"
    )
    assert ended.code == 1
    assert commands.text.splitlines() == ["0", "1", "2", "nothing", "not a tty"]


NASTY = {
    "a daemon that holds the pipe": "setsid -f sleep 600; echo done",
    "a child that holds the pipe": "sleep 600 & echo done",
    "one that no signal of the terminal reaches": "nohup sleep 600 & disown; echo done",
    "one that does not hear": "(trap '' TERM INT HUP; sleep 600; sleep 600) & echo done",
    "one in a session of its own that does not hear": "(trap '' TERM; exec setsid sleep 600) & echo done",
    "a reader": "cat; echo done",
    "a hundred megabytes": "head -c 100000000 /dev/zero; echo done",
    "a chain of forks": "f() { sleep 0.01; f & }; f; f; f; echo done",
    "a chain of sessions": "echo 'sleep 0.01; setsid sh \"$0\" &' > chain; sh chain; sh chain; echo done",
    "bytes that are no text": "printf '\\377\\376\\000\\200'; echo done",
}


@pytest.mark.parametrize("script", NASTY.values(), ids=NASTY)
async def test_what_is_nasty_comes_back_and_leaves_nothing(commands: Commands, script: str) -> None:
    ended = await commands.run(script)
    assert ended.how == "exit"
    assert commands.text.endswith("done\n")
    assert commands.left == []


async def test_one_that_shows_nothing_is_ended_although_it_does_not_hear(commands: Commands) -> None:
    ended = await commands.run("trap '' TERM INT; echo begun; while :; do sleep 600; done", seconds=1.0)
    assert ended.how == "timeout"
    assert commands.text == "begun\n"
    assert commands.left == []


@pytest.mark.parametrize(
    ("pieces", "is_new"),
    [
        ((b"one\n", b"two\n"), True),
        ((b".", b"."), True),
        ((b"10%\r", b"20%\r"), True),
        ((b"waiting\n", b"waiting\n"), False),
        ((b"waiting\n", b"\n"), False),
    ],
)
async def test_a_line_that_grows_is_new_and_the_same_line_again_is_not(
    pieces: tuple[bytes, bytes], is_new: bool
) -> None:
    shown: list[bytes] = []
    watchdog = Watchdog(60)
    onlooker = Onlooker(shown.append, watchdog)
    async with watchdog.watch():
        onlooker.see(pieces[0])
        before = watchdog.deadline
        onlooker.see(pieces[1])
        assert (watchdog.deadline != before) == is_new
    assert tuple(shown) == pieces


async def test_a_cancelled_call_ends_it(commands: Commands) -> None:
    async def run(scope: anyio.CancelScope) -> None:
        with scope:
            await commands.run("setsid -f sleep 600; sleep 600 & echo begun; wait")

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, scope)
        while not commands.output:
            await anyio.lowlevel.checkpoint()
        scope.cancel()
    assert commands.left == []


APP = """
import os, sys
from pathlib import Path
import anyio
from app.hands.permissions.confinement import Unconfined
from tests.hands.confined import Commands
from tests.hands.places import Machine

async def main():
    commands = Commands.on(Machine.made_in(Path(sys.argv[1])), Unconfined())
    commands.mark = sys.argv[2]
    commands.output = type("Out", (bytearray,), {"extend": lambda self, piece: os.write(1, piece)})()
    await commands.run("setsid -f sleep 600; echo $$; sleep 600")

anyio.run(main)
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another app, at work on a command."""
    command = (sys.executable, "-c", APP, str(tmp_path / "machine"), str(tmp_path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
        yield process
        process.kill()


async def test_the_death_of_the_app_ends_its_commands(app: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert app.stdout is not None
    command = int(app.stdout.readline())
    app.kill()
    await gone(command)
    while left_with(str(tmp_path)):
        await anyio.lowlevel.checkpoint()


async def test_the_death_of_the_supervisor_is_said(machine: Machine) -> None:
    commands = Commands.on(machine, Unconfined())
    with pytest.raises(Refused, match="its supervisor was killed"):
        await commands.run("kill -KILL $PPID; sleep 600")
    while commands.left:
        await anyio.lowlevel.checkpoint()


class Broken:
    """A mechanism that fails at the call although it was there at the start."""

    badge = Badge("bubblewrap", "", ())

    def __init__(self, *instead: str) -> None:
        self.instead = instead

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        if not self.instead:
            raise OSError("no more namespaces")
        return (*self.instead, *argv)


@pytest.mark.parametrize("instead", [(), ("/bin/sh", "-c", "echo no more namespaces; exit 0")])
async def test_what_cannot_be_confined_does_not_run(machine: Machine, instead: tuple[str, ...]) -> None:
    commands = Commands.on(machine, Broken(*instead))
    with pytest.raises(Refused, match=r"E_UNCONFINED: The command did not run.*no more namespaces"):
        await commands.run("touch ran")
    assert not (machine.workspace / "ran").exists()


async def test_a_command_that_fails_by_itself_was_confined_well(commands: Commands) -> None:
    assert (await commands.run("exit 1")).code == 1
    assert (await commands.run("no-such-program-here")).code == 127


@pytest.mark.parametrize(
    ("command", "code"), [("echo \0", "E_BAD_INPUT"), (f"echo {'x' * 120_000}", "E_TOO_LARGE")]
)
async def test_a_text_that_no_system_takes_is_refused(machine: Machine, command: str, code: str) -> None:
    with pytest.raises(Refused, match=code):
        await Commands.on(machine, Unconfined()).run(command)


async def test_a_long_command_that_the_system_takes_runs(commands: Commands) -> None:
    await commands.run(f"echo {'x' * 90_000}")
    assert len(commands.output) == 90_001


async def test_no_command_runs_in_a_closed_place(machine: Machine) -> None:
    with pytest.raises(Refused, match="E_DENIED"):
        await Commands.on(machine, Unconfined(), workspace=machine.home / ".ssh").run("true")


async def test_its_temporary_folder_is_private_and_can_be_written(commands: Commands) -> None:
    await commands.run('echo kept > "$TMPDIR/file"')
    await commands.run('cat "$TMPDIR/file"; mktemp > /dev/null && echo made')
    assert commands.text == "kept\nmade\n"
    assert commands.executor.temporary.stat().st_mode & 0o777 == 0o700


async def test_a_workspace_that_has_gone_is_said(machine: Machine) -> None:
    commands = Commands.on(machine, Unconfined())
    machine.workspace.rename(machine.workspace.with_name("elsewhere"))
    with pytest.raises(Refused, match="E_NOT_FOUND"):
        await commands.run("true")
    assert not machine.workspace.exists()
