"""A closed name is recognised in every disguise that some file system takes off, and look-alikes are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.permissions.names import folded, matches, shown, shown_in_lines


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git . .",
            ".g\u200cit",
            "\ufeff.git",
            ".git\u2064",
            ".ｇｉｔ",
        ),
        *("．git", ".git::$INDEX_ALLOCATION", "git~1", "GIT~1", "GIT~2", ".gi\U000e0101t"),
    ],
)
def test_disguises_of_one_name_match(name: str) -> None:
    assert matches(".git", name)


@pytest.mark.parametrize(
    "name", ["git", ".gitignore", ".git-notes", "x.git", ".git:", "git~", "git~x", "gitx~1", "..git", ".gi t"]
)
def test_other_names_do_not(name: str) -> None:
    assert not matches(".git", name)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (".bashrc", "BASHRC~1"),
        (".gitmodules", "GITMOD~1"),
        ("sitecustomize.py", "SITECU~1.PY"),
        (".mcp.json", "MCP~1.JSO"),
    ],
)
def test_short_names_match(pattern: str, name: str) -> None:
    assert matches(pattern, name)


@pytest.mark.parametrize(
    ("pattern", "name", "does"),
    [
        ("credentials*", "credentials.toml", True),
        ("credentials*", "my-credentials", False),
        (".*_history", ".zsh_history", True),
    ],
)
def test_a_star_stands_for_any_text(pattern: str, name: str, does: bool) -> None:
    assert matches(pattern, name) is does


@given(st.text(min_size=1))
def test_folding_again_changes_nothing(name: str) -> None:
    assert folded(folded(name)) == folded(name)


@pytest.mark.parametrize(
    ("name", "seen"),
    [("док.md", "док.md"), ("a\nb", "a\\nb"), ("x\u202egpj", "x\\u202egpj"), ("half\udc80", "half\\udc80")],
)
def test_what_does_not_show_is_written_as_an_escape(name: str, seen: str) -> None:
    assert shown(name) == seen


def test_lines_and_tabs_stay_where_a_text_has_several() -> None:
    assert shown_in_lines("a\tb\n\u202etxt\x1b[2K\r\n\u00e9") == "a\tb\n\\u202etxt\\x1b[2K\\r\n\u00e9"
