"""The environment of a command: made anew from what a developer's command needs, whatever the app's own holds."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

_TAKEN = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""Taken over. None of them can hold a key."""

_ASKS_NOBODY = {"GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "GIT_PAGER": "cat", "PIP_NO_INPUT": "1"}
"""There is nobody at the keyboard of a command."""

_CACHES = {"GOCACHE": "go-build", "UV_CACHE_DIR": "uv", "npm_config_cache": "npm"}
"""Tools that fail where they cannot write their cache, which lies outside of what a command may write."""


def command_environment(
    environment: Mapping[str, str], temporary: Path, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a command is told: ``environment`` is the app's own, ``extra`` what this one call adds."""
    taken = {name: environment[name] for name in _TAKEN if environment.get(name)}
    caches = {name: str(temporary / "caches" / folder) for name, folder in _CACHES.items()}
    return {
        "HOME": str(Path.home()),
        "LANG": "C.UTF-8",
        **taken,
        "PATH": search_path(taken.get("PATH", "")),
        "TERM": "dumb",
        "TMPDIR": str(temporary),
        **_ASKS_NOBODY,
        **caches,
        **(extra or {}),
    }


def search_path(path: str) -> str:
    """The user's own, without places that depend on where one stands, and without the app's own Python."""
    own = Path(sys.prefix) / "bin" if sys.prefix != sys.base_prefix else None
    places = [place for place in path.split(os.pathsep) if Path(place).is_absolute() and Path(place) != own]
    return os.pathsep.join(places) or os.defpath


def find_bash(environment: Mapping[str, str]) -> str | None:
    """Where commands find a bash; ``environment`` is the app's own."""
    return shutil.which("bash", path=command_environment(environment, Path("/"))["PATH"])
