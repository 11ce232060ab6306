"""What a confined command cannot do, beside the same command unconfined, which can; and how a mechanism is chosen."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.hands.errors import Refused
from app.hands.permissions.bubblewrap import Bubblewrap
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.confinement import (
    Access,
    Mechanism,
    Unconfined,
    access_for,
    find_confinement,
    probe,
)
from tests.hands.confined import CONFINED, EVERY, Commands, name_of
from tests.hands.places import SECRET, Machine, fingerprint, write

pytestmark = pytest.mark.anyio

HAS_OWN_NETWORK = subprocess.run(("unshare", "-rn", "true"), capture_output=True, check=False).returncode == 0

PROTECTS = [mechanism for mechanism in CONFINED if mechanism.badge.level != "landlock"]
"""Those that can close something inside an open folder."""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture(params=CONFINED, ids=name_of)
def confined(request: pytest.FixtureRequest, machine: Machine) -> Commands:
    return Commands.on(machine, request.param)


@pytest.fixture
def unconfined(machine: Machine) -> Commands:
    """The control: what it cannot do either proves nothing."""
    return Commands.on(machine, Unconfined())


OUTSIDE = (
    "echo changed > {home}/projects/notes.md",
    "echo new > {outside}/new.txt",
    "rm {outside}/plain.txt",
    "mv {outside}/plain.txt {outside}/moved.txt",
    "mv {outside}/plain.txt here.txt",
    "ln -s {outside} way; echo changed > way/plain.txt",
    ": > {outside}/plain.txt",
    "truncate -s 0 {outside}/plain.txt",
    "chmod 777 {outside}; echo x > {outside}/x",
    "mkdir {outside}/folder",
    "cd {outside} && touch y",
)


@pytest.mark.parametrize("script", OUTSIDE)
async def test_nothing_outside_is_changed(confined: Commands, machine: Machine, script: str) -> None:
    places = {"home": machine.home, "outside": machine.outside}
    before = contents(machine)
    await confined.run(script.format(**places))
    assert contents(machine) == before


@pytest.mark.parametrize("script", OUTSIDE)
async def test_without_confinement_it_is(unconfined: Commands, machine: Machine, script: str) -> None:
    places = {"home": machine.home, "outside": machine.outside}
    before = contents(machine)
    await unconfined.run(script.format(**places))
    assert contents(machine) != before


def contents(machine: Machine) -> dict[str, str]:
    """Of files outside the workspace; Landlock does not keep anybody from changing modes."""
    found = fingerprint(machine.outside) | fingerprint(machine.home)
    return {place: state.partition(" ")[2] for place, state in found.items() if "/app/temporary" not in place}


WORK = """
mkdir -p made/deep && echo new > made/deep/file && rm a.txt && mv sub other && cat {workspace}/made/deep/file &&
ls /usr/bin > /dev/null && cat /etc/hostname > /dev/null && cat <(echo piped)
"""


async def test_the_workspace_is_written_and_the_rest_can_be_read(
    confined: Commands, machine: Machine
) -> None:
    ended = await confined.run(WORK.format(workspace=machine.workspace))
    assert (ended.code, confined.text) == (0, "new\npiped\n")


async def test_confinement_leaves_nothing_in_the_workspace(confined: Commands, machine: Machine) -> None:
    before = fingerprint(machine.workspace)
    await confined.run("true")
    assert fingerprint(machine.workspace) == before


READS = (
    "cat {home}/.ssh/id_rsa",
    "cat {home}/.netrc {home}/.npmrc",
    "grep -r . {home}/.aws",
    "ln -s {home}/.ssh way; cat way/id_rsa",
    "cd {home}; cat .ssh/id_rsa",
    "cp -r {home}/.config/gh . && cat gh/*",
    "cat {home}/.local/share/app/secrets.bin",
    "ln {home}/.netrc hard && cat hard",
    "cat /proc/self/root{home}/.netrc",
)


@pytest.mark.parametrize("script", READS)
async def test_no_credential_is_read(confined: Commands, machine: Machine, script: str) -> None:
    await confined.run(script.format(home=machine.home))
    assert SECRET not in confined.text
    assert SECRET not in "".join(path.read_text() for path in machine.workspace.rglob("*") if path.is_file())


@pytest.mark.parametrize("script", READS)
async def test_without_confinement_they_are(unconfined: Commands, machine: Machine, script: str) -> None:
    await unconfined.run(script.format(home=machine.home))
    assert SECRET in unconfined.text


async def test_credentials_are_closed_where_the_home_is_the_workspace(machine: Machine) -> None:
    for mechanism in CONFINED:
        commands = Commands.on(machine, mechanism, workspace=machine.home)
        await commands.run(
            f"cat .ssh/id_rsa .netrc; echo {SECRET[::-1]} > .netrc; mv .ssh shown; cat shown/*; echo own > projects/own"
        )
        assert SECRET not in commands.text
        assert (machine.home / ".netrc").read_text() == SECRET
        assert (machine.home / ".ssh/id_rsa").exists()
        assert (machine.home / "projects/own").read_text() == "own\n"


async def test_attachments_are_read_although_they_lie_in_a_closed_folder(
    confined: Commands, machine: Machine
) -> None:
    attached = write(machine.home / ".local/share/app/attachments/a.txt", "attached\n")
    await confined.run(f"cat {attached}; echo changed > {attached}")
    assert confined.text.startswith("attached\n")
    assert attached.read_text() == "attached\n"


async def test_what_is_opened_in_a_closed_folder_is_reached_where_that_lies_in_the_workspace(
    machine: Machine,
) -> None:
    attached = write(machine.home / ".local/share/app/attachments/a.txt", "attached\n")
    for mechanism in CONFINED:
        commands = Commands.on(machine, mechanism, workspace=machine.home)
        await commands.run(
            f'cat {attached}; echo own > "$TMPDIR/file" && cat "$TMPDIR/file"; ls -A .local/share/app .ssh'
        )
        assert commands.text.startswith("attached\nown\n")
        assert "secrets.bin" not in commands.text
        assert "id_rsa" not in commands.text


@pytest.fixture
def other_program() -> Iterator[subprocess.Popen[bytes]]:
    """A program of the same user, with a key in its environment."""
    environment = {"PATH": os.defpath, "OPENAI_API_KEY": SECRET}
    with subprocess.Popen(["sleep", "600"], env=environment) as process:
        yield process
        process.kill()


LOOKS = "cat /proc/[0-9]*/environ; kill -KILL {pid}"


async def test_other_programs_are_neither_read_nor_ended(
    confined: Commands, other_program: subprocess.Popen[bytes]
) -> None:
    await confined.run(LOOKS.format(pid=other_program.pid))
    assert SECRET not in confined.text
    assert other_program.poll() is None


async def test_without_confinement_they_are_both(
    unconfined: Commands, other_program: subprocess.Popen[bytes]
) -> None:
    await unconfined.run(LOOKS.format(pid=other_program.pid))
    assert SECRET in unconfined.text
    assert other_program.wait() != 0


@pytest.fixture
def server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


CONNECTS = "exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"


async def test_no_server_is_reached_unless_that_was_allowed(confined: Commands, server: int) -> None:
    await confined.run(CONNECTS.format(port=server))
    assert "connected" not in confined.text
    await confined.run(CONNECTS.format(port=server), network=True)
    assert confined.text == "connected\n"


async def test_without_confinement_it_is_always(unconfined: Commands, server: int) -> None:
    await unconfined.run(CONNECTS.format(port=server))
    assert unconfined.text == "connected\n"


ATTEMPTS = """
import socket, sys
def attempt(name, make):
    try: make(); print(name, end=' ')
    except OSError: pass
udp = lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5))
attempt('udp', udp)
attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[2]))
attempt('pair', socket.socketpair)
"""


def managed(mechanism: Mechanism, port: int, listener: Path, *, network: bool) -> str:
    """Which sockets a program gets."""
    access = Access((listener.parent / "in",), listener.parent / "in", network=network)
    command = mechanism.wrap((sys.executable, "-c", ATTEMPTS, str(port), str(listener)), access)
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.decode().strip()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Path]:
    """A program of this machine that listens on a socket in the file system, as agents of keys do."""
    (tmp_path / "in").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        yield tmp_path / "socket"


def test_sockets_that_are_left(server: int, listener: Path) -> None:
    """Those to other programs of this machine are never among them."""
    assert managed(Unconfined(), server, listener, network=False) == "tcp udp unix pair"
    for mechanism in CONFINED:
        assert managed(mechanism, server, listener, network=False).split() in (["pair"], ["udp", "pair"])
        assert managed(mechanism, server, listener, network=True) == "tcp udp pair"


SERVES_ITSELF = """
import socket
with socket.create_server(('127.0.0.1', 0)) as server:
    socket.create_connection(server.getsockname(), 5)
    print('reached')
"""


@pytest.mark.parametrize("mechanism", CONFINED, ids=name_of)
def test_tests_that_start_a_server_of_their_own_run(mechanism: Mechanism, tmp_path: Path) -> None:
    """Where the kernel gives users a network of their own."""
    command = mechanism.wrap((sys.executable, "-c", SERVES_ITSELF), Access((tmp_path,), tmp_path))
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert (done.stdout == b"reached\n") == HAS_OWN_NETWORK


@pytest.fixture
def repository(machine: Machine) -> Path:
    """The workspace as a repository with a hook."""
    git = (shutil.which("git") or "git", "-C", str(machine.workspace))
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "config", "user.email", "me@example.org"], check=True)
    subprocess.run([*git, "config", "user.name", "Me"], check=True)
    write(machine.workspace / ".envrc", "old\n")
    return machine.workspace


TAKES_OVER = (
    "echo evil > .git/hooks/pre-commit",
    "echo evil >> .git/config",
    "git config core.fsmonitor evil",
    "mv .git moved && cp -r moved .git && echo evil > .git/hooks/pre-commit",
    "rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    "mv .git/hooks .git/old; mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
    "echo evil > .envrc",
    "rm -f .envrc; echo evil > .envrc",
)


@pytest.mark.parametrize("script", TAKES_OVER)
async def test_hooks_and_settings_of_a_repository_stay(
    machine: Machine, repository: Path, script: str
) -> None:
    for mechanism in PROTECTS:
        await Commands.on(machine, mechanism).run(script)
        trusted = (*(repository / ".git/hooks").iterdir(), repository / ".git/config", repository / ".envrc")
        assert not any(b"evil" in path.read_bytes() for path in trusted)


@pytest.mark.parametrize("script", TAKES_OVER)
async def test_without_confinement_they_do_not(unconfined: Commands, repository: Path, script: str) -> None:
    await unconfined.run(script)
    trusted = (*(repository / ".git/hooks").iterdir(), repository / ".git/config", repository / ".envrc")
    assert any(b"evil" in path.read_bytes() for path in trusted)


async def test_a_command_commits(confined: Commands, repository: Path) -> None:
    ended = await confined.run(
        "git add a.txt && git commit -qm first && git log --format=%s && git branch other"
    )
    assert (ended.code, confined.text) == (0, "first\n")


async def test_without_confinement_everything_is_open() -> None:
    findings = await probe(Unconfined())
    assert not findings.holds
    assert findings.read_hidden
    assert findings.wrote_outside
    assert findings.reached_network


class Sieve:
    """A mechanism that is there and does nothing."""

    badge = Bubblewrap("bwrap").badge

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        return argv


async def test_a_mechanism_is_trusted_for_what_it_does() -> None:
    found = await find_confinement([Sieve(), Bubblewrap("/no/such/program")])
    assert found.badge.level == "none"
    assert found.refused[0] == (
        "bubblewrap: it does not hold here (wrote outside, read hidden, reached network)"
    )
    assert found.refused[1].startswith("bubblewrap: ")


async def test_the_first_that_holds_is_used() -> None:
    found = await find_confinement([Sieve(), *CONFINED])
    assert found.badge.level == (CONFINED[0].badge.level if CONFINED else "none")
    assert len(found.refused) == 1


async def test_this_machine_has_an_answer() -> None:
    found = await find_confinement()
    assert found.badge.level in {name_of(mechanism) for mechanism in EVERY}
    assert found.badge.sentence
    assert found.badge.leaves_open


async def test_a_program_that_is_missing_is_refused_at_the_call(machine: Machine) -> None:
    with pytest.raises(Refused, match="E_FAILED"):
        await Commands.on(machine, Bubblewrap("/no/such/program")).run("touch ran")
    assert not (machine.workspace / "ran").exists()


def test_folders_are_resolved_and_each_named_once(tmp_path: Path) -> None:
    machine = Machine.made_in(tmp_path)
    (tmp_path / "link").symlink_to(machine.workspace)
    access = access_for(
        (tmp_path / "link", machine.workspace), machine.workspace / "sub", ClosedPlaces(machine.home)
    )
    assert access.writable == (machine.workspace, machine.workspace / "sub")
    assert machine.home / ".ssh" in access.hidden
    assert not any(above in access.hidden for place in access.hidden for above in place.parents)
