"""One call of a program, as a family of programs sees it, and the table row that says what its words mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.hands.permissions.facts import Facts
from app.hands.permissions.reach import UNKNOWN, Use, is_in_roots, reach, resolve
from app.hands.permissions.shell_values import Arg, Args, State, Stdin
from app.hands.permissions.verdict import Category, Finding

Role = Literal["text", "look", "read", "tree", "write", "delete", "delete tree", "move", "code", "unclear"]
"""What a word of a call is: text, a path and what is done there, or a program of the workspace that is run."""


@dataclass(slots=True)
class Call:
    name: str
    args: Args
    source: str
    facts: Facts
    state: State
    stdin: Stdin
    run: Callable[[Args], None]
    """Judges another command that this one runs, with its words; what is unknown in them stays unknown."""
    run_script: Callable[[Arg], None]
    """Judges a text that a shell runs now."""
    run_later: Callable[[Arg], None]
    """Judges a text that a shell runs at some other time."""
    run_code: Callable[[str], None]
    """Takes note that code runs of which nothing is known; what it comes from."""

    def find(self, category: Category, what: str, *, never: bool = False) -> Finding:
        return Finding(category, self.source, what, never)

    def path(self, arg: Arg, use: Use, *, builds: bool = False) -> Iterator[Finding]:
        """``builds``: what is written there is made from the workspace, and as good to run as that."""
        if use == "write" and not builds and (known := resolve(arg.text, self.facts, self.state.folders)):
            self.state.written |= known
        yield from reach(arg.text, use, self.source, self.facts, self.state.folders)

    def code(self, arg: Arg) -> Iterator[Finding]:
        """A program or script that is run from a file."""
        where = resolve(arg.text, self.facts, self.state.folders)
        if _ELSEWHERE.match(arg.text):
            yield from self.opaque(f"{arg.text}, which lies on another machine")
            yield self.find("exfiltration", "fetches a program and runs it")
        elif where is None or arg.wild or arg.several or arg.text == "-":
            yield from self.opaque("a program that is only known when it runs")
        elif where & self.state.written:
            yield from self.opaque(f"{arg.text}, which the same command writes")
        elif not all(is_in_roots(path, self.facts) for path in where):
            yield from self.opaque(f"{arg.text}, a program outside the workspace")
        else:
            yield from self.path(arg, "read")
            yield self.find("changes", f"runs {arg.text}")

    def opaque(self, what: str) -> Iterator[Finding]:
        """The call runs code that cannot be looked into."""
        self.run_code(self.source)
        yield self.find("opaque", f"runs {what}")

    def use(self, arg: Arg, role: Role) -> Iterator[Finding]:
        match role:
            case "text":
                return
            case "code":
                yield from self.code(arg)
            case "unclear":
                yield self.find(
                    "opaque",
                    "has a word whose value is only known when it runs, and what it does there is not known",
                )
            case "move":
                yield from self.path(arg, "tree")
                for finding in self.path(arg, "delete tree"):
                    # Inside the workspace nothing is lost by a move.
                    if finding.category != "deletes":
                        yield finding
            case _:
                yield from self.path(arg, role)


_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
Handler = Callable[[Call], Iterator[Finding]]
Risk = tuple[Category, str]
"""Category and sentence of what an option does."""


def listed(names: str) -> frozenset[str]:
    """A set of names that are written with blanks between them."""
    return frozenset(names.split())


def each(role: Role, names: str) -> dict[str, Role]:
    """The same role for several options, written with blanks between them."""
    return dict.fromkeys(listed(names), role)


@dataclass(frozen=True, slots=True)
class Program:
    """What the words of a program mean. Calling it gives the findings of one call."""

    rest: Role = "read"
    """Of the operands."""
    first: tuple[Role, ...] = ()
    """Of the first operands, where those are something else."""
    last: Role | None = None
    """Of the last of several operands."""
    values: Mapping[str, Role] = field(default_factory=dict)
    """Options that take a value."""
    risks: Mapping[str, Risk] = field(default_factory=dict)
    """Options that do something of their own; a long one also where it is cut short."""
    only: frozenset[str] | None = None
    """All options that are understood beside those with a value; None: the others do no harm."""
    long_dash: bool = False
    """Long options are written with one dash."""
    changes: str | None = None
    """What it does to the workspace, for the dialog: ``builds``."""
    trees: frozenset[str] = frozenset()
    """Options that make it read whole folders."""

    def __call__(self, call: Call) -> Iterator[Finding]:
        if is_question(call.args):
            return
        if self.changes:
            yield call.find("changes", self.changes)
        operands: list[Arg] = []
        used: set[str] = set()
        for option, value in read_options(call.args, self):
            if option is None:
                operands.append(value or Arg(""))
            else:
                used.add(option)
                yield from self._option(call, option, value)
        yield from self._operands(call, operands, used)

    def _option(self, call: Call, option: str, value: Arg | None) -> Iterator[Finding]:
        risk = self._risk_of(option)
        if risk is not None:
            yield call.find(*risk)
        if option in self.values:
            yield from call.use(value or Arg(""), self.values[option])
        elif value is not None:
            yield from call.path(value, "read")
        if risk is None and option not in self.values and self.only is not None and option not in self.only:
            yield call.find("opaque", f"has the option {option}, and what that does is not known")

    def _risk_of(self, option: str) -> Risk | None:
        if option in self.risks:
            return self.risks[option]
        if self.long_dash or not option.startswith("--") or len(option) < 4:
            return None
        return next((risk for name, risk in self.risks.items() if name.startswith(option)), None)

    def _operands(self, call: Call, operands: list[Arg], used: set[str]) -> Iterator[Finding]:
        rest: Role = "tree" if self.rest == "read" and used & self.trees else self.rest
        first = () if self.first and used & _GIVES_TEXT.get(call.name, frozenset()) else self.first
        if rest == "tree" and len(operands) <= len(first) and "-r" in self.trees:
            operands.append(Arg("."))
        for number, operand in enumerate(operands):
            role = first[number] if number < len(first) else rest
            if self.last is not None and number == len(operands) - 1 and number > 0:
                role = self.last
            if role == "text" and rest != "text" and operand.text.startswith(UNKNOWN):
                role = "unclear"  # it may turn out to be an option
            yield from call.use(operand, role)


_GIVES_TEXT = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "rg", "ag"), frozenset({"-e", "--regexp", "-f", "--file", "--files"})
    ),
    "sed": frozenset({"-e", "--expression", "-f", "--file"}),
    "jq": frozenset({"-f", "--from-file"}),
}
"""Options after which the first operand is a file as well."""


def is_question(args: Args) -> bool:
    """``--help`` or ``--version`` and nothing else."""
    return len(args) == 1 and args[0].text in ("--help", "--version", "-help", "-version")


def read_options(args: Iterable[Arg], program: Program) -> Iterator[tuple[str | None, Arg | None]]:
    """Each option with its value, where it takes one; operands come with the option None."""
    waiting = iter(args)
    for arg in waiting:
        text = arg.text
        if text == "--":
            yield from ((None, rest) for rest in waiting)
        elif not text.startswith("-") or text == "-":
            yield None, arg
        elif text.startswith("--") or program.long_dash:
            name, sign, value = text.partition("=")
            if sign:
                yield name, Arg(value, arg.wild)
            else:
                yield name, next(waiting, None) if name in program.values else None
        else:
            yield from _cluster(arg, waiting, program)


def _cluster(arg: Arg, waiting: Iterator[Arg], program: Program) -> Iterator[tuple[str | None, Arg | None]]:
    """``-xvf file``: letters, the last of which may take a value."""
    text = arg.text
    if text in program.values:
        yield text, next(waiting, None)
        return
    for at in range(1, len(text)):
        letter = f"-{text[at]}"
        rest = text[at + 1 :]
        if letter in program.values:
            yield letter, Arg(rest, arg.wild) if rest else next(waiting, None)
            return
        yield letter, None
    if program.only is None and any(sign in text for sign in "/~."):
        yield text, Arg(text[2:], arg.wild)
