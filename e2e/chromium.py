"""A Chromium for the stories: one that is there, else the system's package, else Playwright's own download.

``python e2e/chromium.py`` sees to it that there is one, or says in one sentence what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

HEADLESS = "chromium-headless-shell"
"""What Playwright's own headless browser is too: no window to draw for, a third less work for a story."""

NAMES = (HEADLESS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

ARGUMENTS = [
    "--no-sandbox",  # a container's root has no other way; the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",  # else a spare one is started for every page, which costs a fifth of the time
]


def find_chromium() -> str | None:
    """The path of a Chromium of this machine that answers, None where only Playwright's own could be."""
    candidates = [shutil.which(name) for name in NAMES] + [str(MAC) if MAC.exists() else None]
    return next((path for path in candidates if path and _succeeds(path, "--version")), None)


def opens() -> str | None:
    """None when a browser starts, else Playwright's first line on why not."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS).close()
    except Error as error:
        return error.message.strip().splitlines()[0]
    return None


def install() -> None:
    """Try the system's package where we may, then Playwright's own build."""
    privilege = _privilege()
    if privilege is not None and _install_package(privilege) and opens() is None:
        return
    download = (sys.executable, "-m", "playwright", "install", "chromium")
    if privilege is None or not _run(*download, "--with-deps"):
        _run(*download)


def _install_package(privilege: list[str]) -> bool:
    # Ubuntu's package is an empty shell around a snap, which no container can start.
    if shutil.which("apt-get") and "ubuntu" not in _system():
        apt = [
            *privilege,
            "env",
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "-o",
            "DPkg::Lock::Timeout=300",
        ]
        install = (
            *apt,
            "install",
            "-y",
            "--no-install-recommends",
            "fonts-liberation",
            "fonts-noto-color-emoji",
        )
        return _run(*apt, "update") and (_run(*install, HEADLESS) or _run(*install, "chromium"))
    if shutil.which("dnf"):
        return _run(*privilege, "dnf", "install", "-y", "chromium")
    return False


def _privilege() -> list[str] | None:
    """What to put before a command that installs for all: nothing as root, sudo where it does not ask."""
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if shutil.which("sudo") and _succeeds("sudo", "-n", "true") else None


def _system() -> str:
    release = Path("/etc/os-release")
    return release.read_text(encoding="utf-8").lower() if release.exists() else ""


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _run(*command: str) -> bool:
    print("$", *command, file=sys.stderr, flush=True)
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False).returncode == 0


def main() -> int:
    if opens() is None:
        return 0
    install()
    if (reason := opens()) is None:
        return 0
    print(
        f"No Chromium starts here ({reason}), and none could be installed: install the package chromium "
        "or Google Chrome, then run make test again.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
