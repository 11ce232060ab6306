"""A shell script as values: what bash will do, with nothing guessed. ``shell_grammar.py`` makes them.

What could not be understood is in the tree as well (``Unread``, ``Unclear``), so that nobody can overlook it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Text:
    """Characters that stand for themselves, quotes and escapes taken off."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """``$name`` or ``${name}``; ``name`` may also be a digit or a sign such as ``@``."""

    name: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((…))`` of numbers and the named variables; its value is a number."""

    names: tuple[str, ...] = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(…)`` or backquotes."""

    body: Body
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSubstitution:
    """``<(…)`` or ``>(…)``: the commands run, and the word is the name of a pipe."""

    body: Body


@dataclass(frozen=True, slots=True)
class Unclear:
    """An expansion whose value only bash knows. ``harmless`` where working it out can at least do nothing."""

    source: str
    harmless: bool
    inside: Body = ()
    quoted: bool = False


Part = Text | Variable | Arithmetic | Substitution | ProcessSubstitution | Unclear


@dataclass(frozen=True, slots=True)
class Word:
    parts: tuple[Part, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name=value``; ``value`` is None for what is more than one text: an array, ``+=``, a subscript."""

    name: str
    value: Word | None
    inside: tuple[Word, ...] = ()
    """The words of a value that is None."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """``operator`` as it is written; of ``<<`` and ``<<<`` the ``target`` is the text itself."""

    operator: str
    target: Word
    source: str


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...]
    redirections: tuple[Redirection, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """``export``, ``local``, ``declare``, ``readonly``, ``typeset``."""

    keyword: str
    options: tuple[Word, ...]
    names: tuple[str, ...]
    assignments: tuple[Assignment, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Pipeline:
    steps: tuple[Statement, ...]
    source: str


@dataclass(frozen=True, slots=True)
class AndOr:
    left: Statement
    operator: Literal["&&", "||"]
    right: Statement


@dataclass(frozen=True, slots=True)
class Block:
    """``{ … }``, and ``( … )`` where it is a ``subshell``: what that changes is gone afterwards."""

    body: Body
    subshell: bool


@dataclass(frozen=True, slots=True)
class Redirected:
    """Something other than a simple command, with redirections."""

    body: Statement
    redirections: tuple[Redirection, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Choice:
    """``if`` and ``case``: ``always`` runs, then at most one of the arms."""

    always: Body
    arms: tuple[Body, ...]
    subjects: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """``for``, ``while``, ``until``: the body runs any number of times."""

    variable: str | None
    values: tuple[Word, ...] | None
    body: Body


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: Statement
    source: str


@dataclass(frozen=True, slots=True)
class Expression:
    """``[[ … ]]``, ``[ … ]`` and ``(( … ))``: looks at words and numbers; ``numbers`` are worked out."""

    words: tuple[Word, ...]
    numbers: tuple[Word, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be understood, with the statements that were found in it."""

    source: str
    why: str
    inside: Body = ()
    lost: bool = False
    """True where there may be statements in it that were not looked for."""


Statement = (
    Command
    | Declaration
    | Pipeline
    | AndOr
    | Block
    | Redirected
    | Choice
    | Loop
    | Function
    | Expression
    | Unread
)
Body = tuple[Statement, ...]
