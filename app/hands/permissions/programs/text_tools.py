"""Programs with a small language of their own: find, xargs, sed, awk. Their scripts are read, not trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.hands.permissions.programs.call import (
    Call,
    Handler,
    Program,
    each,
    is_question,
    listed,
    read_options,
)
from app.hands.permissions.reach import UNKNOWN
from app.hands.permissions.shell_values import Arg, Args
from app.hands.permissions.verdict import Finding

_FIND_TESTS = listed(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype "
    "-size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -maxdepth "
    "-mindepth -newermt -inum -links -regextype -fstype -printf -used -D -O"
)
"""Tests of find that take a word."""
_FIND_FILES = frozenset(("-newer", "-anewer", "-cnewer", "-samefile"))
_FIND_WORDS = listed(
    "-print -print0 -ls -prune -quit -not -and -or -a -o -empty -depth -d -mount -xdev -follow "
    "-executable -readable -writable -true -false -nouser -nogroup -noleaf -daystart -L -H -P -E "
    "-warn -nowarn -ignore_readdir_race ! ( ) ,"
)
_XARGS = Program(
    values=each(
        "text", "-n -L -P -I -d -s -E --max-args --max-lines --max-procs --delimiter --max-chars --replace"
    ),
    only=listed("-0 -r -t -x --null --no-run-if-empty --verbose --exit"),
)

_SED_ADDRESS = r"(?:(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)(?:[,~](?:\+?\d+|\$|/(?:[^/\\\n]|\\.)*/I?))?\s*!?\s*)?"
_SED_SUBSTITUTE = (
    r"s(?P<d>[^\w\s\\])(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)(?:(?!(?P=d))[^\\\n]|\\.|\\\n)*(?P=d)[gpiIm\d]*"
)
_SED_OTHER = (
    r"[pdDPNnGghHxlq=zF]|q\d*|y(?P<y>[^\w\s\\])(?:(?!(?P=y)).)*(?P=y)(?:(?!(?P=y)).)*(?P=y)"
    r"|[aic]\\?\s*[^\n]*|[btT:]\s*\w*"
)
_SED_COMMAND = re.compile(
    rf"\s*(?:\{{\s*)?{_SED_ADDRESS}\s*(?:\{{\s*)?(?:{_SED_SUBSTITUTE}|{_SED_OTHER})?\s*(?:;?\s*\}})?\s*(?:;|\n|$)"
)
_SED = Program(
    first=("text",),
    values={**each("text", "-e --expression -l --line-length"), **each("unclear", "-f --file")},
    only=listed("-n -E -r -s -u -z -i -b --quiet --silent --regexp-extended --posix --debug --sandbox"),
)
_AWK_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|#[^\n]*|\s+|.", re.DOTALL)
_AWK_PATTERN = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/")
_AWK_ACTS = re.compile(
    r"\b(?:system|getline|close|fflush|ENVIRON|PROCINFO|SYMTAB|ARGV|ARGC)\b|@|(?<!\|)\|(?!\|)"
)
_AWK = Program(
    first=("text",),
    values={
        **each("text", "-F -v --field-separator --assign"),
        **each("unclear", "-f --file -i --include -l --load -E"),
    },
    only=frozenset(("--posix", "--re-interval", "-r", "--csv", "-n")),
)
_FD = frozenset(["-x", "-X", "--exec", "--exec-batch"])


def _find(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    args = list(call.args)
    roots: list[Arg] = []
    while args and (not args[0].text.startswith(("-", "(", "!")) or args[0].text in ("-L", "-H", "-P")):
        root = args.pop(0)
        if not root.text.startswith("-"):
            roots.append(root)
    roots = roots or [Arg(".")]
    names = [args[at + 1].text for at, arg in enumerate(args[:-1]) if arg.text in ("-name", "-iname")]
    found = _found_below(tuple(roots), names)
    for root in roots:
        yield from call.path(root, "read")
    yield from _find_words(call, args, found, only_files=any(arg.text == "f" for arg in args))


def _found_below(roots: Args, names: list[str]) -> Args:
    """Words that stand for what find may come upon."""
    last = names[0] if len(names) == 1 else "*"
    return tuple(Arg(f"{root.text.rstrip('/') or '/'}/**/{last}", wild=True) for root in roots)


def _find_words(call: Call, args: list[Arg], found: Args, *, only_files: bool) -> Iterator[Finding]:
    while args:
        word = args.pop(0).text
        if word in _FIND_TESTS:
            args[:1] = []
        elif word in _FIND_FILES and args:
            yield from call.path(args.pop(0), "look")
        elif word == "-delete":
            for each_found in found:
                yield from call.path(each_found, "delete")
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            yield from _find_runs(call, args, found, only_files=only_files)
        elif word in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            yield from call.path(args.pop(0) if args else Arg(UNKNOWN), "write")
        elif word not in _FIND_WORDS:
            yield call.find("opaque", f"has the word {word}, and what that does is not known")


def _find_runs(call: Call, args: list[Arg], found: Args, *, only_files: bool) -> Iterator[Finding]:
    ends = [at for at, arg in enumerate(args) if arg.text in (";", "+")]
    if not ends:
        yield call.find("opaque", "runs a command that has no end")
        return
    inner = args[: ends[0]]
    del args[: ends[0] + 1]
    row: list[Arg] = []
    for arg in inner:
        if arg.text == "{}":
            row.extend(found)
        elif "{}" in arg.text:
            row.append(Arg(arg.text.replace("{}", UNKNOWN), plain=False))
        else:
            row.append(arg)
    call.run(tuple(row))


def _xargs(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    own, inner, marker = _split_xargs(call.args)
    for option, _ in read_options(own, _XARGS):
        if option and option not in _XARGS.values and option not in (_XARGS.only or ()):
            yield call.find("opaque", f"has the option {option}, and what that does is not known")
    given = call.stdin.names or (Arg(UNKNOWN, several=True, plain=False),)
    if not inner:
        return
    if marker is None:
        call.run((*inner, *given))
    else:
        call.run(tuple(row for arg in inner for row in _filled(arg, marker, given)))


def _filled(arg: Arg, marker: str, given: Args) -> Args:
    if arg.text == marker:
        return given
    return (Arg(arg.text.replace(marker, UNKNOWN), plain=False),) if marker in arg.text else (arg,)


def _split_xargs(args: Args) -> tuple[Args, Args, str | None]:
    """Its own options, the command, and the marker of ``-I``."""
    at, marker = 0, None
    while at < len(args) and args[at].text.startswith("-") and args[at].text != "--":
        text = args[at].text
        if text in ("-I", "--replace"):
            marker = args[at + 1].text if at + 1 < len(args) else None
        elif text.startswith("-I"):
            marker = text[2:]
        elif text in ("-i",):
            marker = "{}"
        at += 2 if text in _XARGS.values or text in ("-a", "--arg-file") else 1
    skip = 1 if at < len(args) and args[at].text == "--" else 0
    return args[:at], args[at + skip :], marker


def _sed(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    scripts: list[Arg] = []
    operands: list[Arg] = []
    in_place = False
    call.args = tuple(
        Arg("-i") if re.fullmatch(r"-i[.~\w]+|--in-place(?:=[\w.~]*)?|-i", a.text) else a for a in call.args
    )
    for option, value in read_options(call.args, _SED):
        if option is None and value is not None:
            operands.append(value)
        elif option in ("-e", "--expression") and value is not None:
            scripts.append(value)
        in_place = in_place or option == "-i"
    if not scripts and operands:
        scripts, operands = operands[:1], operands[1:]
    for script in scripts:
        if not script.is_known or not _is_plain_sed(script.text):
            yield from call.opaque("a script of sed that may write files or run programs")
    for file in operands if in_place else ():
        yield from call.path(file, "write")
    yield from _SED(call)


def _is_plain_sed(script: str) -> bool:
    at = 0
    while at < len(script):
        match = _SED_COMMAND.match(script, at)
        if match is None or match.end() == at:
            return not script[at:].strip()
        at = match.end()
    return True


def _awk(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    operands = [value for option, value in read_options(call.args, _AWK) if option is None and value]
    script = operands[0] if operands else Arg(UNKNOWN)
    if not script.is_known or not _is_plain_awk(script.text):
        yield from call.opaque("a script of awk that may write files or run programs")
    yield from _AWK(call)


def _is_plain_awk(script: str) -> bool:
    """Whether it only computes and prints: no pipe, no program, and ``>`` nowhere but in a comparison."""
    bare = _bare_awk(script)
    if _AWK_ACTS.search(bare):
        return False
    depth = 0
    for sign in bare:
        depth += {"{": 1, "}": -1, "(": 100, ")": -100}.get(sign, 0)
        if sign == ">" and 0 < depth < 100:
            return False
    return depth == 0


def _bare_awk(script: str) -> str:
    """The script without its strings, patterns and comments."""
    kept, at = "", 0
    while at < len(script):
        pattern = _AWK_PATTERN.match(script, at) if kept.rstrip()[-1:] in ("", *"{};(,!~&|") else None
        match = pattern or _AWK_TOKEN.match(script, at)
        if match is None:
            return "|"
        at = match.end()
        if pattern:
            kept += "r"
        elif match[0].startswith("#"):
            kept += "\n"
        elif len(match[0]) > 1 and match[0].startswith('"'):
            kept += "s"
        else:
            kept += match[0]
    # A slash that is left divides, or so it seems: then a quote or a hash sign may stand in a pattern instead.
    return "|" if "/" in kept and set(script) & set('"#') else kept


def _fd(call: Call) -> Iterator[Finding]:
    if any(arg.text in _FD or arg.text.startswith(("--exec", "-x", "-X")) for arg in call.args):
        yield from call.opaque("a program on every file that is found")
    yield from Program(
        first=("text",),
        rest="look",
        values=each("text", "-e -t -d -E --extension --type --max-depth --exclude"),
    )(call)


PROGRAMS: dict[str, Handler] = {
    "find": _find,
    "xargs": _xargs,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "fd": _fd,
    "fdfind": _fd,
}
