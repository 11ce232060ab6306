"""What the system itself keeps a command from, and by which mechanism; decided once at the start by trying.

A mechanism is trusted for what it was seen to do on this machine: a small program is run in it that tries to write
outside, to read a closed folder and to reach a server, and only where all of that fails it is used.
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Protocol

import anyio

from app.hands.children import child, of_ours, output_of
from app.hands.errors import Refused
from app.hands.permissions.closed_places import ClosedPlaces, never_written

Level = Literal["bubblewrap", "landlock", "sandbox-exec", "none"]

_PROBE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Access:
    """What one command may do. All paths are absolute and there, with all links resolved."""

    writable: tuple[Path, ...]
    """The workspace, the temporary folder, and folders that were granted."""
    temporary: Path
    """One of them: where ``TMPDIR`` points."""
    hidden: tuple[Path, ...] = ()
    """Closed places: neither read nor written, also where they lie in a writable folder."""
    opened: tuple[Path, ...] = ()
    """Read although they lie in a hidden place."""
    protected: tuple[Path, ...] = ()
    """Read and never written, in a writable folder."""
    network: bool = False


@dataclass(frozen=True, slots=True)
class Badge:
    """For people: what is active and what it leaves open."""

    level: Level
    sentence: str
    leaves_open: tuple[str, ...]


class Mechanism(Protocol):
    """One way to have the system confine a command."""

    @property
    def badge(self) -> Badge: ...

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        """The command line that runs ``argv`` confined, or fails before it. Raises ``OSError`` where it cannot be."""
        ...


class Unconfined:
    """No mechanism: said honestly."""

    badge = Badge(
        "none",
        "Commands are not confined on this machine: each can do what you can do.",
        ("files outside the workspace", "credential folders", "the network", "other programs"),
    )

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        return argv


@dataclass(frozen=True, slots=True)
class Findings:
    """What a confined program managed to do."""

    wrote_inside: bool
    wrote_outside: bool
    read_hidden: bool
    reached_network: bool

    @property
    def holds(self) -> bool:
        return self == Findings(
            wrote_inside=True, wrote_outside=False, read_hidden=False, reached_network=False
        )


@dataclass(frozen=True, slots=True)
class Confinement:
    """The mechanism that is used on this machine, and why no better one is."""

    mechanism: Mechanism
    refused: tuple[str, ...] = ()
    """One sentence for each that was tried before."""

    @property
    def badge(self) -> Badge:
        return self.mechanism.badge

    def wrap(self, argv: tuple[str, ...], access: Access) -> tuple[str, ...]:
        """See ``Mechanism``. Raises ``Refused``: what cannot be confined does not run."""
        try:
            return self.mechanism.wrap(argv, access)
        except OSError as error:
            raise cannot_confine(self.badge.level, str(error)) from error


def cannot_confine(level: Level, why: str) -> Refused:
    why = " ".join(why.split())[:300] or "no reason given"
    return Refused(
        "E_UNCONFINED",
        f"The command did not run: it could not be confined ({level}: {why}). Do not work around it; tell the user, "
        "who can look at the level of confinement in the settings.",
    )


async def find_confinement(mechanisms: Sequence[Mechanism] | None = None) -> Confinement:
    """The first mechanism that holds what it promises here, else none."""
    refused = []
    for mechanism in _mechanisms() if mechanisms is None else mechanisms:
        try:
            findings = await probe(mechanism)
        except OSError as error:
            refused.append(f"{mechanism.badge.level}: {error}")
            continue
        if findings.holds:
            return Confinement(mechanism, tuple(refused))
        refused.append(f"{mechanism.badge.level}: {_why(findings)}")
    return Confinement(Unconfined(), tuple(refused))


async def probe(mechanism: Mechanism) -> Findings:
    """Try it for real, on folders made for that. Raises ``OSError`` where it is not there or does not start."""
    with tempfile.TemporaryDirectory(prefix="plancia-probe-") as made, _listener() as port:
        base = Path(made).resolve()
        inside, outside = base / "inside", base / "outside"
        made_before, hidden = inside / "folder", inside / "hidden"
        for folder in (inside, outside, made_before, hidden):
            folder.mkdir()
        (hidden / "secret").write_bytes(b"secret")
        places = {"inside": made_before, "outside": outside, "hidden": hidden}
        order = json.dumps({**{name: str(place) for name, place in places.items()}, "port": port})
        access = Access((inside,), inside, hidden=(hidden,))
        command = mechanism.wrap((*of_ours("app.hands.permissions.probe_child"), order), access)
        answer = b""
        with anyio.move_on_after(_PROBE_SECONDS):
            async with child(command, folder=inside) as process:
                answer = b"".join([piece async for piece in output_of(process)])
        try:
            return Findings(**json.loads(answer))
        except (ValueError, TypeError) as error:
            raise OSError("it does not start on this machine") from error


def access_for(
    folders: Sequence[Path], temporary: Path, closed: ClosedPlaces, *, network: bool = False
) -> Access:
    """What a command in these folders may do, as things lie there now; one that has gone opens nothing.

    Raises ``Refused`` for a closed folder.
    """
    there = [folder for folder in folders if folder.is_dir()]
    for folder in there:
        if closed.standing(folder.resolve()) is None:
            raise Refused(
                "E_DENIED", f"{folder} is a closed place, where no command may run. Use another folder."
            )
    writable = tuple(dict.fromkeys(folder.resolve() for folder in (*there, temporary)))
    opened = tuple(place.resolve() for place in closed.opened if place.exists())
    protected = tuple(place for folder in writable for place in _protected(folder))
    return Access(writable, temporary.resolve(), closed.hidden_from_commands(), opened, protected, network)


def _protected(folder: Path) -> Iterator[Path]:
    """What makes other programs run or trust something. Of ``.git`` only that, for a command may commit."""
    for place in folder.iterdir():
        if place.is_symlink():
            continue
        if place.name == ".git" and place.is_dir():
            yield from (place / name for name in ("hooks", "config") if (place / name).exists())
        elif never_written((place.name,)):
            yield place


def _mechanisms() -> tuple[Mechanism, ...]:
    from app.hands.permissions.bubblewrap import Bubblewrap
    from app.hands.permissions.landlock import Landlock
    from app.hands.permissions.sandbox_exec import SandboxExec

    if sys.platform == "darwin":
        return (SandboxExec(),)
    program = shutil.which("bwrap") or ""
    return (*((Bubblewrap(program),) if Path(program).is_absolute() else ()), Landlock())


@contextmanager
def _listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def _why(findings: Findings) -> str:
    open_still = [name for name, value in asdict(findings).items() if value and name != "wrote_inside"]
    if not findings.wrote_inside:
        open_still.append("could not write inside")
    return f"it does not hold here ({', '.join(open_still).replace('_', ' ')})"
