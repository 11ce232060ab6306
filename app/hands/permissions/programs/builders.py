"""Compilers, test runners, linters and formatters: what a developer runs all day in the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.hands.permissions.programs.call import Call, Handler, is_question
from app.hands.permissions.shell_values import Arg
from app.hands.permissions.verdict import Finding

_PATH_VALUE = re.compile(r"(?:--?[\w-]+=|-[A-Za-z]|@)?((?:/|~|\.\./?|\w+://).*|\.\.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Builder:
    """Runs code of the workspace, so its words matter only as paths, and where an option names another program."""

    risky: str = r"(?!)"
    outputs: frozenset[str] = frozenset({"-o", "--output", "--out"})
    """Options whose value is written."""
    wipes: frozenset[str] = frozenset()
    """Options whose value is a folder that is emptied."""
    installs: str = r"(?!)"

    def __call__(self, call: Call) -> Iterator[Finding]:
        if is_question(call.args):
            return
        yield call.find("changes", "builds, tests or checks the workspace")
        before = ""
        for arg in call.args:
            option, _, value = arg.text.partition("=")
            if re.fullmatch(self.risky, arg.text, re.DOTALL) or arg.text.startswith("\0"):
                yield from call.opaque("what one of its words names")
            if re.fullmatch(self.installs, arg.text):
                yield call.find("install", "brings in code from elsewhere")
            if before in self.wipes or (option in self.wipes and value):
                yield from call.path(Arg(value or arg.text), "delete tree")
            elif before in self.outputs or (option in self.outputs and value):
                yield from call.path(Arg(value or arg.text), "write", builds=True)
            elif match := _PATH_VALUE.fullmatch(arg.text):
                yield from call.path(Arg(match[1], arg.wild), "read")
            before = arg.text


def _wrapped(call: Call) -> Iterator[Finding]:
    """``coverage run``: the program behind it runs under watch."""
    args = call.args
    if args and args[0].text == "run":
        rest = args[1:]
        while rest and rest[0].text.startswith("-") and rest[0].text != "-m":
            rest = rest[1:]
        yield call.find("changes", "runs a program under watch")
        if rest:
            call.run((Arg("python"), *rest))
        return
    yield from Builder()(call)


def _cmake(call: Call) -> Iterator[Finding]:
    if call.args and call.args[0].text == "-E":
        call.run(
            tuple(_CMAKE_TOOLS.get(arg.text, arg) if at == 0 else arg for at, arg in enumerate(call.args[1:]))
        )
        return
    yield from Builder(
        risky=r"-DCMAKE_\w*(?:LAUNCHER|COMMAND|COMPILER|PROGRAM)=.*", installs=r"--install|install"
    )(call)


_CMAKE_TOOLS = {
    "copy": Arg("cp"),
    "rename": Arg("mv"),
    "remove": Arg("rm"),
    "remove_directory": Arg("rmtree"),
    "make_directory": Arg("mkdir"),
    "touch": Arg("touch"),
    "echo": Arg("echo"),
    "cat": Arg("cat"),
    "env": Arg("env"),
}

_PYTEST = Builder(risky=r"-p.*|--pdbcls.*|-o.*|--override-ini.*", wipes=frozenset({"--basetemp"}))
_COMPILER = Builder(risky=r"-wrapper.*|-fplugin.*|-B.*|-specs.*|--sysroot.*|-fuse-ld.*|@.*|-Xclang.*")
_PLAIN = Builder()

PROGRAMS: dict[str, Handler] = {
    **dict.fromkeys(("pytest", "py.test"), _PYTEST),
    **dict.fromkeys(
        ("ruff", "mypy", "black", "isort", "flake8", "pylint", "pyright", "basedpyright", "ty", "bandit"),
        _PLAIN,
    ),
    **dict.fromkeys(
        ("autopep8", "yapf", "pydocstyle", "vulture", "pyupgrade", "djlint", "sqlfluff", "codespell"), _PLAIN
    ),
    **dict.fromkeys(("tox", "nox"), Builder(risky=r"-x.*|--override.*|--extra-pythons.*")),
    **dict.fromkeys(
        ("pyproject-build", "virtualenv", "hatchling", "sphinx-build", "mkdocs"), Builder(risky=r"gh-deploy")
    ),
    "coverage": _wrapped,
    **dict.fromkeys(
        ("tsc", "eslint", "prettier", "stylelint", "biome", "oxlint", "svelte-check", "vue-tsc", "typedoc"),
        _PLAIN,
    ),
    **dict.fromkeys(
        ("jest", "vitest", "mocha", "ava", "c8", "nyc", "cypress"),
        Builder(risky=r"--(?:runner|require|import)=.*|-r"),
    ),
    **dict.fromkeys(
        ("vite", "webpack", "rollup", "esbuild", "next", "nuxt", "astro", "turbo", "nx", "storybook"), _PLAIN
    ),
    **dict.fromkeys(
        (
            "markdownlint",
            "cspell",
            "lint-staged",
            "shellcheck",
            "shfmt",
            "hadolint",
            "yamllint",
            "actionlint",
        ),
        _PLAIN,
    ),
    **dict.fromkeys(
        ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "ar", "as", "ranlib", "strip"), _COMPILER
    ),
    **dict.fromkeys(
        ("rustc", "rustfmt", "javac", "kotlinc", "scalac", "swiftc", "ghc", "ocamlc", "zig", "nasm"),
        Builder(risky=r"-C.*linker.*|-Clinker.*|-pgm.*|-J.*|--plugin.*|-processor.*"),
    ),
    **dict.fromkeys(
        ("clang-format", "clang-tidy", "gofmt", "goimports", "golangci-lint", "staticcheck", "gotestsum"),
        _PLAIN,
    ),
    **dict.fromkeys(("ninja", "meson", "ctest", "scons"), Builder(installs=r"install")),
    "cmake": _cmake,
    **dict.fromkeys(
        ("rspec", "rubocop", "phpunit", "phpstan", "php-cs-fixer", "rails"),
        Builder(risky=r"runner|console|c|r|credentials.*|secrets.*|dbconsole|db"),
    ),
    **dict.fromkeys(
        ("swift", "xcodebuild", "bazel", "buck", "pants"),
        Builder(risky=r"repl|--run_under.*", installs=r"install"),
    ),
    **dict.fromkeys(
        ("protoc", "buf", "flex", "bison", "pandoc", "dot", "latexmk", "pdflatex", "xelatex", "typst"),
        Builder(
            risky=r"-{1,2}shell-escape|-{1,2}enable-write18|-F|--filter.*|--plugin.*|-e|--lua-filter.*|-L|--pdf-engine.*|push"
        ),
    ),
    **dict.fromkeys(("pre-commit",), Builder(installs=r"install|autoupdate|install-hooks")),
}
