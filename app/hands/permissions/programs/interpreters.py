"""Programs that run code: from a file of the workspace it is everyday work, from anywhere else it is opaque."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from app.hands.permissions.programs.call import Call, Handler, is_question, listed
from app.hands.permissions.programs.packages import named
from app.hands.permissions.shell_text import ONLY_BASH
from app.hands.permissions.shell_values import Arg, Args
from app.hands.permissions.verdict import Finding

_SET = re.compile(r"[-+](?:[euxvfnC]+|[euxvfnC]*o)|pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """``options``: a pattern of those that run nothing; ``values``: those with a harmless value in the next word."""

    options: str = r"(?!)"
    values: frozenset[str] = frozenset()
    code: str = r"-[a-zA-Z]*[ce].*|--eval.*|--exec.*|-p|--print.*"
    """Options with the code itself in them."""
    commands: frozenset[str] = frozenset()
    """A first word that stands before the file, such as ``run``."""

    def __call__(self, call: Call) -> Iterator[Finding]:
        if is_question(call.args) or (len(call.args) == 1 and call.args[0].text in ("-V", "-v", "version")):
            return
        args = call.args
        if args and args[0].text in self.commands:
            args = args[1:]
        while args and args[0].text.startswith("-") and args[0].text != "-":
            text = args[0].text
            if text in self.values:
                args = args[2:]
            elif text == "-m" and call.name.startswith(("python", "pypy")):
                yield from _module(call, args[1:])
                return
            elif re.fullmatch(self.options, text):
                args = args[1:]
            else:
                with_code = re.fullmatch(self.code, text) is not None
                yield from call.opaque(
                    "code that stands in the command itself" if with_code else f"code by the option {text}"
                )
                return
        yield from _file_or_input(call, args)


def _file_or_input(call: Call, args: Args) -> Iterator[Finding]:
    if args and args[0].text != "-":
        yield from call.code(args[0])
        for arg in args[1:]:
            yield from call.path(arg, "read") if _looks_like_path(arg) else ()
    elif call.stdin.kind == "file" and call.stdin.file is not None:
        yield from call.code(call.stdin.file)
    else:
        yield from call.opaque("code that it is given while it runs")


def _looks_like_path(arg: Arg) -> bool:
    return arg.is_known and arg.text.startswith(("/", "~", "../", "."))


def _module(call: Call, args: Args) -> Iterator[Finding]:
    """``python -m name``: a tool that is known by that name, a part of Python itself, or a module of the workspace."""
    if not args or not args[0].is_known:
        yield from call.opaque("a module that is only known when it runs")
        return
    name, rest = args[0].text, args[1:]
    if name in _MODULES:
        call.run((Arg(_MODULES[name]), *rest))
    elif name == "http.server":
        yield call.find("exfiltration", "offers files to other machines")
    elif name.partition(".")[0] in sys.stdlib_module_names and name not in _HARMLESS_MODULES:
        yield from call.opaque(f"{name}, a part of Python that may do anything")
    else:
        yield call.find("changes", f"runs the module {name}")
        yield from (
            found for arg in rest[:1] for found in named(call, arg.text) if found.category != "changes"
        )
        for arg in rest:
            yield from call.path(arg, "read") if _looks_like_path(arg) else ()


_MODULES = {
    **{
        name: name
        for name in ("pytest", "mypy", "ruff", "black", "isort", "flake8", "pylint", "coverage", "tox")
    },
    **{
        name: name
        for name in ("nox", "pip", "uv", "twine", "poetry", "pipx", "hatch", "pdm", "virtualenv", "pyright")
    },
    "venv": "virtualenv",
    "build": "pyproject-build",
    "ensurepip": "pip",
    "conda": "conda",
    "awscli": "aws",
    "httpx": "curl",
    "httpie": "http",
    "yt_dlp": "yt-dlp",
    "sphinx": "sphinx-build",
    "pre_commit": "pre-commit",
}
_HARMLESS_MODULES = listed(
    "json.tool tokenize ast dis this site sysconfig platform compileall py_compile unittest doctest calendar tabnanny "
    "test"
)

_PYTHON = Interpreter(
    options=r"-[BEIOPRSsuvdbqx]+|-OO|-bb|-W\w+.*|-X\w+.*",
    values=frozenset(("-W", "-X")),
    code=r"-[a-zA-Z]*c.*",
)
_SHELL = r"-[euxvfn]+|-euo|-[eux]*o|--norc|--noprofile|--posix|pipefail"


POSIX = ("sh", "dash", "ash", "rbash", "mksh")
FOREIGN = ("zsh", "ksh", "fish", "csh", "tcsh")


def _shell(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    args = call.args
    while args and args[0].text[:1] in ("-", "+") and args[0].text not in ("-", "--"):
        text = args[0].text
        args = args[1:]
        if re.fullmatch(r"-[euxvfnl]*c[euxvfnl]*", text):
            yield from _shell_text(call, args)
            return
        if re.fullmatch(r"-[eux]*o", text) and args:
            args = args[1:]
        elif text == "-s":
            yield from call.opaque("what it is given while it runs")
        elif not re.fullmatch(_SHELL, text):
            yield from call.opaque(f"a shell with the option {text}")
    if args and args[0].text == "--":
        args = args[1:]
    if not args and call.stdin.kind == "text" and call.stdin.text is not None:
        yield from _other_shell(call, call.stdin.text)
        call.run_script(Arg(call.stdin.text))
    else:
        yield from _file_or_input(call, args)


def _shell_text(call: Call, args: Args) -> Iterator[Finding]:
    """A text for a shell. Other shells read some texts in other ways; those are not understood."""
    while args and args[0].text.startswith("-"):
        args = args[1:]
    if not args:
        return
    if not args[0].is_known or args[0].several:
        yield from call.opaque("a text that is only known when it runs")
    yield from _other_shell(call, args[0].text)
    call.run_script(args[0])


def _other_shell(call: Call, text: str) -> Iterator[Finding]:
    if call.name in FOREIGN or (call.name in POSIX and ONLY_BASH.search(text)):
        yield from call.opaque(f"a text that {call.name} may read in another way than bash")


def _source(call: Call) -> Iterator[Finding]:
    if call.args:
        yield from call.code(call.args[0])
    call.state.forget_all()
    call.state.folders = None if call.args and not _is_activate(call.args[0]) else call.state.folders


def _is_activate(arg: Arg) -> bool:
    """The script that switches to an environment of Python changes no folder."""
    return re.fullmatch(r"(?:.*/)?bin/activate(?:\.fish|\.csh)?", arg.text) is not None


def _set(call: Call) -> Iterator[Finding]:
    if not call.args:
        yield call.find("sensitive", "prints all variables, where keys and passwords may be kept")
    for arg in call.args:
        if not _SET.fullmatch(arg.text):
            yield call.find("opaque", f"sets the option {arg.text} of the shell")


def _shopt(call: Call) -> Iterator[Finding]:
    if not all(
        re.fullmatch(r"-[suq]+|nullglob|failglob|globstar|nocaseglob|inherit_errexit", arg.text)
        for arg in call.args
    ):
        yield call.find("opaque", "sets options of the shell")


def _node(call: Call) -> Iterator[Finding]:
    """``node --test``, ``node --check``; everything else as any interpreter."""
    if call.args and call.args[0].text in ("--test", "--check", "-c"):
        yield call.find("changes", "runs tests of the workspace")
        for arg in call.args[1:]:
            yield from call.code(arg) if not arg.text.startswith("-") else ()
        return
    yield from _NODE(call)


_NODE = Interpreter(
    options=r"--trace-\w+|--enable-source-maps|--no-warnings|--experimental-[\w-]+|--max-old-space-size=\d+|--trace-warnings",
    code=r"-e.*|-p.*|-pe|--eval.*|--print.*|-i",
)
_JAVA = Interpreter(
    options=r"-X(?:mx|ms|ss)\w+|-ea|-esa|-D[\w.]+=[\w./-]*|-jar|--enable-preview", values=frozenset()
)


def _java(call: Call) -> Iterator[Finding]:
    """A class by its name is found on the class path, which lies in the workspace unless it is said."""
    args = [arg for arg in call.args if not re.fullmatch(_JAVA.options, arg.text) or arg.text == "-jar"]
    if args and args[0].text in ("-cp", "-classpath", "--class-path") and len(args) > 2:
        for folder in args[1].text.split(":"):
            yield from call.path(Arg(folder), "read")
        yield call.find("changes", "runs a program of the workspace")
    elif args and args[0].text == "-jar" and len(args) > 1:
        yield from call.code(args[1])
    elif args and re.fullmatch(r"[\w.$]+", args[0].text) and not args[0].text.endswith(".java"):
        yield call.find("changes", "runs a program of the workspace")
    else:
        yield from _JAVA(call)


PROGRAMS: dict[str, Handler] = {
    **dict.fromkeys(
        ("python", "python2", "python3", "pypy", "pypy3", *(f"python3.{n}" for n in range(6, 20))), _PYTHON
    ),
    **dict.fromkeys(("bash", *POSIX, *FOREIGN), _shell),
    "node": _node,
    "nodejs": _node,
    "ts-node": _NODE,
    "tsx": _NODE,
    "deno": Interpreter(options=r"-A|--allow-\w+", commands=frozenset({"run", "test"}), code=r"-.*"),
    "ruby": Interpreter(options=r"-w|-W\d?", code=r"-.*"),
    "perl": Interpreter(options=r"-w|-W|-t|-T|-c", code=r"-.*"),
    "php": Interpreter(options=r"-q|-n|-l", code=r"-.*"),
    "lua": Interpreter(code=r"-.*"),
    "Rscript": Interpreter(options=r"--vanilla|--no-save", code=r"-.*"),
    "julia": Interpreter(options=r"--project(?:=[\w.]+)?|-O\d", code=r"-.*"),
    "java": _java,
    "source": _source,
    ".": _source,
    "set": _set,
    "shopt": _shopt,
}
