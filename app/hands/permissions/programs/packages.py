"""Package managers and project tools: what runs what is there, what brings in code, what sends it out."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from app.hands.permissions.programs.call import Call, Handler, is_question, listed
from app.hands.permissions.programs.wrappers import run_in_project
from app.hands.permissions.shell_values import Arg, Args
from app.hands.permissions.verdict import Category, Finding

_INSTALLS = "brings in code from elsewhere"
_PUBLISHES = "makes something public or changes it on another machine"
_RUNS = "runs the tools of the project"
_TELLS = re.compile(r"publish|release|deploy|upload|push|ship")
_INSTALL_WORD = re.compile(r"install|setup|bootstrap|deps|upgrade")


_LIKE_A_SCRIPT = re.compile(
    r"(?:test|build|lint|format|check|type|types|dev|start|compile|e2e|unit|ci|cov|coverage|storybook|fix|clean|docs|preview)"
    r"(?:[:-][\w:.-]*)?"
)
_HARMLESS_OPTION = re.compile(
    r"--?[\w.-]+=[^\0]*|-[qsvVBeUonX]|--(?:quiet|silent|verbose|offline|frozen|locked|json|no-[\w-]+|color|ansi|non-interactive"
    r"|frozen-lockfile|batch-mode|if-present|stacktrace|info|parallel|daemon|rerun-tasks|continue|workspaces|release)"
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with subcommands. What is in none of the lists is opaque."""

    looks: str = ""
    runs: str = ""
    installs: str = ""
    publishes: str = ""
    network: str = ""
    wraps: str = ""
    """Subcommands that run the command behind them."""
    fetches: str = ""
    """Subcommands that fetch a program and run it."""
    scripts: str = ""
    """Subcommands with the name of a script of the project."""
    alone: Category | None = None
    """What it does without a subcommand; None: tell about itself."""
    values: str = ""
    """Options before the subcommand that take a word."""
    risky: str = r"(?!)"
    """A pattern of options by which it runs something else."""
    passes: str = r"(?!)"
    """A pattern of words before the subcommand that do no harm."""
    several: bool = False
    """Each word is a subcommand of its own, as with Maven."""
    others_are_scripts: bool = False
    """Other words that sound like it are names of scripts of the project."""

    def __call__(self, call: Call) -> Iterator[Finding]:
        if is_question(call.args):
            return
        args = yield from self._behind_options(call)
        yield from self._words(call)
        if not args:
            yield from self._alone(call)
        elif not args[0].is_known:
            yield from call.opaque("a command that is only known when it runs")
        elif self.several:
            for arg in args:
                if not arg.text.startswith("-"):
                    yield from self._subcommand(call, arg.text, args)
        else:
            yield from self._subcommand(call, args[0].text, args)

    def _words(self, call: Call) -> Iterator[Finding]:
        """Options by which it runs something else, and paths, wherever they stand."""
        for arg in call.args:
            if re.fullmatch(self.risky, arg.text):
                yield from call.opaque(f"what the option {arg.text} names")
            if re.fullmatch(r"(?:--?[\w-]+=)?(?:/|~|\.\./).*", arg.text):
                yield from call.path(Arg(arg.text.partition("=")[2] or arg.text, arg.wild), "read")

    def _behind_options(self, call: Call) -> Generator[Finding, None, Args]:
        """What is said about the options before the subcommand; returns what follows them."""
        args = call.args
        while args and (args[0].text.startswith("-") or re.fullmatch(self.passes, args[0].text)):
            text = args[0].text
            if text in self.values.split():
                args = args[2:]
                continue
            if text.startswith("-") and not _HARMLESS_OPTION.fullmatch(text):
                yield call.find("opaque", f"has the option {text}, and what that does is not known")
            args = args[1:]
        return args

    def _alone(self, call: Call) -> Iterator[Finding]:
        if self.alone == "install":
            yield call.find("install", _INSTALLS)
        elif self.alone is not None:
            yield call.find(self.alone, _RUNS)

    def _subcommand(self, call: Call, name: str, args: Args) -> Iterator[Finding]:
        if name in self.looks.split():
            return
        if name in self.wraps.split():
            call.args = args
            yield from run_in_project(call)
        elif name in self.fetches.split():
            yield from _fetched(call, args[1:])
        elif name in self.scripts.split():
            yield from named(call, args[1].text if len(args) > 1 else "")
        else:
            yield from self._listed(call, name)

    def _listed(self, call: Call, name: str) -> Iterator[Finding]:
        if name in self.runs.split():
            yield from named(call, name)
        elif name in self.installs.split():
            yield call.find("install", _INSTALLS)
        elif name in self.publishes.split():
            yield call.find("publish", _PUBLISHES)
        elif name in self.network.split():
            yield call.find("network", "talks to another machine")
        elif self.others_are_scripts and _LIKE_A_SCRIPT.fullmatch(name):
            yield from named(call, name)
        else:
            yield from call.opaque(f"{call.name} {name}, and what that does is not known")


def named(call: Call, name: str) -> Iterator[Finding]:
    """A task of the project; its name tells whether it reaches out."""
    if "://" in name:
        yield from call.opaque(f"{name}, which lies on another machine")
    elif _TELLS.search(name):
        yield call.find("publish", _PUBLISHES)
    elif _INSTALL_WORD.search(name):
        yield call.find("install", _INSTALLS)
    else:
        yield call.find("changes", _RUNS)


_KNOWN_TOOLS = listed(
    "tsc eslint prettier jest vitest mocha vite webpack rollup tsx ts-node next nuxt astro "
    "svelte-check biome stylelint playwright cypress typedoc esbuild turbo nx storybook ava c8 "
    "nyc lint-staged markdownlint cspell pytest ruff mypy black isort flake8 pyright"
)


def _fetched(call: Call, args: Args) -> Iterator[Finding]:
    """``npx tool``: from the project where it is there, else from the registry."""
    own = [arg.text for arg in args if arg.text.startswith("-")]
    behind = args
    while behind and behind[0].text.startswith("-"):
        behind = behind[1:]
    stays = "--no-install" in own or "--no" in own or "--offline" in own
    brings = any(re.match(r"-y|--yes|-p|--package|-c|--call|--from|--with", option) for option in own)
    if not behind or brings or (not stays and behind[0].text not in _KNOWN_TOOLS):
        call.run_code(call.source)
        yield call.find("exfiltration", "fetches a program and runs it")
    else:
        call.run(behind)


def _npx(call: Call) -> Iterator[Finding]:
    if not is_question(call.args):
        yield from _fetched(call, call.args)


def _make(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    yield call.find("changes", _RUNS)
    waiting = iter(call.args)
    for arg in waiting:
        text = arg.text
        if text in ("-f", "--file", "--makefile"):
            yield from call.code(next(waiting, Arg("\0")))
        elif text in ("-C", "--directory", "-I", "--include-dir"):
            yield from call.path(next(waiting, Arg("\0")), "read")
        elif text in ("-j", "-l", "-o", "-W"):
            continue
        elif match := re.fullmatch(r"(?:-f|--file=|--makefile=)(.+)", text):
            yield from call.code(Arg(match[1]))
        elif match := re.fullmatch(r"(?:-C|--directory=|-I|--include-dir=)(.+)", text):
            yield from call.path(Arg(match[1]), "read")
        elif text.startswith(("--eval", "-E")):
            yield from call.opaque("a rule that stands in the command itself")
        elif "=" in text and not text.startswith("-"):
            yield from _make_variable(call, text)
        elif text.startswith("-"):
            continue
        elif not arg.is_known:
            yield from call.opaque("a target that is only known when it runs")
        else:
            yield from named(call, text)


def _make_variable(call: Call, text: str) -> Iterator[Finding]:
    name, _, value = text.partition("=")
    if re.search(r"SHELL|^CC$|^CXX$|^LD$|^AR$|MAKE", name) or re.search(r"[`$;|&\0]", value):
        yield from call.opaque(f"programs that the word {text} names")


_NPM = Tool(
    looks="ls list ll view info show outdated root prefix bin why explain help version fund query",
    runs="test t tst start stop restart build lint format check pack",
    installs="install i add ci update up upgrade uninstall remove rm un link dedupe prune init create it rebuild "
    "clean-install install-test",
    publishes="publish unpublish deprecate dist-tag owner access team star login logout adduser token hook org profile",
    network="search ping doctor audit whoami",
    fetches="exec x dlx",
    scripts="run run-script",
    risky=r"--script-shell.*|--node-options.*|--globalconfig.*|--userconfig.*|--registry.*",
    values="--prefix -w --workspace -C --dir --filter -F --cwd",
)
_YARN = Tool(
    **{
        **{
            name: getattr(_NPM, name)
            for name in ("looks", "runs", "installs", "publishes", "network", "scripts", "risky", "values")
        },
        "fetches": "dlx exec x create",
        "alone": "install",
    },
    others_are_scripts=True,
)
_PIP = Tool(
    looks="list show freeze check help debug inspect",
    installs="install uninstall download wheel lock",
    network="search index",
    values="--python --log --cache-dir",
)
_CARGO = Tool(
    looks="metadata tree locate-project pkgid version help verify-project read-manifest",
    runs="build b check c test t clippy fmt run r bench doc d clean fix rustc nextest expand package llvm-cov",
    installs="install add update remove fetch vendor generate-lockfile uninstall binstall init new",
    publishes="publish yank login logout owner",
    network="search",
    values="-C --color -Z",
    risky=r"--config.*|-Z.*",
    passes=r"\+\w[\w.-]*",
)
_GO = Tool(
    looks="version list doc help",
    runs="build test vet fmt run generate clean tool fix",
    installs="get install mod work",
    risky=r"-exec.*|--?toolexec.*|--?vettool.*|--?overlay.*|--?ldflags=.*|--?gcflags=.*-.*|[\w.-]+\.\w+/.*@.*",
)
_UV = Tool(
    looks="tree version help",
    runs="build lock venv format",
    installs="sync add remove pip tool python self init",
    publishes="publish",
    wraps="run",
    values="--directory --project --python -p",
)
_POETRY = Tool(
    looks="show check version about env help",
    runs="build lock",
    installs="install add remove update self init new sync",
    publishes="publish",
    wraps="run",
)
_PROJECT = Tool(
    looks="show version help status info",
    runs="build test fmt lint format lock check",
    installs="install add remove update sync self init env",
    publishes="publish",
    wraps="run exec",
)
_SYSTEM_PACKAGES = Tool(
    looks="list search info show depends policy leaves deps uses --version outdated config env help files",
    installs="install remove purge update upgrade dist-upgrade full-upgrade autoremove reinstall add del fix download "
    "build-dep tap untap link unlink cleanup refresh uninstall create activate clean",
    alone="install",
)
_BUNDLE = Tool(
    looks="list show info outdated check", installs="install update add remove", wraps="exec", alone="install"
)
_GRADLE = Tool(
    looks="tasks dependencies projects properties help",
    runs="build test check assemble clean compileJava compileKotlin jar lint run bootRun testClasses classes "
    "installDist verify compile package test-compile validate site integration-test spotlessCheck spotlessApply "
    "ktlintCheck detekt",
    publishes="publish deploy release uploadArchives publishToMavenLocal",
    installs="install wrapper",
    risky=r"-I.*|--init-script.*|-D.*exec.*|-b.*|--build-file.*|-s.*settings.*",
    passes=r"\w+:\w+",
    values="-f --file -pl --projects -p --project-dir -P -T --threads",
    several=True,
)
_DOTNET = Tool(
    runs="build test run format clean pack",
    installs="restore add tool new remove workload",
    publishes="nuget publish",
    looks="list help --info",
)
_MIX = Tool(
    looks="help deps",
    runs="test compile format credo dialyzer",
    installs="deps.get deps.update local.hex archive.install",
    publishes="hex.publish",
)
_COMPOSER = Tool(
    looks="show info outdated validate",
    runs="test check lint dump-autoload",
    scripts="run-script run",
    installs="install update require remove create-project global",
)

PROGRAMS: dict[str, Handler] = {
    **dict.fromkeys(("npm", "pnpm", "cnpm"), _NPM),
    **dict.fromkeys(("yarn", "bun"), _YARN),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx", "pipx"), _npx),
    **dict.fromkeys(("pip", "pip3", "pip2"), _PIP),
    "cargo": _CARGO,
    "go": _GO,
    "uv": _UV,
    "poetry": _POETRY,
    **dict.fromkeys(("pdm", "hatch", "pipenv", "rye", "pixi"), _PROJECT),
    **dict.fromkeys(("bundle", "bundler"), _BUNDLE),
    **dict.fromkeys(("gradle", "gradlew", "mvn", "mvnw", "sbt"), _GRADLE),
    "dotnet": _DOTNET,
    "mix": _MIX,
    "composer": _COMPOSER,
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "dpkg", "dnf", "yum", "rpm", "pacman", "apk", "zypper"),
        _SYSTEM_PACKAGES,
    ),
    **dict.fromkeys(
        ("brew", "port", "snap", "flatpak", "nix", "nix-env", "nix-shell", "emerge"), _SYSTEM_PACKAGES
    ),
    **dict.fromkeys(
        ("conda", "mamba", "micromamba", "gem", "cpan", "cpanm", "luarocks", "rustup", "nvm", "pyenv"),
        _SYSTEM_PACKAGES,
    ),
    **dict.fromkeys(("make", "gmake", "just", "task", "rake", "invoke"), _make),
    "twine": Tool(looks="check", publishes="upload register"),
}
