"""Programs and words of the shell that run another command: it is judged as if it stood alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.hands.permissions.programs.call import Call, Handler, is_question, listed
from app.hands.permissions.programs.environment import may_be_set, steers_the_shell
from app.hands.permissions.shell_values import Arg, Args
from app.hands.permissions.verdict import Category, Finding

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_STAYS: tuple[Category, str] = ("privilege", "keeps running after the turn")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Runs the command behind its own options and ``operands`` words."""

    options: frozenset[str] = frozenset()
    """Without a value, as whole words."""
    values: frozenset[str] = frozenset()
    """With a value in the next word."""
    operands: int = 0
    attached: str | None = None
    """Options that are written with their value in one word."""
    risk: tuple[Category, str] | None = None

    def __call__(self, call: Call) -> Iterator[Finding]:
        if is_question(call.args):
            return
        if self.risk:
            yield call.find(*self.risk)
        args = call.args
        while args and args[0].text.startswith("-") and args[0].text != "--":
            text = args[0].text
            if text in self.values:
                args = args[2:]
            elif text in self.options or (self.attached and re.fullmatch(self.attached, text)):
                args = args[1:]
            else:
                yield call.find("opaque", f"has the option {text}, and what that does is not known")
                args = args[1:]
        if args and args[0].text == "--":
            args = args[1:]
        if inner := args[self.operands :]:
            call.run(inner)


def _env(call: Call) -> Iterator[Finding]:
    args = call.args
    if is_question(args):
        return
    while args and (args[0].text.startswith("-") or _ASSIGNMENT.fullmatch(args[0].text)):
        text = args[0].text
        match = _ASSIGNMENT.fullmatch(text)
        if match:
            yield from assigned(call, match[1], Arg(match[2]))
        elif text in ("-u", "--unset") and len(args) > 1 and not steers_the_shell(args[1].text):
            args = args[1:]
        elif text not in ("-i", "-", "-0", "--ignore-environment", "--"):
            yield call.find("opaque", f"has the option {text}, and what that does is not known")
        args = args[1:]
    if args:
        call.run(args)
    else:
        yield call.find("sensitive", "prints the environment, where keys and passwords are kept")


def assigned(call: Call, name: str, value: Arg) -> Iterator[Finding]:
    """A variable that a program finds in its environment."""
    if not may_be_set(name, value, call.facts):
        yield call.find("privilege", f"sets {name}, which may change what programs run")


def _command(call: Call) -> Iterator[Finding]:
    """``command -v`` only looks."""
    args = call.args
    if args and args[0].text in ("-v", "-V"):
        return
    if args and args[0].text == "-p":
        args = args[1:]
    if args:
        call.run(args)
    yield from ()


def _eval(call: Call) -> Iterator[Finding]:
    if any(not arg.is_known or arg.wild for arg in call.args):
        yield from call.opaque("a text that is only known when it runs")
    call.run_script(Arg(" ".join(arg.text for arg in call.args)))


def _trap(call: Call) -> Iterator[Finding]:
    args = call.args[1:] if call.args[:1] == (Arg("--"),) else call.args
    if not args or args[0].text in ("-", "-l", "-p", ""):
        return
    if not args[0].is_known:
        yield from call.opaque("a text that is only known when it runs")
    call.run_later(args[0])


def _watch(call: Call) -> Iterator[Finding]:
    args = call.args
    while args and args[0].text.startswith("-"):
        args = args[2:] if args[0].text in ("-n", "--interval") else args[1:]
    call.run_script(Arg(" ".join(arg.text for arg in args)))
    yield from ()


def _busybox(call: Call) -> Iterator[Finding]:
    if call.args and not is_question(call.args):
        call.run(call.args)
    yield from ()


def run_in_project(call: Call) -> Iterator[Finding]:
    """``uv run``, ``poetry run`` and their like, with the command behind ``run`` or ``exec``."""
    yield call.find("changes", "runs a program of the project")
    args: Args = call.args[1:]
    while args and args[0].text.startswith("-"):
        if args[0].text not in (
            "--",
            "-q",
            "--quiet",
            "--frozen",
            "--locked",
            "--no-sync",
            "--offline",
            "--all-extras",
        ):
            yield call.find("install", "may fetch what it runs")
        args = args[1:]
    if args:
        call.run(args)


PROGRAMS: dict[str, Handler] = {
    "env": _env,
    "command": _command,
    "builtin": _command,
    "exec": Wrapper(options=listed("-c -l -cl"), values=listed("-a")),
    "nice": Wrapper(values=listed("-n"), attached=r"-n?-?\d+|--adjustment=.*"),
    "ionice": Wrapper(values=listed("-c -n"), options=listed("-t"), attached=r"-[cn]\d"),
    "timeout": Wrapper(
        values=listed("-s -k"),
        options=listed("-v --foreground --preserve-status --verbose"),
        operands=1,
        attached=r"--(?:signal|kill-after)=.*|-[sk]\w+",
    ),
    "gtimeout": Wrapper(
        values=listed("-s -k"), options=listed("-v --foreground --preserve-status"), operands=1
    ),
    "time": Wrapper(options=listed("-p -v"), values=listed("-f")),
    "stdbuf": Wrapper(values=listed("-o -e -i"), attached=r"-[oei]\w+|--(?:output|error|input)=.*"),
    "chrt": Wrapper(options=listed("-b -i -o"), operands=1),
    "taskset": Wrapper(options=listed("-c"), operands=1),
    "caffeinate": Wrapper(options=listed("-i -s -d -m")),
    "unbuffer": Wrapper(options=listed("-p")),
    "xvfb-run": Wrapper(options=listed("-a")),
    "strace": Wrapper(options=listed("-f -c -q"), values=listed("-e -s")),
    "nohup": Wrapper(risk=_STAYS),
    "setsid": Wrapper(options=listed("-f -w -c"), risk=_STAYS),
    "daemonize": Wrapper(risk=_STAYS),
    "eval": _eval,
    "trap": _trap,
    "watch": _watch,
    "busybox": _busybox,
    "toybox": _busybox,
}
