"""The profile that macOS is given; the rule that stands last counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.permissions.confinement import Access
from app.hands.permissions.sandbox_exec import SandboxExec, profile

HOME = Path("/Users/me")
WORK = HOME / "work"
TEMPORARY = HOME / "data/jobs/temporary"
ACCESS = Access(
    (WORK, TEMPORARY),
    TEMPORARY,
    hidden=(HOME / ".ssh", HOME / "data", WORK / "closed"),
    opened=(HOME / "data/attachments",),
    protected=(WORK / ".git/hooks",),
)


def test_a_profile() -> None:
    assert profile(ACCESS).splitlines() == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(allow file-write* (subpath "/Users/me/work") (subpath "/Users/me/data/jobs/temporary"))',
        '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx")'
        ' (literal "/dev/fd") (literal "/dev/stdout") (literal "/dev/stderr"))',
        '(deny file-read* file-write* (subpath "/Users/me/.ssh") (subpath "/Users/me/data")'
        ' (subpath "/Users/me/work/closed"))',
        '(allow file-read* (subpath "/Users/me/data/attachments"))',
        '(allow file-read* file-write* (subpath "/Users/me/data/jobs/temporary"))',
        '(deny file-write* (subpath "/Users/me/work/.git/hooks"))',
        '(deny file-write-unlink (literal "/Users/me/work") (literal "/Users/me/work/.git"))',
        "(deny network*)",
        "(deny appleevent-send)",
    ]


def test_the_network_is_left_where_it_was_allowed() -> None:
    assert "network" not in profile(Access((WORK,), WORK, network=True))


def test_a_name_cannot_add_a_rule() -> None:
    evil = Path('/srv/"))(allow file-write*)')
    assert '(subpath "/srv/\\"))(allow file-write*)")' in profile(Access((evil,), evil))


def test_where_there_is_none_it_says_so() -> None:
    with pytest.raises(OSError, match="no sandbox-exec"):
        SandboxExec("/no/such/program").wrap(("true",), ACCESS)
