"""The rules of the house that a machine can check, one test each; every message says what to do instead.

A rule that is wrong for your case is changed here, on purpose and with its reason, not worked around.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APP = ROOT / "app"

RANKS = {
    "infra": 0,
    "prompts": 1,
    "engine": 2,
    "hands": 3,
    "providers": 3,
    "models": 4,
    "workspace": 5,
    "group_chat": 6,
    "workbench": 7,
    "commands": 8,
    "web": 8,
}
"""A room imports from rooms of a lower rank only; rooms of one rank do not know each other."""

TOP = {"__main__", "cli", "main"}
"""The modules beside the rooms: they wire everything and may import everything. No room imports them."""

OWNERS_OF_TASKS = {"app/infra/crew.py", "app/cli.py"}
MAKERS_OF_HTML = {
    "app/web/fence.py",  # code, escaped
    "app/web/live_markdown.py",  # one piece of a block, cleaned in its place
    "app/web/markdown.py",  # what the sanitiser let through
    "app/web/rendering.py",  # a template of ours, which escapes
}
LAZY = {"cryptography", "keyring", "litellm", "mcp", "numpy"}
VAGUE = {"common", "helper", "helpers", "manager", "managers", "misc", "service", "services", "util", "utils"}
LONGEST = 400
LONG_ON_PURPOSE: set[str] = set()
WEIGHT = 60

MODULES = sorted(APP.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    """``engine`` for app/engine/session.py, ``main`` for app/main.py, ``app`` for the map itself."""
    inside = path.relative_to(APP).with_suffix("").parts
    return "app" if inside == ("__init__",) else inside[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), filename=name_of(path))


def imports_of(tree: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Line, module and names of every import below ``tree``; no names for ``import module``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "", tuple(alias.name for alias in node.names)


@cache
def modules_imported(path: Path) -> frozenset[str]:
    """Dotted names of everything imported, also of what may be a name inside a module."""
    names = {
        (module, *(f"{module}.{name}" for name in names)) for _, module, names in imports_of(tree_of(path))
    }
    return frozenset(name for several in names for name in several)


def rooms_imported(path: Path) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Line, room and names of every import of another room of app/."""
    for line, module, names in imports_of(tree_of(path)):
        if module == "app":
            yield from ((line, name, ()) for name in names if not name.startswith("__"))
        elif module.startswith("app.") and (room := module.split(".")[1]) != room_of(path):
            yield line, room, names


def calls_of(path: Path) -> Iterator[tuple[ast.Call, str]]:
    """Every call with the dotted name of what is called, as far as it can be read."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def is_literal(call: ast.Call) -> bool:
    return all(isinstance(argument, ast.Constant) for argument in call.args)


def texts() -> Iterator[Path]:
    """Every text file of ours: no case tables (they hold the inputs of others), nothing vendored."""
    for folder in (
        "app",
        "tests",
        "e2e",
        "bench",
        "scripts",
        "requirements",
        "docs",
        "templates",
        "static",
        ".ci",
    ):
        for path in sorted((ROOT / folder).rglob("*")):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not {"__pycache__", "vendor", "cases"} & set(parts):
                yield path
    yield from (path for path in sorted(ROOT.iterdir()) if path.is_file())


def none_of(findings: Iterable[str], advice: str) -> None:
    found = list(findings)
    assert not found, "\n".join([advice, "", *found])


def test_a_room_imports_only_from_rooms_below_it() -> None:
    def wrong() -> Iterator[str]:
        for path in MODULES:
            room = room_of(path)
            if room in TOP or room == "app":
                continue
            for line, other, _ in rooms_imported(path):
                if other in TOP or RANKS.get(other, -1) >= RANKS.get(room, 99):
                    yield f"{name_of(path)}:{line} imports {other}"

    none_of(
        wrong(),
        f"Imports go down only: {' < '.join(RANKS)} (some side by side). Move the name into a lower "
        "room, or take a Protocol and have app/main.py pass the thing in.",
    )


def test_every_room_has_a_rank() -> None:
    none_of(
        {room_of(path) for path in MODULES} - RANKS.keys() - TOP - {"app"},
        "A new room needs a place in RANKS and one line on the map in app/__init__.py.",
    )


def test_every_room_stands_on_the_map() -> None:
    map_of_rooms = ast.get_docstring(tree_of(APP / "__init__.py")) or ""
    none_of(
        (room for room in RANKS if not re.search(rf"\b{room}(/|\.py)\s", map_of_rooms)),
        "The docstring of app/__init__.py is the map: one line for each room.",
    )


def test_a_private_name_stays_in_its_room() -> None:
    def wrong() -> Iterator[str]:
        for path in MODULES:
            for line, room, names in rooms_imported(path):
                private = [name for name in names if name.startswith("_")]
                if private:
                    yield f"{name_of(path)}:{line} takes {', '.join(private)} from {room}"

    none_of(
        wrong(),
        "A name with an underscore may change any day. Make it public with a docstring, or ask for less.",
    )


def test_every_task_has_an_owner() -> None:
    stray = re.compile(r"(^|\.)(create_task|ensure_future|run_until_complete|run_coroutine_threadsafe)$")
    loops = {"asyncio.run", "anyio.run"}
    none_of(
        (
            f"{name_of(path)}:{call.lineno} {name}"
            for path in MODULES
            if name_of(path) not in OWNERS_OF_TASKS
            for call, name in calls_of(path)
            if stray.search(name) or name in loops
        ),
        "A task that nobody awaits loses its errors and outlives a stop. Use anyio.create_task_group(), or "
        "app.infra.crew.Crew where the block yields.",
    )


def test_commands_run_without_a_shell_and_in_bytes() -> None:
    def wrong() -> Iterator[str]:
        for path in MODULES:
            for call, name in calls_of(path):
                flags = {word.arg for word in call.keywords if getattr(word.value, "value", None) is True}
                if flags & {"text", "universal_newlines", "shell"} or name in {
                    "asyncio.create_subprocess_shell",
                    "os.popen",
                    "os.system",
                    "subprocess.getoutput",
                    "subprocess.getstatusoutput",
                }:
                    yield f"{name_of(path)}:{call.lineno} {name}"

    none_of(
        wrong(),
        "Pass a list of arguments, no shell string. Read bytes and decode with errors='replace': text mode fails on "
        "what is not the locale's encoding.",
    )


def test_html_is_made_in_one_place() -> None:
    def wrong() -> Iterator[str]:
        for path in MODULES:
            if name_of(path) not in MAKERS_OF_HTML:
                yield from (
                    f"{name_of(path)}:{call.lineno} {name}"
                    for call, name in calls_of(path)
                    if name.split(".")[-1] == "Markup" and not is_literal(call)
                )
        for path in sorted((ROOT / "templates").rglob("*.html")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(r"\|\s*safe\b|autoescape\s+false", line):
                    yield f"{name_of(path)}:{number} {line.strip()}"

    none_of(
        wrong(),
        "Only app/web/markdown.py turns text into Markup, after the sanitiser. Call it, or let Jinja escape.",
    )


def test_litellm_is_imported_only_on_need() -> None:
    home = APP / "providers" / "litellm_module.py"

    def at_start(tree: ast.Module) -> Iterator[int]:
        """Lines of imports that run when the module is loaded."""
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from (line for line, module, _ in imports_of(node) if module.split(".")[0] == "litellm")
            waiting.extend(ast.iter_child_nodes(node))

    def wrong() -> Iterator[str]:
        for path in MODULES:
            if path == home:
                yield from (f"{name_of(path)}:{line} at module level" for line in at_start(tree_of(path)))
            else:
                for line, module, _ in imports_of(tree_of(path)):
                    if module.split(".")[0] == "litellm":
                        yield f"{name_of(path)}:{line}"

    none_of(
        wrong(),
        "litellm takes five seconds and 200 MB: only app/providers/litellm_module.py imports it, inside a "
        "function, when a source needs it.",
    )


@pytest.mark.parametrize("module", ["app.main", "app.cli"])
def test_a_start_loads_nothing_heavy(module: str) -> None:
    program = f"import sys, {module}; print(*sorted({LAZY!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split() == [], (
        "Import these inside the function that needs them: a start is quick."
    )


def test_names_say_what_a_module_is() -> None:
    none_of(
        (name_of(path) for path in MODULES if VAGUE & set(path.stem.lower().split("_"))),
        "Name the module after the thing or the question it answers, in the words of the glossary in app/__init__.py.",
    )


def test_every_module_says_what_it_is() -> None:
    none_of(
        (name_of(path) for path in MODULES if not (ast.get_docstring(tree_of(path)) or "").strip()),
        "The first line of the module's docstring says what is in it, for somebody who has never been here.",
    )


def decides(path: Path) -> bool:
    """Whether a module does more than hold values: a function in it branches, loops or catches."""
    branches = ast.If | ast.For | ast.AsyncFor | ast.While | ast.Match | ast.Try
    functions = [n for n in ast.walk(tree_of(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return any(isinstance(node, branches) for function in functions for node in ast.walk(function))


def mirror_of(path: Path) -> Path:
    return ROOT / "tests" / path.relative_to(APP).with_name(f"test_{path.name}")


def has_tests(path: Path) -> bool:
    """By its own file, or by that of what it is a part of: ``test_demo.py`` serves ``demo_scene.py``."""
    words = path.stem.split("_")
    stems = ("_".join(words[:count]) for count in range(1, len(words) + 1))
    return any(mirror_of(path.with_stem(stem)).exists() for stem in stems)


@cache
def users_of(path: Path) -> frozenset[Path]:
    """The modules that import this one."""
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return frozenset(other for other in MODULES if dotted in modules_imported(other))


def is_tested(path: Path) -> bool:
    """A part that serves one module only is tested through it, at the higher seam."""
    users = users_of(path)
    return has_tests(path) or (len(users) == 1 and all(is_tested(user) for user in users))


def test_a_module_of_weight_has_its_tests_beside_it() -> None:
    def missing() -> Iterator[str]:
        for path in MODULES:
            weighs = len(path.read_bytes().splitlines()) > WEIGHT and decides(path)
            migration = "migrations" in path.parts  # tested by running them all
            if weighs and not migration and not is_tested(path):
                yield f"{name_of(path)} has no {name_of(mirror_of(path))}"

    none_of(
        missing(),
        f"A module of more than {WEIGHT} lines that decides anything has a test file that mirrors its path, unless it "
        "serves one module only and is tested through that one.",
    )


def test_files_stay_short() -> None:
    def long() -> Iterator[str]:
        for path in texts():
            lines = len(path.read_bytes().splitlines())
            code = path.suffix in {".py", ".html", ".css", ".js", ".sh"} and not name_of(path).startswith(
                ("tests", "e2e")
            )
            if code and lines > LONGEST and name_of(path) not in LONG_ON_PURPOSE:
                yield f"{name_of(path)} has {lines} lines"

    none_of(
        long(),
        f"More than {LONGEST} lines is more than one thing. Split along the steps; the file's name is the key.",
    )


def test_nothing_speaks_of_one_machine() -> None:
    slash = "/"
    place = re.compile(rf"(?<![\w./-]){slash}(work|farm){slash}|{slash}tmp{slash}plan\b")

    def wrong() -> Iterator[str]:
        for path in texts():
            if path.suffix in {".png", ".woff2", ".ico", ".lock"}:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if place.search(line):
                    yield f"{name_of(path)}:{number} {line.strip()[:100]}"

    none_of(
        wrong(),
        "The project runs on every machine: take a path from the settings, the data folder or tmp_path.",
    )
