"""A live Plancia for a story: the real command in a process of its own, on a free port and a fresh data folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.workspace.conversations import create_conversation
from app.workspace.messages import add_message
from app.workspace.store import Store

ROOT = Path(__file__).parent.parent
READY = "Plancia is ready: "


class Server:
    """Start, stop, kill and start again on the same data; ``login`` is the address with its token."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.workspace = folder / "workspace"
        self.errors = folder / "stderr.log"
        self.login = ""
        self.settings: dict[str, str] = {}
        """Environment variables of every start, beside the few that each one has."""
        self._options: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self.workspace.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        parts = urlsplit(self.login)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "It is not running."
        return self._process.pid

    def start(self, *options: str) -> str:
        """Serve; returns ``login``. Only ``settings`` reach the server: no key of this machine does."""
        self._options = options
        command = [sys.executable, "-m", "app", "serve", "--port", "0", "--no-open", *options]
        with self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line.startswith(READY):
            self.stop()
            raise AssertionError(f"Plancia did not start: {line}\n{self.errors.read_text(encoding='utf-8')}")
        self.login = line.removeprefix(READY)
        return self.login

    def start_again(self) -> str:
        """Serve at the address of before, as after a restart: pages that are open find their server there."""
        return self.start(*self._options, "--port", str(urlsplit(self.login).port))

    def at(self, path: str) -> str:
        """The address of a path, with the token in it."""
        return f"{self.url}{path}?{urlsplit(self.login).query}"

    def new_conversation(self, text: str = "") -> str:
        """The address of a new conversation; a fresh browser gets in by it."""
        return self.at(self.post("/conversations", text=text)["location"])

    def old_conversation(self, texts: Sequence[str], members: Sequence[str] = ()) -> str:
        """A conversation in which the user said all this before today's run; nobody answers. Returns its address.

        After the user each of ``members`` says a word.
        """
        folder, clock = DataFolder(self.data), SystemClock()
        with closing(open_database(folder, clock)) as database:
            store = Store(database, clock, new_id)
            row = create_conversation(store, workspace=str(self.workspace))
            for text in texts:
                add_message(store, row.id, kind="user", member="user", text=text)
            for member in members:
                add_message(store, row.id, kind="assistant", member=member, text=f"I am {member}.")
        return self.at(f"/conversations/{row.id}")

    def post(self, path: str, **fields: str) -> Message:
        """What a browser that was let in would send; returns the headers of the answer."""
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=30)) as server:
            server.request("GET", f"/?{urlsplit(self.login).query}")
            with server.getresponse() as entered:
                cookie = entered.headers["set-cookie"].partition(";")[0]
            headers = {
                "Origin": self.url,
                "Cookie": cookie,
                "Content-Type": "application/x-www-form-urlencoded",
            }
            server.request("POST", path, urlencode(fields), headers)
            return server.getresponse().headers

    def run(self, *arguments: str) -> str:
        """Another command on the same data folder: ``run("provider", "list")``. Returns its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.data.parent),
            "LANG": "C.UTF-8",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",  # that of who runs this is not ours
            "PLANCIA_DATA_DIR": str(self.data),
            "PLANCIA_WORKSPACE": str(self.workspace),
            **self.settings,
        }

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a power cut: no goodbye."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(how)
        try:
            return process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        finally:
            assert process.stdout is not None
            process.stdout.close()
