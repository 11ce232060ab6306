"""Globs, as a person reads them, and never slow."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.errors import Refused
from app.hands.globs import Glob


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("**/src/*.py", "x/src/a.py", True),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/x/y/a.py", True),
        ("src/**", "src/x/y", True),
        ("src/**", "srcs/x", False),
        ("/src/a", "src/a", True),
        ("a?c", "a/c", False),
        ("[!a]", "/", False),
        ("[a-c]x", "bx", True),
        ("[]]", "]", True),
        ("{a,b{c,d}}.x", "bd.x", True),
        ("a,b", "a,b", True),
        ("a}", "a}", True),
        ("a[", "a[", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a.c", "abc", False),
        ("new\nline", "new\nline", True),
        ("***", "x", True),
        ("{a/b,c}/*.py", "a/b/x.py", True),
        ("{a/b,c}/*.py", "a/x.py", False),
        ("{a,ab}*b", "ab", True),
        ("{x{a,b}{c,d}", "{xad", True),
        ("*a*b", "xaxab", True),
        ("*.*.*", "a.b", False),
        ("**/a/**/b", "a/x/a/y/b", True),
        ("**/a/**/b", "b/a", False),
    ],
)
def test_a_glob_is_for_whole_paths(glob: str, path: str, matches: bool) -> None:
    assert Glob.of(glob).matches(path) is matches


@given(
    glob=st.text(st.sampled_from("ab/*?[]{},!-\\"), max_size=8),
    path=st.text(st.sampled_from("ab/-"), min_size=1),
)
def test_a_glob_is_understood_or_refused(glob: str, path: str) -> None:
    with suppress(Refused):
        Glob.of(glob).matches(path)


@given(
    glob=st.text(st.sampled_from("ab*?"), min_size=1, max_size=8),
    name=st.text(st.sampled_from("ab"), max_size=8),
)
def test_a_glob_for_a_name_is_that_of_the_shell(glob: str, name: str) -> None:
    if name:
        assert Glob.of(glob).matches(name) == fnmatchcase(name, glob)


def test_many_stars_and_many_folders_take_no_longer_than_few() -> None:
    assert not Glob.of("*a" * 60 + "b").matches("a" * 250)
    assert not Glob.of("**/a/" * 60 + "b").matches("a/" * 100 + "a")
    assert not Glob.of("{a,b}*" * 6 + "x").matches("ab" * 100)


@pytest.mark.parametrize("glob", ["", "/", "[z-a]", "{a,b}" * 40, "{,/}"])
def test_what_is_no_glob_is_refused(glob: str) -> None:
    with pytest.raises(Refused, match="E_BAD_INPUT"):
        Glob.of(glob)
