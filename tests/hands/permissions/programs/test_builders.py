"""Building, testing and linting the workspace is everyday work."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "pytest",
    "pytest -q -n 2 tests/unit --maxfail=1",
    "tsc -p tsconfig.json",
    "eslint . --fix",
    "ruff check . --fix",
    "ruff format .",
    "black src",
    "mypy app",
    "cmake -B build -S .",
    "cmake --build build -j",
    "ninja -C build",
    "gcc -O2 -Wall -o build/main src/main.c && ./build/main",
    "rustc main.rs",
    "rails test",
    'pytest -q; echo "exit $?"',
    "pytest -q > build/log.txt 2>&1 || tail -20 build/log.txt",
]

ASKS = {
    "opaque": [
        "pytest -p evil",
    ],
    "outside": [
        "pytest /etc",
        "pytest -c /tmp/other/x.ini",
    ],
    "deletes": [
        "pytest --basetemp=src",
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
