"""Which files a pipe of names stands for: ``find … | xargs …`` works on what find can come upon."""

from __future__ import annotations

from app.hands.permissions.shell_tree import Body, Command, Text
from app.hands.permissions.shell_values import Arg, Args, State, expand

_KEEP_NAMES = frozenset({"sort", "uniq", "head", "tail", "grep", "shuf", "tac"})
_BELOW = Arg("./**/*", wild=True)


def names_piped(steps: Body, state: State) -> Args | None:
    """Words that stand for the names which the last of ``steps`` prints; None where it may print anything."""
    first, *others = steps
    if not all(_program(step, state) and _program(step, state)[0] in _KEEP_NAMES for step in others):
        return None
    if any(
        arg.startswith(("-r", "-R", "-f", "--file")) or "/" in arg
        for step in others
        for arg in _program(step, state)[1:]
    ):
        return None
    return _names(_program(first, state))


def _program(step: object, state: State) -> list[str]:
    """The words of a command that is nothing but known words."""
    match step:
        case Command(words, (), _) if words and all(
            isinstance(part, Text) for word in words for part in word.parts
        ):
            rows = expand(words, state)
            return [arg.text for arg in rows[0]] if len(rows) == 1 else []
        case _:
            return []


def _names(words: list[str]) -> Args | None:
    match words:
        case ["find", *rest]:
            return _found(rest)
        case ["git", "ls-files" | "diff", *rest] if words[1] == "ls-files" or "--name-only" in rest:
            return (_BELOW,)
        case ["rg", *rest] if {"-l", "--files", "--files-with-matches"} & set(rest):
            return (_BELOW,)
        case ["grep", *rest] if any(
            word.startswith("-") and "l" in word and "r" in word.lower() for word in rest
        ):
            return (_BELOW,) if not any(word.startswith(("/", "~", "..")) for word in rest) else None
        case ["ls", *rest] if not any(word.startswith(("/", "~", "..")) for word in rest):
            return (_BELOW,)
        case _:
            return None


def _found(rest: list[str]) -> Args | None:
    if "-printf" in rest or "-exec" in rest or "-execdir" in rest:
        return None
    roots = []
    for word in rest:
        if word.startswith(("-", "(", "!")):
            break
        roots.append(word)
    names = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word == "-name"]
    last = (
        names[0] if len(names) == 1 and "-o" not in rest and "!" not in rest and "-not" not in rest else "*"
    )
    return tuple(Arg(f"{root.rstrip('/') or '/'}/**/{last}", wild=True) for root in roots or ["."])
