"""What the words of a command may be when it runs: expansions worked out as far as they are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

from app.hands.permissions.reach import UNKNOWN
from app.hands.permissions.shell_tree import (
    Arithmetic,
    Command,
    Part,
    ProcessSubstitution,
    Substitution,
    Text,
    Unclear,
    Variable,
    Word,
)

MOST_VALUES = 16
MOST_FOLDERS = 64
_MOST_WORDS = 64

_BRACES = re.compile(r"(.*?)\{([^{}]*)\}(.*)", re.DOTALL)
_NESTED = re.compile(r"\{[^{}]*\{|\}[^{}]*\}")
_RANGE = re.compile(r"(-?[1-9]\d{0,3}|0)\.\.(-?[1-9]\d{0,3}|0)|([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z])")
_KEPT = str.maketrans("{},*?[", "\x01\x02\x03\x04\x05\x06")
_GIVEN_BACK = str.maketrans("\x01\x02\x03\x04\x05\x06", "{},*?[")
NUMBER = "*"
"""Stands for a number in a word: as a wildcard it may be any name, but never more than one."""


@dataclass(frozen=True, slots=True)
class Arg:
    """One word of a command. In ``text``, ``\\0`` is a stretch that nobody knows."""

    text: str
    wild: bool = False
    """A wildcard in it is not quoted: it stands for the names of files."""
    several: bool = False
    """It may be any number of words."""
    plain: bool = True
    """It is what was written, nothing expanded."""

    @property
    def is_known(self) -> bool:
        return UNKNOWN not in self.text


Args = tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Stdin:
    """What a command reads as its input; ``text`` where that is written in the command itself."""

    kind: Literal["none", "pipe", "text", "file"] = "none"
    text: str | None = None
    file: Arg | None = None
    names: Args | None = None
    """Where a pipe carries names of files: words that stand for them."""


NO_INPUT = Stdin()


@dataclass(slots=True)
class State:
    """What is known where the shell stands."""

    home: str
    folders: frozenset[str] | None
    """Where it may be; None for anywhere."""
    temporary: str | None = None
    variables: dict[str, frozenset[Arg] | None] = field(default_factory=dict)
    """What they may hold; None for anything. One that is not here was never set by the script."""
    volatile: set[str] = field(default_factory=set)
    """Variables that a function sets, and so at any time."""
    written: set[str] = field(default_factory=set)
    """Files that the script wrote so far."""
    been: set[str] = field(default_factory=set)
    """Folders that it may have been in before."""
    stdin: Stdin = NO_INPUT

    def copy(self) -> State:
        return replace(
            self,
            variables=dict(self.variables),
            volatile=set(self.volatile),
            written=set(self.written),
            been=set(self.been),
        )

    def join(self, other: State) -> None:
        """Take in what may have happened on another way to this point."""
        for name in self.variables.keys() | other.variables.keys():
            mine, theirs = self.variables.get(name), other.variables.get(name)
            self.assign(name, None if mine is None or theirs is None else mine | theirs)
        self.volatile |= other.volatile
        self.written |= other.written
        self.been |= other.been
        self.join_folders(other)

    def join_folders(self, other: State) -> None:
        known = self.folders is not None and other.folders is not None
        self.folders = (self.folders or frozenset()) | (other.folders or frozenset()) if known else None

    def move(self, folders: frozenset[str]) -> None:
        self.folders = folders if len(folders) <= MOST_FOLDERS else None

    def assign(self, name: str, values: frozenset[Arg] | None) -> None:
        """``values`` None: nobody knows."""
        self.variables[name] = values if values and len(values) <= MOST_VALUES else None

    def forget(self, name: str) -> None:
        self.variables[name] = None

    def forget_all(self) -> None:
        self.variables = dict.fromkeys(self.variables)

    def find(self, name: str) -> frozenset[Arg] | None:
        """What a variable may hold; None where that is not known."""
        if name in self.volatile:
            return None
        if name in self.variables:
            return self.variables[name]
        if name == "HOME":
            return frozenset({Arg(self.home)})
        if name == "PWD" and self.folders is not None:
            return frozenset(map(Arg, self.folders))
        if name == "TMPDIR" and self.temporary:
            return frozenset({Arg(self.temporary)})
        return None

    def may_hold_text(self, name: str) -> bool:
        """Whether the script may have put something into a variable that is not a number."""
        return name in self.volatile or name in self.variables


def expand(words: tuple[Word, ...], state: State) -> list[Args]:
    """Every row of words that a command may have; at least one."""
    rows = [list(_alternatives(word, state)) for word in words]
    count = 1
    for row in rows:
        count *= len(row)
    if count > MOST_VALUES:
        rows = [row if len(row) == 1 else [(Arg(UNKNOWN, several=True, plain=False),)] for row in rows]
    return [tuple(arg for args in chosen for arg in args) for chosen in product(*rows)]


def values_of(word: Word, state: State) -> frozenset[Arg] | None:
    """What a word may be as the value of a variable, which is never split; None where that is not known."""
    found: set[Arg] = set()
    for args in _alternatives(word, state):
        if len(args) > 1 or any(not arg.is_known or arg.several for arg in args):
            return None
        found.update(args or {Arg("")})
    return frozenset(found)


def _alternatives(word: Word, state: State) -> Iterator[Args]:
    """The rows of words that one word may become."""
    choices = [list(_part(part, state)) for part in word.parts]
    several = any(_is_several(part, choice) for part, choice in zip(word.parts, choices, strict=True))
    quoted = any(getattr(part, "quoted", False) for part in word.parts)
    plain = all(isinstance(part, Text) for part in word.parts)
    if not plain and any(
        isinstance(part, Text) and not part.quoted and "{" in part.text for part in word.parts
    ):
        yield (Arg(UNKNOWN, several=True, plain=False),)  # $x{1,2} is $x1 $x2
        return
    for pieces in product(*choices):
        text = "".join(pieces)
        if not text and not quoted and word.parts:
            yield ()
        else:
            yield tuple(_arg(each, several=several, plain=plain and each == text) for each in _braced(text))


def _part(part: Part, state: State) -> Iterator[str]:
    """What a part may be; quoted braces and wildcards are written as control characters meanwhile."""
    match part:
        case Text(text, quoted):
            yield text.translate(_KEPT) if quoted else text
        case Variable("?" | "#" | "$"):
            yield NUMBER
        case Variable("!"):
            yield from ("", NUMBER)  # there may be no program in the background
        case Variable(name, quoted):
            values = state.find(name)
            if values is None or (not quoted and any(set(value.text) & set(" \t\n") for value in values)):
                yield UNKNOWN
            else:
                yield from sorted(
                    value.text if value.wild else value.text.translate(_KEPT) for value in values
                )
        case Arithmetic():
            yield NUMBER
        case Substitution((Command((Word((Text("pwd"),)),), (), ()),)) if state.folders is not None:
            yield from sorted(state.folders)
        case ProcessSubstitution():
            yield "/dev/fd/63"
        case Substitution() | Unclear():
            yield UNKNOWN


def _is_several(part: Part, choice: list[str]) -> bool:
    unquoted = not isinstance(part, Text | ProcessSubstitution) and not part.quoted
    return choice == [UNKNOWN] and (unquoted or (isinstance(part, Variable) and part.name == "@"))


def _arg(text: str, *, several: bool, plain: bool) -> Arg:
    wild = any(sign in text for sign in "*?[")
    return Arg(text.translate(_GIVEN_BACK), wild, several, plain and not wild)


def _braced(text: str) -> list[str]:
    """Brace expansion: ``a{b,c}`` is two words. Braces in braces are not understood."""
    if "${" in text or _NESTED.search(text):
        return [UNKNOWN]
    waiting, done = [text], []
    while waiting:
        each = waiting.pop(0)
        match = _BRACES.fullmatch(each)
        if match is None:
            done.append(each)
        elif (items := _items(match[2])) is None:
            waiting.insert(0, f"{match[1]}\x01{match[2]}\x02{match[3]}")
        else:
            waiting[:0] = [f"{match[1]}{item}{match[3]}" for item in items]
        if len(waiting) + len(done) > _MOST_WORDS:
            return [UNKNOWN]
    return done


def _items(inner: str) -> list[str] | None:
    if "," in inner:
        return inner.split(",")
    match = _RANGE.fullmatch(inner)
    if match is None:
        return [UNKNOWN] if ".." in inner else None
    if match[1] is not None:
        first, last = int(match[1]), int(match[2])
        step = 1 if last >= first else -1
        numbers = range(first, last + step, step)
        return [str(number) for number in numbers] if len(numbers) <= _MOST_WORDS else [NUMBER]
    first, last = (ord(match[3]), ord(match[4])) if match[3] else (ord(match[5]), ord(match[6]))
    step = 1 if last >= first else -1
    return [chr(code) for code in range(first, last + step, step)]
