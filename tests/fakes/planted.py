"""Keys where a run may come across them, and commands that show each of them in every way but an encoded one."""

from __future__ import annotations

from pathlib import Path

IN_ENVIRONMENT = "plain-words-of-the-environment"
STORED = "plain-words-of-the-store"
IN_FILE = "sk-of-the-env-file-0123456789"
"""The only one with the shape of a key; the others are known by their value."""
VARIABLE = "SOME_API_KEY"

_SHOWS = f"""\
env; printenv; set; export -p
cat .env; strings .env; tac .env
cat /proc/self/environ /proc/*/environ
cat /proc/$PPID/cmdline /proc/[0-9]*/cmdline | tr '\\0' ' '
python3 -c 'import os; print(os.environ)'
printf '{STORED[:9]}'; sleep 0.2; echo '{STORED[9:]}'
printf '\\033[31m{STORED[:9]}\\033[0m{STORED[9:]}\\n'
key=$(cat .env)
printf '{IN_ENVIRONMENT}\\r\\n%70000s {STORED} %s\\n' '' "$key"
for i in $(seq 5000); do echo $i "$key" {IN_ENVIRONMENT}; done
"""

CALLS = (
    ("bash", {"command": "sh shows.sh"}),
    ("bash", {"command": "env; cat .env /proc/*/environ"}),
    ("bash", {"command": "sh shows.sh; sleep 600", "run_in_background": True}),
    ("read_file", {"path": ".env"}),
    ("read_file", {"path": "known.txt"}),
    ("grep_files", {"pattern": "plain", "root": "."}),
    ("edit_file", {"path": "known.txt", "old_string": "end", "new_string": "END"}),
    ("write_file", {"path": ".env", "content": "MODE=dark\n"}),
)
"""The last two are seen as changes, with what stood there before."""


def plant(workspace: Path) -> None:
    (workspace / ".env").write_text(f"KEY={IN_FILE}\n")
    (workspace / "known.txt").write_text(f"{STORED}\n{IN_ENVIRONMENT}\nend\n")
    (workspace / "shows.sh").write_text(_SHOWS)


def kept(data: Path) -> list[Path]:
    """The files of the data folder, but for those that hold things as they were: the way back, a job's output."""
    raw = (data / "snapshots", *data.glob("jobs/*/output.*"))
    files = [path for path in data.rglob("*") if path.is_file()]
    return [path for path in files if not any(path.is_relative_to(place) for place in raw)]


def found_in(text: str) -> list[str]:
    """The keys that stand in a text."""
    return [key for key in (IN_ENVIRONMENT, STORED, IN_FILE) if key in text]
