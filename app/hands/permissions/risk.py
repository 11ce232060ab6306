"""Is this command dangerous? From its text and a few facts to a verdict; a pure function.

Only what is understood to the last word is safe. The script is walked as bash would run it: folders and variables
are followed, every command on every way is judged by the table of its program, and what a command runs in turn is
judged as if it stood alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from app.hands.permissions.facts import Facts
from app.hands.permissions.record import Record
from app.hands.permissions.risk_commands import Commands, folders_after
from app.hands.permissions.risk_names import names_piped
from app.hands.permissions.risk_words import Words
from app.hands.permissions.shell_grammar import parse
from app.hands.permissions.shell_survey import is_cd, moves, names_set
from app.hands.permissions.shell_text import LONGEST, ONLY_BASH
from app.hands.permissions.shell_tree import (
    AndOr,
    Block,
    Body,
    Choice,
    Command,
    Declaration,
    Expression,
    Function,
    Loop,
    Pipeline,
    Redirected,
    Statement,
    Unread,
)
from app.hands.permissions.shell_values import NO_INPUT, NUMBER, Arg, State, Stdin, expand
from app.hands.permissions.verdict import Finding, Judged, Verdict


def judge(command: str, facts: Facts) -> Verdict:
    """What is thought of a command that bash is to run in ``facts.start``."""
    walk = _Walk(facts)
    if not facts.has_bash and ONLY_BASH.search(command):
        walk.record.add(Finding("opaque", command, "needs bash, which is not on this machine", unread=True))
    walk.script(command, State(facts.home, frozenset({facts.start}), facts.temporary))
    return Verdict(tuple(walk.record.finish()), len(command))


class _Walk:
    """The statements of one script, and of all that it runs in turn."""

    def __init__(self, facts: Facts) -> None:
        self.record = Record()
        self._facts = facts
        self._words = Words(facts, self.record, self._body)
        self._commands = Commands(facts, self.record, self.script)

    def script(self, text: str, state: State) -> None:
        if len(text) > LONGEST:
            self.record.add(
                Finding(
                    "opaque", "", f"has more than {LONGEST:,} characters; it belongs into a file", never=True
                )
            )
        elif not self.record.is_too_deep(text):
            self.record.depth += 1
            self._body(parse(text), state)
            self.record.depth -= 1

    def _body(self, body: Iterable[Statement], state: State) -> None:
        for statement in body:
            self._statement(statement, state)

    def _statement(self, statement: Statement, state: State) -> None:
        match statement:
            case Command():
                self._command(statement, state)
            case Declaration():
                self._words.declare(statement, state)
            case Pipeline(steps):
                self._pipeline(steps, state)
            case AndOr():
                self._and_or(statement, state)
            case Block(body, subshell):
                self._body(body, state.copy() if subshell else state)
            case Redirected():
                self._redirected(statement, state)
            case Choice():
                self._choice(statement, state)
            case Loop():
                self._loop(statement, state)
            case Function():
                self._function(statement, state)
            case Expression():
                self._words.work_out(statement, state)
            case Unread(source, why, inside, lost):
                self.record.add(Finding("opaque", source, why, never=lost, unread=True))
                self._body(inside, state)
                state.folders = None
            case _:
                assert_never(statement)

    def _command(self, command: Command, state: State) -> None:
        """A simple command, with all that was found in its words, assignments and redirections."""
        stdin, around, at = state.stdin, len(self.record.loose), len(self.record.judged)
        self._words.look_into(command.words, state)
        self._words.redirect(command.redirections, state)
        self._words.assign_before(command, state)
        rows = expand(command.words, state) if command.words else []
        for assignment in command.assignments if command.words else ():
            state.forget(assignment.name)
        for row in rows:
            self.record.add(*self._commands.run(row, command.source, state))
        found = tuple(dict.fromkeys(self.record.loose[around:]))
        del self.record.loose[around:]
        known = len(rows) == 1 and all(arg.is_known and not arg.several for arg in rows[0])
        words = tuple(arg.text for arg in rows[0]) if known and rows[0] else None
        plain = words is not None and self._is_plain(command, state) and all(arg.plain for arg in rows[0])
        self.record.judged.insert(at, Judged(words, plain, found))
        state.stdin = stdin

    def _is_plain(self, command: Command, state: State) -> bool:
        """Whether its words are all there is to it."""
        alone = not command.redirections and not command.assignments and state.stdin is NO_INPUT
        at_start = state.folders == frozenset({self._facts.start})
        return alone and at_start and self.record.depth == 1 and not self.record.defining

    def _pipeline(self, steps: Body, state: State) -> None:
        stdin = state.stdin
        for number, step in enumerate(steps):
            if number:
                state.stdin = Stdin("pipe", names=names_piped(steps[:number], state))
            inside = state.copy()
            self._statement(step, inside)
            state.written |= inside.written
        state.stdin = stdin

    def _and_or(self, statement: AndOr, state: State) -> None:
        if statement.operator == "&&":
            ways = [state.copy()]
            for step in _chain(statement):
                self._step(step, state)
                ways.append(state.copy())
            for way in ways:
                state.join(way)
        else:
            self._statement(statement.left, state)
            after = state.copy()
            self._statement(statement.right, after)
            state.join(after)

    def _step(self, step: Statement, state: State) -> None:
        """One of several commands with ``&&`` between them: behind ``cd x`` the shell is in x and nowhere else."""
        before = state.copy()
        self._statement(step, state)
        if is_cd(step) and isinstance(step, Command):
            entered = [folders_after(row, before, self._facts) for row in expand(step.words[1:], before)]
            known = [folders for folders in entered if folders is not None]
            state.folders = frozenset().union(*known) if len(known) == len(entered) else None

    def _redirected(self, statement: Redirected, state: State) -> None:
        stdin = state.stdin
        self._words.redirect(statement.redirections, state)
        self._statement(statement.body, state)
        state.stdin = stdin

    def _choice(self, statement: Choice, state: State) -> None:
        self._words.look_into(statement.subjects, state)
        self._body(statement.always, state)
        ways = [state.copy() for _ in statement.arms]
        for arm, way in zip(statement.arms, ways, strict=True):
            self._body(arm, way)
        for way in ways:
            state.join(way)

    def _loop(self, statement: Loop, state: State) -> None:
        values: frozenset[Arg] | None = None
        if statement.values is not None:
            self._words.look_into(statement.values, state)
            rows = expand(statement.values, state)
            args = {Arg(arg.text, arg.wild, arg.several) for row in rows for arg in row}
            values = frozenset(args) if all(arg.is_known and not arg.several for arg in args) else None
        within = state.copy()
        for name, numeric in names_set(statement.body).items():
            before = state.find(name)
            within.assign(name, before | {Arg(NUMBER)} if numeric and before is not None else None)
        if moves(statement.body):
            within.folders = None
        if statement.variable:
            self._words.name(statement.variable)
            within.assign(statement.variable, values)
        self._body(statement.body, within)
        state.join(within)

    def _function(self, statement: Function, state: State) -> None:
        """The body is judged once, with nothing known about what was set before it is called."""
        self.record.define(statement.name, statement.source)
        self.record.defining.append(statement.name)
        body = (statement.body,)
        inside = State(
            state.home, None if moves(body) else state.folders, state.temporary, written=set(state.written)
        )
        self._body(body, inside)
        self.record.defining.pop()
        state.volatile |= set(names_set(body))
        state.written |= inside.written
        if moves(body):
            state.folders = None


def _chain(statement: Statement) -> Iterator[Statement]:
    """The commands of ``a && b && c``, which bash reads as ``(a && b) && c``."""
    if isinstance(statement, AndOr) and statement.operator == "&&":
        yield from _chain(statement.left)
        yield statement.right
    else:
        yield statement
