"""A wrapped command is judged as if it stood alone, and what is set for it must not steer programs."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "command -v node",
    "env FOO=1 true",
    "NO_COLOR=1 pytest -q",
    "PYTHONPATH=src pytest -q",
    "PYTHONPATH=. python script.py",
    "timeout 60 pytest -q",
    "time make",
    "nice -n 10 make",
    "coverage run -m pytest",
    "coverage report",
    "trap 'echo bye' EXIT; ls",
    "trap 'rm -f x.tmp' EXIT",
    'OUT=build; for f in a b; do cp $f.txt "$OUT/$f.md"; done',
]

ASKS = {
    "deletes": [
        "command rm -rf src",
        "builtin eval 'rm -rf src'",
        "exec rm -rf src",
        'eval "rm -rf src"',
        "eval rm\\ -rf\\ src",
        "busybox rm -rf src",
        "timeout 5 rm -rf src",
        "timeout -s KILL 5 rm -rf src",
        "nice -n 5 rm -rf src",
        "stdbuf -oL rm -rf src",
        "trap 'rm -rf src' EXIT",
        "trap -- 'rm -rf src' 0",
        "watch 'rm -rf src'",
        "time -p rm -rf src",
        "exec 2>&1; rm -rf src",
    ],
    "privilege": [
        "env sudo ls",
        "time sudo ls",
        "nohup python x.py &",
        "setsid python x.py",
        "PATH=/x ls",
        "PATH=/x; ls",
        "IFS=x; ls",
        "HOME=/x ls",
        "BASH_ENV=x bash y.sh",
        "PYTHONSTARTUP=x python y.py",
        "IFS=,; x=rm,-rf,src; $x",
        "nice -n 5 nohup env -i bash -c 'eval \"rm -rf src\"'",
        "env -i PATH=/x ls",
        "env PATH=. ls",
        "command sudo ls",
    ],
    "sensitive": [
        "env",
        "env --split-string='rm -rf src'",
    ],
    "opaque": [
        "exec 3<>/dev/tcp/1.2.3.4/80",
        "script -c 'rm -rf src'",
        "parallel rm ::: src",
        "flock x rm -rf src",
        "env -C / ls",
        "env -S 'rm -rf src'",
        "env -u PATH ls",
    ],
    "outside": [
        'eval "cd .."; cat x',
    ],
}


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_commands_do_not_ask(command: str) -> None:
    assert [finding.sentence for finding in seen(command).findings if finding.category != "changes"] == []


@pytest.mark.parametrize(
    ("expected", "command"), [(kind, each) for kind, several in ASKS.items() for each in several]
)
def test_others_ask_and_say_why(expected: str, command: str) -> None:
    assert category(command) == expected
