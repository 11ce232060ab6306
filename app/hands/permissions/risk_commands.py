"""Which program a row of words runs, and what its table says about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from app.hands.permissions.facts import Facts
from app.hands.permissions.programs.call import Call
from app.hands.permissions.programs.environment import steers_the_shell
from app.hands.permissions.programs.table import find_program
from app.hands.permissions.reach import is_in_roots, resolve
from app.hands.permissions.record import Record
from app.hands.permissions.shell_survey import SETS_VARIABLES
from app.hands.permissions.shell_values import Arg, Args, State
from app.hands.permissions.verdict import Finding, Judged

_PROGRAM_FOLDERS = re.compile(r"(?:/usr(?:/local)?|/opt/homebrew|/opt/local)?/s?bin")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Commands:
    """``run_script`` judges a text that a command has a shell run."""

    def __init__(self, facts: Facts, record: Record, run_script: Callable[[str, State], None]) -> None:
        self._facts = facts
        self._record = record
        self._run_script = run_script

    def run(self, row: Args, source: str, state: State) -> Iterator[Finding]:
        """The findings about one row of words, program first."""
        if not row:
            return
        first, args = row[0], row[1:]
        if not first.is_known or first.wild or first.several or not first.text:
            self._record.unknown_code.append(source)
            yield Finding("opaque", source, "runs a program whose name is only known when it runs")
        elif not first.text.isascii() or not first.text.isprintable():
            yield Finding(
                "opaque", source, "has letters in the name of its program that look like others", unread=True
            )
        else:
            folder, slash, name = first.text.rpartition("/")
            call = self._call(name, args, source, state)
            if slash and not _PROGRAM_FOLDERS.fullmatch(folder):
                yield from self._by_path(first, call)
            else:
                yield from self._by_name(call)

    def _by_name(self, call: Call) -> Iterator[Finding]:
        self._record.note_call(call.name)
        handler = find_program(call.name)
        if call.name in ("cd", "pushd", "popd"):
            yield from _enter(call)
        elif call.name in SETS_VARIABLES:
            yield from _set_variables(call)
        elif handler is not None:
            yield from handler(call)
        elif call.name not in self._record.functions:
            yield from call.opaque(f"{call.name}, a program that is not known")

    def _by_path(self, first: Arg, call: Call) -> Iterator[Finding]:
        """A file of the workspace, or a known program of an environment in it such as ``.venv/bin/pytest``."""
        handler = find_program(call.name)
        if handler is None or not self._is_in_environment(first, call.state):
            yield from call.code(first)
        if handler is not None:
            yield from handler(call)

    def _is_in_environment(self, first: Arg, state: State) -> bool:
        where = resolve(first.text, self._facts, state.folders)
        folder = first.text.rpartition("/")[0]
        if not where or not re.fullmatch(r"(?:.*/)?\.?bin", folder):
            return False
        return all(is_in_roots(path, self._facts) for path in where) and not where & state.written

    def _call(self, name: str, args: Args, source: str, state: State) -> Call:
        return Call(
            name=name,
            args=args,
            source=source,
            facts=self._facts,
            state=state,
            stdin=state.stdin,
            run=lambda row: self._inner(row, source, state),
            run_script=lambda text: self._inner_script(text, state),
            run_later=lambda text: self._later_script(text, state),
            run_code=self._record.unknown_code.append,
        )

    def _inner(self, row: Args, source: str, state: State) -> None:
        """A command that another one runs."""
        if self._record.is_too_deep(source):
            return
        self._record.depth += 1
        found = tuple(dict.fromkeys(self.run(row, source, state)))
        self._record.depth -= 1
        known = all(arg.is_known and not arg.several for arg in row)
        words = tuple(arg.text for arg in row) if known else None
        self._record.judged.append(Judged(words, plain=False, findings=found))

    def _inner_script(self, text: Arg, state: State) -> None:
        if text.is_known:
            inside = state.copy()
            self._run_script(text.text, inside)
            state.join(inside)

    def _later_script(self, text: Arg, state: State) -> None:
        """By then a variable may hold anything."""
        if text.is_known:
            inside = state.copy()
            inside.forget_all()
            inside.volatile |= inside.variables.keys()
            self._run_script(text.text, inside)
            state.written |= inside.written


def folders_after(targets: Args, state: State, facts: Facts) -> frozenset[str] | None:
    """Where ``cd`` leads; None where that is not known."""
    if not targets:
        return frozenset({facts.home})
    target = targets[0]
    if len(targets) > 1 or target.wild or target.several:
        return None
    return resolve(target.text, facts, state.folders)


def _enter(call: Call) -> Iterator[Finding]:
    state = call.state
    targets = tuple(arg for arg in call.args if not re.fullmatch(r"-[LPe@]+|--", arg.text))
    if call.name == "popd" or (targets and targets[0].text == "-"):
        state.folders = state.folders | state.been if state.folders is not None else None
        return
    entered = folders_after(targets, state, call.facts)
    if entered is None or state.folders is None:
        yield call.find("opaque", "goes to a folder that is only known when it runs")
        state.folders = None
        return
    yield from call.path(targets[0] if targets else Arg("~"), "look")
    state.been |= state.folders
    # It may fail, and then the shell stays where it is.
    state.move(state.folders | entered)


_WITH_VALUES = {"read": "-p -d -n -N -t -u -i", "mapfile": "-d -n -O -s -u", "readarray": "-d -n -O -s -u"}
_ALONE = re.compile(r"-[rest]+|-[fnva]+|--")


def _set_variables(call: Call) -> Iterator[Finding]:
    """``read name``, ``unset name`` and their like: afterwards nobody knows what a variable holds."""
    waiting = iter(call.args)
    for arg in waiting:
        if arg.text in _WITH_VALUES.get(call.name, "").split():
            next(waiting, None)
        elif _ALONE.fullmatch(arg.text):
            continue
        elif not _VARIABLE.fullmatch(arg.text) and call.name != "getopts":
            yield call.find("opaque", "names a variable in a way that is not understood")
        elif steers_the_shell(arg.text):
            yield call.find("privilege", f"sets {arg.text}, which may change what programs run")
        call.state.forget(arg.text)
