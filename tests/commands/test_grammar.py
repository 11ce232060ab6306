"""What may be typed, at its borders."""

from __future__ import annotations

import argparse
from typing import get_args

import pytest

from app.commands import grammar
from app.commands.errors import UsageError
from app.providers.sources import SourceKind
from app.workspace.usage import Grouping


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (grammar.port, "0", 0),
        (grammar.port, "65535", 65535),
        (grammar.tokens, "1", 1),
        (grammar.price, "0", 0),
        (grammar.price, "2.5", 2.5),
        (grammar.dollars, "0.01", 0.01),
    ],
)
def test_a_figure_in_its_range_is_taken(read: type, text: str, value: float) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (grammar.port, "-1"),
        (grammar.port, "65536"),
        (grammar.port, "80.0"),
        (grammar.tokens, "0"),
        (grammar.tokens, "1e3"),
        (grammar.price, "-0.1"),
        (grammar.price, "inf"),
        (grammar.dollars, "0"),
        (grammar.dollars, "nan"),
        (grammar.dollars, "much"),
    ],
)
def test_a_figure_outside_its_range_is_refused(read: type, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f'not "{text}"'):
        read(text)


@pytest.mark.parametrize("text", ["", "  "])
def test_a_folder_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="empty"):
        grammar.folder(text)


def test_the_longest_name_is_the_command() -> None:
    assert grammar.route(["provider", "add", "add"]) == ("provider add", ["add"])
    assert grammar.route(["run", "provider"]) == ("run", ["provider"])


def test_a_group_alone_is_no_command() -> None:
    with pytest.raises(UsageError, match="needs one of: list, get, set"):
        grammar.route(["settings"])


def test_a_prompt_may_look_like_a_flag_behind_two_dashes() -> None:
    assert grammar.parser_of("run").parse_args(["--", "--help me"]).prompt == "--help me"


def test_the_words_of_the_grammar_are_those_of_the_rooms_below() -> None:
    """They stand there twice, so that nothing of the app is loaded to read what was typed."""
    assert get_args(SourceKind) == grammar.KINDS
    assert get_args(Grouping) == grammar.GROUPINGS
