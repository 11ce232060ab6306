"""What the words of a script do before any program runs: substitutions, numbers, variables, redirections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from app.hands.permissions.facts import Facts
from app.hands.permissions.programs.environment import may_be_set, steers_the_shell
from app.hands.permissions.reach import UNKNOWN, Use, reach, resolve
from app.hands.permissions.record import Record
from app.hands.permissions.shell_tree import (
    Arithmetic,
    Assignment,
    Body,
    Command,
    Declaration,
    Expression,
    Part,
    ProcessSubstitution,
    Redirection,
    Substitution,
    Text,
    Unclear,
    Variable,
    Word,
)
from app.hands.permissions.shell_values import NO_INPUT, Arg, State, Stdin, expand, values_of
from app.hands.permissions.verdict import Category, Finding

_FILE_NUMBER = re.compile(r"\d+|-")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL")
_DECLARES = re.compile(r"[-rxagpfAFl]*")


class Words:
    """``run_body`` judges the commands in a substitution."""

    def __init__(self, facts: Facts, record: Record, run_body: Callable[[Body, State], None]) -> None:
        self._facts = facts
        self._record = record
        self._run_body = run_body

    def look_into(self, words: Iterable[Word], state: State) -> None:
        """Judges the substitutions in words, and whether working them out can do harm."""
        for word in words:
            for part in word.parts:
                match part:
                    case Substitution(body) | ProcessSubstitution(body):
                        inside = state.copy()
                        inside.stdin = NO_INPUT
                        self._run_body(body, inside)
                        state.written |= inside.written
                    case Unclear(source, harmless, inside_body):
                        self._run_body(inside_body, state.copy())
                        if not harmless:
                            self._find("opaque", source, "is worked out in a way that is not understood")
                    case Variable(name) if _SECRET.search(name) and name not in state.variables:
                        self._find("sensitive", word.source, f"uses {name}, which may hold a secret")
                    case Arithmetic() if not _is_number(part, state):
                        self._find("opaque", word.source, "works out a number that may run commands")
                    case _:
                        pass

    def work_out(self, statement: Expression, state: State) -> None:
        self.look_into((*statement.words, *statement.numbers), state)
        if not all(_is_number(part, state) for word in statement.numbers for part in word.parts):
            self._find("opaque", statement.source, "works out a number that may run commands")

    def name(self, name: str) -> None:
        """A variable is set."""
        if steers_the_shell(name):
            self._find("privilege", name, "is set, which may change what programs run")

    def assign_before(self, command: Command, state: State) -> None:
        """``NAME=value`` before a program is for that program; without one it is for the shell."""
        for assignment in command.assignments:
            if command.words:
                self._pass_on(assignment, command, state)
            else:
                self._assign(assignment, state)

    def declare(self, statement: Declaration, state: State) -> None:
        self.look_into(statement.options, state)
        parts = [part for word in statement.options for part in word.parts]
        options = "".join(part.text if isinstance(part, Text) else "?" for part in parts)
        if not _DECLARES.fullmatch(options):
            self._find("opaque", statement.source, "declares variables in a way that is not understood")
        if not statement.names and not statement.assignments:
            self._find(
                "sensitive", statement.source, "prints variables, where keys and passwords may be kept"
            )
        for assignment in statement.assignments:
            self._assign(assignment, state)
        if statement.keyword == "export" or "x" in options:
            for name in (*statement.names, *(assignment.name for assignment in statement.assignments)):
                self._export(name, statement.source, state)

    def redirect(self, redirections: Iterable[Redirection], state: State) -> None:
        for redirection in redirections:
            self.look_into((redirection.target,), state)
            rows = expand((redirection.target,), state)
            targets = [row[0] if len(row) == 1 else Arg(UNKNOWN) for row in rows]
            if redirection.operator in ("<<", "<<<"):
                one = targets[0] if len(targets) == 1 and targets[0].is_known else None
                state.stdin = Stdin("text", "" if rows == [()] else one.text if one else None)
                continue
            for target in targets:
                self._redirect(redirection, target, state)

    def _redirect(self, redirection: Redirection, target: Arg, state: State) -> None:
        if redirection.operator in (">&", "<&") and _FILE_NUMBER.fullmatch(target.text):
            return
        reads = redirection.operator in ("<", "<&")
        use: Use = "read" if reads else "write"
        self._record.add(*reach(target.text, use, redirection.source, self._facts, state.folders))
        if reads:
            state.stdin = Stdin("file", file=target)
        else:
            state.written |= resolve(target.text, self._facts, state.folders) or frozenset()

    def _assign(self, assignment: Assignment, state: State) -> None:
        self.name(assignment.name)
        self.look_into((assignment.value,) if assignment.value else assignment.inside, state)
        state.assign(assignment.name, values_of(assignment.value, state) if assignment.value else None)

    def _pass_on(self, assignment: Assignment, command: Command, state: State) -> None:
        self.look_into((assignment.value,) if assignment.value else assignment.inside, state)
        values = values_of(assignment.value, state) if assignment.value else None
        splits_lines = assignment.name == "IFS" and command.words[0].source == "read"
        if not splits_lines and not may_be_set(assignment.name, _single(values), self._facts):
            self._find(
                "privilege", command.source, f"sets {assignment.name}, which may change what programs run"
            )

    def _export(self, name: str, source: str, state: State) -> None:
        if not may_be_set(name, _single(state.find(name)), self._facts):
            self._find("privilege", source, f"sets {name} for all programs, which may change what they run")

    def _find(self, category: Category, part: str, what: str) -> None:
        self._record.add(Finding(category, part, what))


def _single(values: frozenset[Arg] | None) -> Arg | None:
    return next(iter(values)) if values is not None and len(values) == 1 else None


def _is_number(part: Part, state: State) -> bool:
    """Whether only numbers are worked out: bash would run what stands in the text of a variable."""
    match part:
        case Text(text):
            return re.fullmatch(r"-?\d*", text) is not None or (
                text.isidentifier() and _holds_number(text, state)
            )
        case Arithmetic(names):
            return all(_holds_number(name, state) for name in names)
        case Variable(name):
            return name in ("?", "#", "$", "!") or (name.isidentifier() and _holds_number(name, state))
        case _:
            return False


def _holds_number(name: str, state: State) -> bool:
    values = state.find(name)
    if values is None:
        return not state.may_hold_text(name)
    return all(re.fullmatch(r"[-\d*]*", value.text) for value in values)
