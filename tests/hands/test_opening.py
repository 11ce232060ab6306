"""Programs that open what others made: limited, one at a time, and an answer only where they came to one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import app
from app.hands.errors import Refused
from app.hands.opening import folder_of, opened

pytestmark = pytest.mark.anyio

CHILD = "app.hands.documents.child"


def run(look: str, told: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A program that answers with what ``look`` gives, with one second of processor time."""
    script = f"from app.hands.opening_child import answer; answer(lambda data: {look}, 1)"
    return subprocess.run(
        [sys.executable, "-c", script],
        input=told,
        capture_output=True,
        cwd=Path(app.__file__).parents[1],
        check=False,
    )


def test_an_answer_is_one_line_and_bytes_behind_it() -> None:
    assert run("({'size': len(data)}, data)", b"a\nb").stdout == b'{"size": 3}\na\nb'


@pytest.mark.parametrize(
    ("look", "said"),
    [
        ("{}['x']", b"'x'"),
        ("[][0]", b"list index out of range"),
        ("(_ for _ in ()).throw(ValueError())", b"ValueError"),
        ("bytes(2 ** 33)", b"it takes too much memory"),
    ],
)
def test_what_goes_wrong_is_an_answer_too(look: str, said: bytes) -> None:
    assert run(look).stdout == b'{"failed": "%b"}\n' % said


def test_an_endless_look_is_ended_by_the_system() -> None:
    done = run("[None for _ in iter(int, 1)]")
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    assert done.stdout == b""


async def test_what_says_too_much_or_breaks_off_says_nothing() -> None:
    asked = {"label": "it", "seconds": 20.0}
    assert await opened(CHILD, [], b"PK", most=5, **asked) == (None, b"")
    assert await opened("app.hands.no_such_module", [], b"PK", most=500, **asked) == (None, b"")


async def test_one_that_is_too_slow_is_told_with_its_name() -> None:
    with pytest.raises(Refused, match="big took too long"):
        await opened(CHILD, [], b"PK", label="big", seconds=0, most=500)


def test_a_library_is_found_without_being_imported() -> None:
    assert folder_of("no_such_library_at_all") is None
    folder = folder_of("pypdf")
    assert folder is not None
    assert (folder / "pypdf/__init__.py").is_file()
