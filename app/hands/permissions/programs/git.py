"""git: what each subcommand does, and the options by which it runs other programs."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from app.hands.permissions.programs.call import Call, Handler, Program, Risk, is_question, listed
from app.hands.permissions.shell_values import Arg, Args
from app.hands.permissions.verdict import Finding

_RUNS: Risk = ("opaque", "runs a program")
_RUNS_BY_OPTION: dict[str, Risk] = dict.fromkeys(
    (
        *(
            "--ext-diff",
            "--textconv",
            "--filters",
            "--open-files-in-pager",
            "--upload-pack",
            "--receive-pack",
        ),
        *(
            "--exec",
            "--template",
            "--config",
            "--config-env",
            "--tool",
            "--extcmd",
            "--index-filter",
            "--gpg-sign",
        ),
        *("--tree-filter", "--msg-filter", "--edit-description", "--separate-git-dir", "--reference"),
    ),
    _RUNS,
)
_READS_ANYWHERE: Risk = ("outside", "reads files outside the repository")
_DISCARDS: Risk = ("destructive", "throws away changes that are not committed")
_HISTORY: Risk = ("destructive", "throws away history that cannot be brought back")

_HARMLESS_SETTINGS = re.compile(
    r"(?:color\.\w+|core\.(?:quotepath|abbrev|pager=(?:cat)?$)|advice\.\w+|user\.(?:name|email)|log\.\w+|diff\.\w*context"
    r"|diff\.algorithm|init\.defaultbranch|commit\.gpgsign=false$|core\.fsmonitor=false$|core\.hookspath=/dev/null$"
    r"|column\.ui|status\.\w+|format\.pretty|pager\.\w+=(?:false|cat)$|safe\.directory)(?:=.*|$)",
    re.IGNORECASE,
)
_REMOTE_HELPER = re.compile(r"[A-Za-z0-9+.-]+::|-")
_READERS = listed(
    "status diff log show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree "
    "cat-file name-rev merge-base diff-tree diff-index diff-files for-each-ref show-ref "
    "show-branch cherry count-objects grep whatchanged var check-ignore check-attr verify-commit "
    "verify-tag version help range-diff fsck get-tar-commit-id"
)
_LOCAL = listed(
    "add commit merge cherry-pick revert mv init apply am notes rerere stage switch checkout "
    "stash branch tag remote config worktree reset restore rebase archive format-patch "
    "symbolic-ref sparse-checkout bundle"
)
_FROM_NETWORK = listed("fetch pull clone ls-remote submodule lfs")


@dataclass(frozen=True, slots=True)
class _When:
    """A finding where a word of a subcommand matches; ``first``: only its first word."""

    subcommand: str
    word: str
    risk: Risk
    unless: str | None = None
    first: bool = False

    def fits(self, name: str, arg: Arg, args: Args) -> bool:
        if name != self.subcommand or not self._is_word(arg.text):
            return False
        if self.first and arg is not next((word for word in args if not word.text.startswith("-")), None):
            return False
        return self.unless is None or not any(re.fullmatch(self.unless, other.text) for other in args)

    def _is_word(self, text: str) -> bool:
        """git understands options that are cut short."""
        if re.fullmatch(self.word, text):
            return True
        return (
            len(text) > 3
            and text.startswith("--")
            and any(known.startswith(text) for known in self.word.split("|") if known.startswith("--"))
        )


_WHENS = (
    _When("reset", r"--hard|--merge|--keep", _DISCARDS),
    _When("checkout", r"-f|--force|--|\.|-B|--ours|--theirs|-p|.*/.*\.\w+|[^/]*\.\w{1,4}|.*/", _DISCARDS),
    _When("switch", r"-f|--force|--discard-changes|-C|--force-create", _DISCARDS),
    _When("restore", r"[^-].*|--worktree|-W", _DISCARDS, unless=r"--staged|-S"),
    _When("restore", r"--worktree|-W", _DISCARDS),
    _When("stash", r"drop|clear", _HISTORY, first=True),
    _When("branch", r"-[a-zA-Z]*[DdMC].*|--delete|--force|-f", _HISTORY),
    _When("tag", r"-d|--delete|-f|--force", _HISTORY),
    _When(
        "remote",
        r"add|set-url|rename|remove|rm|set-head",
        ("privilege", "changes where commits go to and come from"),
        first=True,
    ),
    _When("remote", r"update|show|prune", ("network", "talks to another machine"), first=True),
    _When("worktree", r"remove|prune|move", _DISCARDS, first=True),
    _When("commit", r"--amend", ("changes", "changes the last commit")),
    _When("rebase", r"-x.*|--exec.*|-i|--interactive", _RUNS),
    _When("apply", r"--unsafe-paths|--directory.*", ("opaque", "writes files outside the repository")),
    _When("archive", r"--remote.*|--exec.*", ("network", "talks to another machine")),
    _When("grep", r"-O.*", _RUNS),
    _When("grep", r"--no-index", _READS_ANYWHERE),
    _When("diff", r"--no-index", _READS_ANYWHERE),
    _When("clone", r"-u.*|-c.*|--config.*", _RUNS),
    _When("submodule", r"foreach", _RUNS, first=True),
    _When("fsck", r"--lost-found", ("changes", "writes files")),
    _When("pull", r"-r.*|--rebase.*|-f|--force", ("changes", "changes the branch")),
    _When("init", r"--template.*|--separate-git-dir.*", _RUNS),
)
_OTHERS: dict[str, Risk] = {
    "push": ("publish", "sends commits to another machine"),
    "send-email": ("publish", "sends mail"),
    "request-pull": ("publish", "asks others to pull"),
    "svn": ("publish", "talks to another machine"),
    "p4": ("publish", "talks to another machine"),
    "send-pack": ("publish", "sends commits to another machine"),
    "gc": _HISTORY,
    "prune": _HISTORY,
    "repack": _HISTORY,
    "filter-branch": _HISTORY,
    "filter-repo": _HISTORY,
    "update-ref": _HISTORY,
    "replace": _HISTORY,
    "credential": ("sensitive", "reads stored passwords"),
    "daemon": ("exfiltration", "offers the repository to other machines"),
    "instaweb": ("exfiltration", "offers the repository to other machines"),
    "http-backend": ("exfiltration", "offers the repository to other machines"),
}
_FORCED = re.compile(r"-[a-z]*f[a-z]*|--force.*|--mirror|--delete|-d|--prune|\+.*|:.+")


def git(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    rest = yield from _globals(call)
    if not rest:
        return
    name, args = rest[0].text, rest[1:]
    if not rest[0].is_known or rest[0].wild:
        yield from call.opaque("a git command that is only known when it runs")
    elif name in _OTHERS:
        yield from _other(call, name, args)
    elif name == "reflog":
        yield from () if not args or args[0].text in ("show", "exists") else iter([call.find(*_HISTORY)])
    elif name == "clean":
        yield from _clean(call, args)
    elif name == "rm":
        yield from _rm(call, args)
    elif name in _READERS or name in _LOCAL or name in _FROM_NETWORK:
        yield from _known(call, name, args)
    else:
        yield from call.opaque(f"git {name}, which may be anything by its configuration")


def _globals(call: Call) -> Generator[Finding, None, Args]:
    """The options before the subcommand; returns what follows them."""
    args = list(call.args)
    while args and args[0].text.startswith("-"):
        option = args.pop(0)
        if option.text == "-C" and args:
            yield from call.path(args.pop(0), "read")
        elif option.text == "-c" and args:
            setting = args.pop(0)
            if not _HARMLESS_SETTINGS.fullmatch(setting.text) or not setting.is_known:
                yield from call.opaque(f"git with the setting {setting.text}, which may run a program")
        elif option.text not in (
            "--no-pager",
            "--no-optional-locks",
            "--literal-pathspecs",
            "--no-replace-objects",
            "-P",
        ):
            yield from call.opaque(f"git with {option.text}, which may run a program")
    return tuple(args)


def _known(call: Call, name: str, args: Args) -> Iterator[Finding]:
    if name in _FROM_NETWORK:
        yield call.find("network", "talks to another machine")
    if name in _LOCAL or name in _FROM_NETWORK:
        yield from _local(call, name, args)
    for arg in args:
        yield from _word(call, name, arg, args)
    if (
        name == "checkout"
        and sum(not arg.text.startswith("-") for arg in args) > 1
        and not _makes_branch(args)
    ):
        yield call.find(*_DISCARDS)
    if any(not arg.is_known and arg.text.startswith("\0") and not _is_message(args, arg) for arg in args):
        yield from call.opaque("git with a word that is only known when it runs")


def _local(call: Call, name: str, args: Args) -> Iterator[Finding]:
    if name == "config":
        yield from _config(call, args)
    elif (name == "branch" and all(arg.text.startswith("-") for arg in args)) or (
        name in ("stash", "tag", "remote", "worktree", "notes") and _lists(args)
    ):
        return
    else:
        yield call.find("changes", "changes the repository")


def _lists(args: Args) -> bool:
    first = args[0].text if args else ""
    return first in ("list", "show", "-v", "-l", "--list", "get-url", "-n")


def _config(call: Call, args: Args) -> Iterator[Finding]:
    words = [arg.text for arg in args if not arg.text.startswith("-")]
    options = {arg.text for arg in args if arg.text.startswith("-")}
    reads = options & _CONFIG_READS or words[:1] in (["get"], ["list"])
    asks_one = len(words) == 1 and words[0] not in ("edit", "unset", "set")
    sets_harmless = len(words) == 2 and not options and _HARMLESS_SETTINGS.fullmatch("=".join(words))
    if not options <= _CONFIG_READS | _CONFIG_SCOPES or not (reads or asks_one or sets_harmless):
        yield call.find("privilege", "changes settings by which git runs programs")


_CONFIG_READS = listed("--get --get-all --list -l --get-regexp --get-urlmatch")
_CONFIG_SCOPES = listed(
    "--global --local --system --worktree --show-origin --show-scope --name-only -z --null --includes"
)


def _word(call: Call, name: str, arg: Arg, args: Args) -> Iterator[Finding]:
    for when in _WHENS:
        if when.fits(name, arg, args):
            yield call.find(*when.risk)
    option = arg.text.partition("=")[0]
    if option.startswith("--") and len(option) > 3:
        yield from _long(call, option, arg)
    if name in _FROM_NETWORK and (_REMOTE_HELPER.match(arg.text) and "::" in arg.text):
        yield from call.opaque("a program that git takes for a remote repository")
    if match := _FILE_OPTION.fullmatch(arg.text):
        following = args[args.index(arg) + 1 :]
        file = match[1] or (following[0].text if following else "\0")
        yield from call.path(Arg(file), "write" if arg.text.startswith("-o") else "read")
    if name not in ("grep", "commit", "config") and not arg.text.startswith("-"):
        yield from _place(call, name, arg)


_FILE_OPTION = re.compile(
    r"(?:-F|-o|--file|--pathspec-from-file|--contents|--ignore-revs-file)(?:=|(?<=-F)|(?<=-o))?(.*)",
    re.DOTALL,
)


def _long(call: Call, option: str, arg: Arg) -> Iterator[Finding]:
    for risky, risk in _RUNS_BY_OPTION.items():
        # git understands options that are cut short.
        if risky.startswith(option):
            yield call.find(*risk)
    if ("--output".startswith(option) and option != "--out") or option == "--output-directory":
        yield from call.path(Arg(arg.text.partition("=")[2] or "\0"), "write")


def _place(call: Call, name: str, arg: Arg) -> Iterator[Finding]:
    """A word that may be a path; the repository itself holds what lies in it."""
    if (
        arg.text.startswith(("/", "~", "..", "file://"))
        and not re.fullmatch(r"\.\.\.?[\w-][\w/-]*", arg.text)
    ) or arg.text == "..":
        yield from call.path(arg, "read")
    elif name in ("diff", "show", "blame", "log", "cat-file", "add"):
        path = arg.text.rpartition(":")[2]
        yield from (
            found
            for found in call.path(Arg(path, arg.wild), "read")
            if found.category in ("dotenv", "sensitive")
        )


def _makes_branch(args: Args) -> bool:
    return any(arg.text in ("-b", "--track", "-t", "--orphan") for arg in args)


def _is_message(args: Args, arg: Arg) -> bool:
    """The word after ``-m``: what it says does nothing."""
    at = args.index(arg)
    return at > 0 and args[at - 1].text in ("-m", "-am", "--message", "-F")


def _other(call: Call, name: str, args: Args) -> Iterator[Finding]:
    yield call.find(*_OTHERS[name])
    if name == "push" and any(_FORCED.fullmatch(arg.text) for arg in args):
        yield call.find("destructive", "overwrites or deletes what others may have")
    if any(
        arg.text.startswith(("--exec", "--receive-pack", "--rec", "--exe", "--upload-pack"))
        or "::" in arg.text
        for arg in args
    ):
        yield from call.opaque("a program that an option names")


def _clean(call: Call, args: Args) -> Iterator[Finding]:
    only_tells = any(re.fullmatch(r"-[dfxXqi]*n[dfxXqi]*|--dry-run", arg.text) for arg in args)
    if not only_tells or any(arg.text.startswith(("-e", "--ex")) for arg in args):
        yield call.find("destructive", "deletes files that git does not keep")


def _rm(call: Call, args: Args) -> Iterator[Finding]:
    if any(arg.text == "--cached" for arg in args):
        yield call.find("changes", "takes files out of the index")
    else:
        yield from Program(rest="delete tree", changes="deletes files")(replace(call, args=args))


PROGRAMS: dict[str, Handler] = {"git": git}
