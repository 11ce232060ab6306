"""Where a path leads: the categories of places, in each spelling, for each use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.reach import Use, label, reach
from tests.hands.permissions.verdicts import FACTS, HOME, OWN, WORKSPACE

HERE = frozenset({WORKSPACE})


def said(path: str, use: Use) -> str:
    """The worst category, with ``!`` where it is never allowed; empty where nothing is to be said."""
    found = list(reach(path, use, "", FACTS, HERE))
    return "" if not found else found[0].category + ("!" if found[0].never else "")


@pytest.mark.parametrize(
    ("path", "use", "expected"),
    [
        *(
            ("a.txt", "read", ""),
            ("./sub/../a.txt", "read", ""),
            (f"{WORKSPACE}/a", "read", ""),
            ("/tmp/plancia-1/a", "read", ""),
        ),
        *(("a.txt", "write", "changes"), ("../app/a.txt", "write", "changes"), ("a", "delete", "deletes")),
        *(
            ("../x", "read", "outside"),
            ("/etc/hosts", "read", "outside"),
            ("~/x", "read", "outside"),
            ("~bob/x", "read", "outside"),
        ),
        *(
            ("/tmp/x", "write", "destructive"),
            ("~/x", "write", "destructive"),
            ("~/x", "delete", "destructive"),
        ),
        *(
            ("~/.ssh/id", "read", "sensitive"),
            (f"{HOME}/.SSH/id", "read", "sensitive"),
            ("~/.s?h/id", "read", "sensitive"),
        ),
        *(
            ("~/.[s]sh/id", "read", "sensitive"),
            ("~/.a*/x", "read", "sensitive"),
            ("../../.aws/x", "read", "sensitive"),
        ),
        *(
            ("/proc/self/environ", "read", "sensitive"),
            ("file:///etc/shadow", "read", "sensitive"),
            ("~", "tree", "sensitive"),
        ),
        *(
            (".env", "read", "dotenv"),
            ("sub/.env.local", "write", "dotenv"),
            (".env.example", "read", ""),
            ("x.pem", "read", "dotenv"),
        ),
        *(
            (".e*", "read", "dotenv"),
            ("*", "read", ""),
            ("*.py", "read", ""),
            ("*.pem", "read", "dotenv"),
            (".*", "read", "dotenv"),
        ),
        *(
            (".git/config", "write", "privilege"),
            (".git/config", "read", ""),
            (".gitignore", "write", "changes"),
        ),
        *(
            (".vscode/tasks.json", "delete", "privilege"),
            (".mcp.json", "write", "privilege"),
            (".bash*", "write", "privilege"),
        ),
        *(
            (f"{OWN}/x", "write", "privilege!"),
            (f"{OWN}/x", "read", "sensitive"),
            ("/etc/sudoers", "write", "privilege!"),
        ),
        *(("~/.ssh/authorized_keys", "write", "privilege!"), ("/etc/passwd", "write", "privilege!")),
        *(
            ("/", "delete tree", "destructive!"),
            ("~", "delete tree", "destructive!"),
            ("..", "delete tree", "destructive!"),
        ),
        *(
            ("/*", "delete", "destructive!"),
            ("/usr/lib", "delete tree", "destructive!"),
            ("~/**/*", "delete", "destructive!"),
        ),
        *(
            (".", "delete tree", "destructive"),
            ("*", "delete tree", "deletes"),
            ("/srv/x/y", "delete tree", "destructive"),
        ),
        *(
            ("/dev/null", "write", ""),
            ("/dev/stdin", "read", ""),
            ("/dev/sda1", "write", "destructive!"),
            ("/dev/sda", "read", "sensitive"),
        ),
        *(
            ("/dev/tcp/h/80", "write", "exfiltration"),
            ("/dev/udp/h/1", "read", "exfiltration"),
            ("/dev/kvm", "write", "destructive"),
        ),
        *(
            ("\0", "read", "opaque"),
            ("a\0", "write", "opaque"),
            ("\0", "delete", "destructive"),
            ("\0", "look", ""),
        ),
        *(("~/.ssh", "look", "outside"), ("sub", "look", ""), ("-", "read", ""), ("", "read", "")),
        *(
            ("a.o", "delete", ""),
            ("x.pyc", "delete", ""),
            ("a.o", "delete tree", "deletes"),
            ("*.o", "delete", ""),
        ),
    ],
)
def test_a_place_says_what_it_is(path: str, use: Use, expected: str) -> None:
    assert (
        said(path, use).removeprefix("changes" if expected == "" and use.startswith("delete") else "")
        == expected
    )


def test_in_an_unknown_folder_a_relative_path_is_opaque() -> None:
    assert [found.category for found in reach("a", "read", "", FACTS, None)] == ["opaque"]
    assert [found.category for found in reach("/etc/hosts", "read", "", FACTS, None)] == ["outside"]


def test_every_folder_that_it_may_be_is_looked_at() -> None:
    found = reach("../x", "read", "", FACTS, frozenset({WORKSPACE, f"{WORKSPACE}/sub"}))
    assert [each.category for each in found] == ["outside"]


def test_the_attachments_of_a_conversation_are_open_although_the_rest_is_not() -> None:
    attachments = f"{OWN}/attachments/1"
    closed = ClosedPlaces(Path(HOME), own=(Path(OWN),), opened=(Path(attachments),))
    facts = replace(FACTS, closed=closed, granted=(attachments,))
    assert list(reach(f"{attachments}/a.csv", "read", "", facts, HERE)) == []
    assert [found.category for found in reach(f"{OWN}/x", "read", "", facts, HERE)] == ["sensitive"]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (f"{WORKSPACE}/src/a", "src/a"),
        (WORKSPACE, "the workspace"),
        (f"{HOME}/x", "~/x"),
        (HOME, "~"),
        ("/etc", "/etc"),
    ],
)
def test_a_path_is_shown_as_a_person_writes_it(path: str, shown: str) -> None:
    assert label(path, FACTS) == shown
