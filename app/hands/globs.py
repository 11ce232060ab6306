"""Names by glob, in time that grows with the path and the glob and never with their combinations. Pure.

``*`` and ``?`` stay within one name, ``**`` crosses folders, ``[a-z]`` and ``[!a-z]`` choose a sign, ``{a,b}``
chooses a piece, ``\\`` takes the next sign as it is. A glob without ``/`` is for the name alone, in any folder.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from app.hands.errors import Refused

_SIGN = re.compile(r"\*+|\[!?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_MOST_CHOICES = 100

_Name = re.Pattern[str] | None
"""What one name must be; None for any number of names."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A glob, with its choices written out."""

    choices: tuple[tuple[_Name, ...], ...]

    @classmethod
    def of(cls, glob: str) -> Glob:
        """Raises ``Refused`` for one that cannot be understood, or chooses among too much."""
        text = glob.removeprefix("./").lstrip("/")
        signs = _SIGN.findall(f"{text}**" if text.endswith("/") else text)
        written_out = list(islice(_choices(signs), _MOST_CHOICES + 1))
        if len(written_out) > _MOST_CHOICES or any(set(choice) <= {"/"} for choice in written_out):
            raise _not_understood(glob)
        try:
            return cls(tuple(tuple(_names(choice)) for choice in written_out))
        except re.error as error:
            raise _not_understood(glob) from error

    def matches(self, path: str) -> bool:
        """Whether it is for ``path``, written from the folder of the search with ``/`` between names."""
        names = path.split("/")
        return any(_is_for(choice, names) for choice in self.choices)


def _is_for(wanted: Sequence[_Name], names: Sequence[str]) -> bool:
    """Both from left to right; where it fails, the last ``**`` takes one name more. An earlier one need not."""
    at = here = 0
    again: tuple[int, int] | None = None
    while here < len(names):
        if at < len(wanted) and wanted[at] is None:
            again = (at, here)
            at += 1
        elif at < len(wanted) and _fits(wanted[at], names[here]):
            at, here = at + 1, here + 1
        elif again:
            again = (again[0], again[1] + 1)
            at, here = again[0] + 1, again[1]
        else:
            return False
    return all(name is None for name in wanted[at:])


def _fits(wanted: _Name, name: str) -> bool:
    return wanted is None or wanted.fullmatch(name) is not None


def _choices(signs: list[str]) -> Iterator[list[str]]:
    """The signs with every choice of braces written out; a brace without its partner is a sign like others."""
    braces = _first_braces(signs)
    if braces is None:
        yield signs
        return
    start, *borders = braces
    for left, right in pairwise((start, *borders)):
        for piece in _choices(signs[left + 1 : right]):
            for rest in _choices(signs[borders[-1] + 1 :]):
                yield [*signs[:start], *piece, *rest]


def _first_braces(signs: list[str]) -> list[int] | None:
    """Where the first braces that have a partner open, where commas part them, where they close."""
    open_: list[list[int]] = []
    closed: list[list[int]] = []
    for at, sign in enumerate(signs):
        if sign == "{":
            open_.append([at])
        elif sign == "," and open_:
            open_[-1].append(at)
        elif sign == "}" and open_:
            closed.append([*open_.pop(), at])
    return min(closed, default=None)


def _names(signs: list[str]) -> Iterator[_Name]:
    names = [name for name in _split(signs, "/") if name]
    if len(names) == 1 and names[0] != ["**"]:
        yield None
    for name in names:
        yield None if name == ["**"] else _name(name)
    if names[-1] == ["**"]:
        yield _name(["*"])


def _name(signs: list[str]) -> re.Pattern[str]:
    """Between two stars the first fit is as good as any later one, so that nothing is ever tried twice."""
    stars = ["*" if sign.startswith("*") else sign for sign in signs]
    first, *later = ["".join(map(_sign, piece)) for piece in _split(stars, "*")]
    if not later:
        return _compiled(first)
    return _compiled("".join((first, *(f"(?>.*?{piece})" for piece in later[:-1]), ".*", later[-1])))


def _sign(sign: str) -> str:
    if sign == "?":
        return "."
    if sign.startswith("[") and len(sign) > 2:
        inside = sign[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(sign[1:] if len(sign) == 2 and sign[0] == "\\" else sign)


def _split(signs: list[str], at: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for sign in signs:
        if sign == at:
            parts.append([])
        else:
            parts[-1].append(sign)
    return parts


def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # [a&&b] may mean something else one day
        return re.compile(pattern, re.DOTALL)


def _not_understood(glob: str) -> Refused:
    return Refused("E_BAD_INPUT", f"The glob {glob} cannot be understood. Write it like *.py or src/**/*.ts.")
