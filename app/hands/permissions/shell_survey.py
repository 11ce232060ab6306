"""Questions about a whole script: what it sets, and whether it moves to another folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.hands.permissions.shell_tree import (
    AndOr,
    Arithmetic,
    Block,
    Choice,
    Command,
    Declaration,
    Function,
    Loop,
    Pipeline,
    Redirected,
    Statement,
    Text,
    Unread,
    Word,
)

SETS_VARIABLES = frozenset(
    {"read", "unset", "mapfile", "readarray", "getopts", "local", "export", "declare", "readonly"}
)
"""Words of the shell whose operands are names of variables."""
_MOVES = frozenset({"cd", "pushd", "popd", "eval", "source", ".", "builtin", "command"})


def names_set(body: Iterable[Statement]) -> dict[str, bool]:
    """The variables that are set anywhere in it, and whether each is only ever set to a number."""
    numeric: dict[str, bool] = {}
    for name, value in _settings(body):
        numeric[name] = numeric.get(name, True) and value is not None and _is_numeric(value)
    return numeric


def _settings(body: Iterable[Statement]) -> Iterator[tuple[str, Word | None]]:
    for statement in _all_in(body):
        match statement:
            case Command(words, assignments):
                yield from ((assignment.name, assignment.value) for assignment in assignments)
                if words and words[0].source in SETS_VARIABLES:
                    yield from ((word.source, None) for word in words[1:])
            case Declaration(names=names, assignments=assignments):
                yield from ((name, None) for name in names)
                yield from ((assignment.name, assignment.value) for assignment in assignments)
            case Loop(variable=str(name)):
                yield name, None
            case _:
                pass


def _is_numeric(value: Word) -> bool:
    return all(
        isinstance(part, Arithmetic) or (isinstance(part, Text) and part.text.isdecimal())
        for part in value.parts
    )


def moves(body: Iterable[Statement]) -> bool:
    """Whether it may end in another folder than it began in."""
    return any(
        isinstance(statement, Unread)
        or (isinstance(statement, Command) and statement.words and _plain(statement.words[0]) in _MOVES)
        for statement in _all_in(body, same_shell=True)
    )


def is_cd(statement: Statement) -> bool:
    """Whether it is ``cd`` with one word and nothing else."""
    match statement:
        case Command((Word((Text("cd"),)), Word()), (), ()):
            return True
        case _:
            return False


def _plain(word: Word) -> str:
    return "".join(part.text for part in word.parts if isinstance(part, Text))


def _all_in(body: Iterable[Statement], *, same_shell: bool = False) -> Iterator[Statement]:
    """``same_shell``: leave out what runs in a shell of its own, such as ``( … )``."""
    for statement in body:
        yield statement
        for inner in _parts(statement, same_shell=same_shell):
            yield from _all_in(inner, same_shell=same_shell)


def _parts(statement: Statement, *, same_shell: bool) -> Iterator[Iterable[Statement]]:
    match statement:
        case Pipeline(steps) if not same_shell:
            yield steps
        case AndOr(left, _, right):
            yield left, right
        case Block(inner, subshell) if not (subshell and same_shell):
            yield inner
        case Loop(body=inner) | Unread(inside=inner):
            yield inner
        case Redirected(body=one) | Function(body=one):
            yield (one,)
        case Choice(always, arms):
            yield always
            yield from arms
        case _:
            pass
