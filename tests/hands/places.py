"""A small machine in a folder: a workspace, a folder outside of it, a home full of secrets; and hands on it."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.lowlevel
import jsonschema
from PIL import Image as pillow

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.ledger import ReadLedger
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.search import searching_tools
from app.hands.toolbox import file_tools

SECRET = "TOPSECRET"

CREDENTIALS = (
    *(".ssh/id_rsa", ".aws/credentials", ".config/gcloud/adc.json", ".azure/tokens.json", ".kube/config"),
    *(
        ".docker/config.json",
        ".npmrc",
        ".pypirc",
        ".cargo/credentials.toml",
        ".config/gh/hosts.yml",
        ".netrc",
    ),
    *(".mozilla/firefox/p/logins.json", "Library/Keychains/login.keychain-db", ".password-store/mail.gpg"),
    *(".bash_history", ".local/share/app/secrets.bin"),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the workspace, the outside and the home are."""

    workspace: Path
    outside: Path
    home: Path

    @classmethod
    def made_in(cls, folder: Path) -> Machine:
        machine = cls(folder / "ws", folder / "out", folder / "home")
        write(machine.workspace / "a.txt", "alpha\n")
        write(machine.workspace / "sub/b.txt", "beta\n")
        write(machine.outside / "secret.txt", SECRET)
        write(machine.outside / "plain.txt", "plain\n")
        write(machine.home / "projects/notes.md", "notes\n")
        write(machine.home / ".config/editor/init.lua", "init\n")
        for name in CREDENTIALS:
            write(machine.home / name, SECRET)
        return machine

    def gate(self, workspace: Path | None = None) -> PathGate:
        """A gate for the workspace; Plancia's own data lies in the home."""
        closed = ClosedPlaces(self.home, own=(self.home / ".local/share/app",))
        return PathGate(workspace or self.workspace, closed=closed)

    def fill(self, text: str) -> str:
        """``text`` with the placeholders of the path table replaced."""
        for mark, place in (("@WS@", self.workspace), ("@OUT@", self.outside), ("@HOME@", self.home)):
            text = text.replace(mark, str(place))
        return text

    def run(self, script: str) -> None:
        """Run one setup cell of the path table."""
        bash = shutil.which("bash")
        assert bash, "the table needs bash"
        subprocess.run([bash, "-c", self.fill(script)], check=True, cwd=self.workspace)


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def picture(width: int, height: int, format: str = "PNG", mode: str = "RGB", **save: Any) -> bytes:
    target = io.BytesIO()
    pillow.new(mode, (width, height), "red").save(target, format=format, **save)
    return target.getvalue()


def fingerprint(folder: Path) -> dict[str, str]:
    """Everything below ``folder``: kind, mode and content, so that any change shows."""
    found = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(above, name)
            mode = path.lstat().st_mode
            content = (
                hashlib.sha256(path.read_bytes()).hexdigest()
                if path.is_file() and not path.is_symlink()
                else ""
            )
            found[str(path)] = f"{mode:o} {content}"
    return found


@dataclass(frozen=True, slots=True)
class Hands:
    """The tools of one run on a machine."""

    tools: dict[str, Tool]

    @classmethod
    def on(cls, gate: PathGate, ledger: ReadLedger | None = None, *, ripgrep: bool = True) -> Hands:
        tools = file_tools(gate, ledger or ReadLedger())
        if not ripgrep:
            tools |= {tool.name: tool for tool in searching_tools(gate, None)}
        return cls(tools)

    async def call(self, name: str, /, **arguments: Any) -> ToolOutput:
        """Call a tool as a run does: with arguments that pass its schema."""
        tool = self.tools[name]
        jsonschema.validate(arguments, tool.parameters)
        return await tool.execute(arguments, ToolContext("call_1", lambda text, done, total: None))


def running() -> set[str]:
    """Processes that this one has started and not yet collected, where the system tells (Linux)."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return set()
    found: set[str] = set()
    for task in tasks.iterdir():
        with suppress(FileNotFoundError):  # a thread that ends meanwhile
            found.update((task / "children").read_text().split())
    return found


async def gone(pid: int) -> None:
    """Return when no process of that number runs any more; one that its parent has yet to collect does not run."""
    state = Path(f"/proc/{pid}/stat")
    while True:
        try:
            os.kill(pid, 0)
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        await anyio.lowlevel.checkpoint()
