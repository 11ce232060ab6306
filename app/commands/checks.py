"""What doctor looks at, one function for each thing: the machine, the folder, its owner.

Looking changes nothing. A finding may bring its repair, which is run only when it is asked for.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from app import __version__
from app.commands.running import find_note, find_owner, forget
from app.commands.sockets import PortTaken, listen
from app.infra.errors import DataFolderError
from app.infra.paths import DataFolder

_MEGABYTE = 1_000_000
_FULL = 100 * _MEGABYTE
_SHORT = 1000 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``note``: worth knowing, nothing to do at once."""

    about: str
    state: Literal["ok", "note", "problem"]
    text: str
    repair: Callable[[], str] | None = None
    """Puts it right without losing anything; returns what it did."""


_OF_DOCUMENTS = {"PIL": "Pillow", "pypdf": "pypdf", "openpyxl": "openpyxl"}
"""What the extra of that name brings, by what is imported of it."""


def check_versions() -> Iterator[Finding]:
    system = f"{platform.system()} {platform.release()}"
    yield Finding("version", "ok", f"Plancia {__version__}, Python {platform.python_version()}, {system}.")
    if find_spec("litellm") is None:
        yield Finding(
            "version",
            "note",
            "litellm is not installed, so only hosts that speak like OpenAI, Anthropic or Ollama can be reached. "
            'Add it with: pip install "plancia[providers]"',
        )
    missing = [name for module, name in _OF_DOCUMENTS.items() if find_spec(module) is None]
    if missing:
        yield Finding(
            "version",
            "note",
            f"{', '.join(missing)} not installed, so models do not see all pictures and documents in the workspace. "
            'Add it with: pip install "plancia[documents]"',
        )


def check_environment(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that point nowhere; the network fails on them without a word."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if (value := environment.get(name)) and not Path(value).exists():
            yield Finding(
                "network",
                "problem",
                f"{name} names {value}, which is not there: no server can be reached over https.",
            )
    proxies = [name for name in environment if name.lower() in ("http_proxy", "https_proxy", "all_proxy")]
    if proxies:
        yield Finding(
            "network", "note", f"Model servers are reached through a proxy ({', '.join(sorted(proxies))})."
        )


def check_folder(folder: DataFolder) -> Iterator[Finding]:
    root = folder.root
    if not root.exists():
        yield Finding("folder", "note", f"{root} is not there yet; the first start makes it.")
        return
    if not root.is_dir() or not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(
            "folder",
            "problem",
            f"{root} cannot be used as data folder: it is a file, or this user may not write there. "
            "Choose another one with --data-dir.",
        )
        return
    yield Finding("folder", "ok", f"The data folder is {root}.")
    if folder.database.exists() and stat.S_IMODE(root.stat().st_mode) & 0o077:
        yield Finding(
            "folder",
            "problem",
            f"Other users of this machine may look into {root}.",
            lambda: _make_private(root),
        )


def check_disk(folder: DataFolder) -> Iterator[Finding]:
    free = shutil.disk_usage(folder.root).free
    text = f"{free / _MEGABYTE:,.0f} MB are free on its disk."
    if free < _FULL:
        yield Finding(
            "disk", "problem", f"Only {text} Free some space: messages cannot be saved on a full disk."
        )
    else:
        yield Finding("disk", "note" if free < _SHORT else "ok", text)


def check_owner(folder: DataFolder) -> Iterator[Finding]:
    """Who has the folder. The lock is the truth; the note of a server that crashed outlives it."""
    try:
        owner = find_owner(folder)
    except DataFolderError as error:
        yield Finding("owner", "problem", str(error))
        return
    if owner is not None:
        note = find_note(folder)
        where = f" at {note.url}" if note and note.pid == owner.pid else ""
        yield Finding("owner", "ok", f"Plancia is running on it{where} (process {owner.pid or 'unknown'}).")
        return
    yield Finding("owner", "ok", "No Plancia is running on it.")
    if folder.server.exists():
        text = f"{folder.server.name} was left behind by a server that is gone."
        yield Finding("owner", "note", text, lambda: _forget(folder))


def check_port(number: int, folder: DataFolder) -> Iterator[Finding]:
    """Whether the usual port is free; this folder's own server may have it."""
    try:
        listen("127.0.0.1", number).close()
    except PortTaken:
        note = find_note(folder)
        if note is None or not note.is_alive:
            text = f"Port {number} is taken by another program. Start with `--port 0`, or name another one."
            yield Finding("port", "note", text)
        return
    yield Finding("port", "ok", f"Port {number} is free.")


def _make_private(root: Path) -> str:
    root.chmod(0o700)
    return f"{root} is closed to other users now."


def _forget(folder: DataFolder) -> str:
    forget(folder)
    return f"{folder.server.name} is removed."
