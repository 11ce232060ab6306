"""Programs that look, search, count and print: they read what they are given and change nothing."""

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
from app.hands.permissions.verdict import Finding

_TEXT = Program(rest="text")
_READ = Program()
_LOOK = Program(rest="look")
_GREP_VALUES = {
    **each("text", "-e --regexp -A -B -C -m --max-count --context --before-context --after-context"),
    **each("text", "--include --exclude --exclude-dir --color --colour --label -d -D --binary-files"),
    **each("read", "-f --file --exclude-from"),
}
_GREP = Program(
    first=("text",),
    values=_GREP_VALUES,
    trees=frozenset({"-r", "-R", "--recursive", "--dereference-recursive"}),
)
_RG = Program(
    first=("text",),
    values={
        **each(
            "text", "-e --regexp -g --glob --iglob -t --type -T --type-not --type-add -A -B -C -m --max-count"
        ),
        **each(
            "text",
            "-j --threads --color --colors --sort --sortr -M --max-columns -r --replace -d --max-depth",
        ),
        **each("text", "--after-context --before-context --context --max-filesize --encoding -E --engine"),
        **each("read", "-f --file --ignore-file"),
    },
    only=listed(
        "-n -i -s -S -w -x -l -c -v -o -q -F -P -U -N -H -I -a -0 -L -p -h -V --files --json "
        "--heading --no-heading --line-number --no-line-number --ignore-case --smart-case "
        "--case-sensitive --word-regexp --files-with-matches --files-without-match --count "
        "--count-matches --invert-match --only-matching --quiet --fixed-strings --pcre2 --multiline "
        "--with-filename --no-filename --null --follow --column --trim --stats --vimgrep --pretty "
        "--no-messages --multiline-dotall --type-list --debug --no-config --no-follow --max-count"
    ),
    trees=frozenset({"-u", "-uu", "-uuu", "--hidden", "-.", "--no-ignore", "--unrestricted"}),
    risks={
        "--pre": ("opaque", "runs a program on every file"),
        "-z": ("opaque", "runs programs that unpack files"),
        "--search-zip": ("opaque", "runs programs that unpack files"),
    },
)
_SORT = Program(
    values={
        **each("text", "-k --key -t --field-separator -S --buffer-size --parallel --sort --batch-size"),
        **each("write", "-o --output"),
        **each("look", "-T --temporary-directory"),
        **each("unclear", "--compress-program --files0-from --random-source"),
    },
    only=listed(
        "-b -d -f -g -h -i -M -n -r -R -V -c -C -m -s -u -z --ignore-leading-blanks "
        "--dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort "
        "--reverse --version-sort --check --merge --stable --unique --zero-terminated --debug"
    ),
)
_DATE = Program(
    rest="text",
    values={**each("text", "-d --date -I --iso-8601 --rfc-3339"), **each("read", "-f --file -r --reference")},
    risks={"-s": ("privilege", "sets the clock"), "--set": ("privilege", "sets the clock")},
)
_PRINTF = Program(rest="text", risks={"-v": ("opaque", "sets a variable of the shell")})
_TREE = Program(rest="look", values={**each("text", "-L -I -P --filelimit"), **each("write", "-o")})
_JQ = Program(
    first=("text",),
    values={**each("read", "-f --from-file -L"), **each("text", "--indent")},
    risks={
        "--args": ("opaque", "passes words on"),
        "--arg": ("opaque", "passes words on"),
        "--rawfile": ("opaque", "reads a file into a variable"),
        "--slurpfile": ("opaque", "reads a file into a variable"),
    },
)
_JQ_REACHES = re.compile(r"(?<![.\w])(?:env|import|include)\b|\$ENV|\$__")
_HEAD = Program(values=each("text", "-n -c --lines --bytes"))
_CUT = Program(
    values=each("text", "-d -f -c -b --delimiter --fields --characters --bytes --output-delimiter")
)
_DIFF = Program(
    values=each("text", "-U -C -x --exclude -I --color --width -W --label -L --unified --context"),
    trees=frozenset({"-r", "--recursive"}),
)
_DU = Program(
    rest="look", values=each("text", "-d --max-depth --exclude -t --threshold -B --block-size --time-style")
)
_NUMBERED = Program(values=each("text", "-w -s -t -d -n -b -v -i -N -A -j -c -l"))


def _uniq(call: Call) -> Iterator[Finding]:
    """The second file of uniq is written."""
    yield from Program(
        last="write", values=each("text", "-f -s -w --skip-fields --skip-chars --check-chars")
    )(call)


def _xxd(call: Call) -> Iterator[Finding]:
    yield from Program(last="write", values=each("text", "-c -g -l -o -s -n -cols -len -seek"))(call)


def _printenv(call: Call) -> Iterator[Finding]:
    if not is_question(call.args):
        yield call.find("sensitive", "prints the environment, where keys and passwords are kept")


def _test(call: Call) -> Iterator[Finding]:
    if any(arg.text in ("-v", "-R") for arg in call.args):
        yield call.find("opaque", "looks at a variable by a name that may run commands")


def _echo(call: Call) -> Iterator[Finding]:
    return
    yield


def _ps(call: Call) -> Iterator[Finding]:
    """``ps e`` shows the environment of other programs."""
    first = call.args[0].text if call.args else ""
    if (first.isalpha() and "e" in first) or "-E" in first:
        yield call.find("sensitive", "shows the environment of programs, where keys and passwords are kept")


def _date(call: Call) -> Iterator[Finding]:
    """A word without ``+`` is a time that is set."""
    operands = [
        value for option, value in read_options(call.args, _DATE) if option is None and value is not None
    ]
    if any(not operand.text.startswith("+") for operand in operands):
        yield call.find("privilege", "sets the clock")
    yield from _DATE(call)


def _jq(call: Call) -> Iterator[Finding]:
    if any(_JQ_REACHES.search(arg.text) for arg in call.args):
        yield call.find("sensitive", "may print the environment or read other files")
    yield from _JQ(call)


_TABLES: tuple[tuple[str, Handler], ...] = (
    ("echo", _echo),
    (
        "true false : pwd whoami id groups uname arch nproc hostname tty logname uptime free seq sleep wait exit",
        _TEXT,
    ),
    (
        "return break continue shift basename dirname expr which type getconf locale tput clear cal factor",
        _TEXT,
    ),
    ("ls dir vdir stat realpath readlink file df namei pathchk exa eza lsd", _LOOK),
    ("cat tac rev wc nl od hexdump strings cmp comm fold fmt expand unexpand column paste pr tsort", _READ),
    (
        "sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 shasum base64 base32 basenc",
        _READ,
    ),
    ("zcat bzcat xzcat zstdcat lz4cat gzcat nm size readelf objdump look tokei scc pdfinfo", _READ),
    ("head tail", _HEAD),
    ("cut", _CUT),
    ("tr", _TEXT),
    ("diff sdiff diff3", _DIFF),
    ("join", _NUMBERED),
    ("du", _DU),
    ("grep egrep fgrep zgrep", _GREP),
    ("rg", _RG),
    ("sort", _SORT),
    ("uniq", _uniq),
    ("xxd", _xxd),
    ("date", _date),
    ("printf", _PRINTF),
    ("tree", _TREE),
    ("jq", _jq),
    ("printenv", _printenv),
    ("test [", _test),
    ("ps pgrep", _ps),
)
PROGRAMS: dict[str, Handler] = {name: handler for names, handler in _TABLES for name in names.split()}
