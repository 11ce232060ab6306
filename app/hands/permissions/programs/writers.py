"""Programs that make, copy, move, pack and remove files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.hands.permissions.programs.call import (
    Call,
    Handler,
    Program,
    Role,
    each,
    is_question,
    listed,
    read_options,
)
from app.hands.permissions.reach import is_in_roots, resolve
from app.hands.permissions.shell_values import Arg
from app.hands.permissions.verdict import Finding

_WRITE = Program(rest="write")
_TOUCH = Program(
    rest="write", values={**each("text", "-d -t --date --time"), **each("read", "-r --reference")}
)
_MKDIR = Program(rest="write", values=each("text", "-m --mode"))
_TARGET = each("write", "-t --target-directory")
_CP = Program(
    last="write",
    values={**_TARGET, **each("text", "-S --suffix")},
    trees=frozenset({"-r", "-R", "-a", "--recursive", "--archive"}),
)
_MV = Program(rest="move", last="write", values={**_TARGET, **each("text", "-S --suffix")})
_HARD_LINK = Program(rest="tree", last="write", values=_TARGET)
_INSTALL = Program(last="write", values={**_TARGET, **each("text", "-m -o -g --mode --owner --group")})
_TEE = Program(rest="write")
_GZIP = Program(rest="move", values=each("text", "-S --suffix"), changes="packs or unpacks files")
_SHRED = Program(rest="delete tree", values=each("text", "-n -s --iterations --size"))
_TRUNCATE = Program(rest="delete", values={**each("text", "-s --size"), **each("read", "-r --reference")})
_SPLIT = Program(
    last="write", values=each("text", "-l -b -n -a -C --lines --bytes --number"), changes="writes files"
)
_PATCH = Program(
    rest="write",
    values={
        **each("text", "-p --strip -F"),
        **each("read", "-i --input"),
        **each("write", "-o --output -r -d"),
    },
    only=listed("-N -R -s -f -t -u -b --dry-run --forward --reverse --silent --force --batch --unified"),
    changes="changes files",
)
_TAR_VALUES = {
    **each("text", "--exclude --strip-components -b --mtime --owner --group --mode --format --sort"),
    **each("write", "-C --directory"),
    **each("read", "-X --exclude-from"),
    **each("unclear", "-T --files-from"),
}
_TAR_ONLY = listed(
    "-c -x -t -v -z -j -J -p -k -h -a -O -m --create --extract --list --verbose --gzip --bzip2 "
    "--xz --zstd --get --auto-compress --keep-old-files --to-stdout --exclude-vcs --no-same-owner "
    "--null --dereference -r -u -A"
)
_ZIP = Program(
    rest="tree",
    first=("write",),
    values={**each("text", "-x -i -P --exclude --include"), **each("write", "-b")},
    only=frozenset(("-r", "-q", "-j", "-9", "-0", "-1", "-6", "-u", "-v", "-y", "-X", "-D")),
)
_UNZIP = Program(
    values={**each("write", "-d"), **each("text", "-x -P")},
    only=frozenset(("-o", "-q", "-l", "-n", "-t", "-v", "-j", "-p", "-z", "-Z")),
    changes="unpacks an archive",
)
_DD = re.compile(r"(if|of)=(.*)", re.DOTALL)
_SETUID = re.compile(r"[0-7]?[4267][0-7]{3}|(?:.*,)?[ugoa]*[+=][rwxXt]*s.*")
_WORLD = re.compile(r"0*777|0*666|(?:.*,)?(?:o|a|[ugo]*o[ugo]*)?\+[rx]*w.*")


def _rm(call: Call) -> Iterator[Finding]:
    options = {option for option, _ in read_options(call.args, Program()) if option}
    recursive = any(
        option in ("-r", "-R") or ("--recursive".startswith(option) and option > "--") for option in options
    )
    yield from Program(rest="delete tree" if recursive else "delete", changes="deletes files")(call)


def _ln(call: Call) -> Iterator[Finding]:
    """The target of a symbolic link is written from the folder of the link."""
    operands = [arg for arg in call.args if not arg.text.startswith("-")]
    symbolic = any(re.fullmatch(r"-\w*s\w*|--symbolic", arg.text) for arg in call.args)
    folder = operands[-1].text.rpartition("/")[0] if len(operands) > 1 else ""
    if symbolic and folder and not folder.startswith(("/", "~")):
        call.args = tuple(
            arg
            if arg.text.startswith(("-", "/", "~")) or arg is operands[-1]
            else Arg(f"{folder}/{arg.text}", arg.wild)
            for arg in call.args
        )
    found = tuple(_HARD_LINK(call))
    yield from found
    targets = [arg for arg in call.args if not arg.text.startswith("-")]
    is_closed = any(finding.category == "sensitive" for finding in found)
    if symbolic and not is_closed and any(_leads_out(call, target) for target in targets[:-1] or targets):
        yield call.find("destructive", "makes a link through which files outside the workspace are changed")


def _leads_out(call: Call, target: Arg) -> bool:
    where = resolve(target.text, call.facts, call.state.folders) or frozenset()
    return not all(is_in_roots(path, call.facts) for path in where)


def _unlink(call: Call) -> Iterator[Finding]:
    yield from Program(rest="delete", changes="deletes files")(call)


def _tar(call: Call) -> Iterator[Finding]:
    """The first word may be letters without a dash; with ``c`` the file is written, else it is read."""
    if is_question(call.args):
        return
    args = list(call.args)
    if args and re.fullmatch(r"[A-Za-z]+", args[0].text):
        args[0] = Arg(f"-{args[0].text}")
    found = {option for option, _ in read_options(args, Program(values=each("text", "-f")))}
    creates = bool(found & {"-c", "-r", "-u", "-A", "--create"})
    file: Role = "write" if creates else "read"
    program = Program(
        rest="tree" if creates else "text",
        values={**_TAR_VALUES, **each(file, "-f --file")},
        only=_TAR_ONLY,
        changes="packs or unpacks files",
    )
    call.args = tuple(args)
    yield from program(call)


def _dd(call: Call) -> Iterator[Finding]:
    for arg in call.args:
        match = _DD.fullmatch(arg.text)
        if match is None and not re.fullmatch(
            r"(?:bs|count|skip|seek|ibs|obs|conv|status|iflag|oflag|cbs)=[\w.,]+", arg.text
        ):
            yield call.find("opaque", f"has the word {arg.text}, and what that does is not known")
        elif match is not None:
            yield from call.path(Arg(match[2], arg.wild), "write" if match[1] == "of" else "read")


def _chmod(call: Call) -> Iterator[Finding]:
    mode = next((arg for arg in call.args if not re.match(r"-[RcfvHLP]|--", arg.text)), Arg(""))
    if _SETUID.fullmatch(mode.text):
        yield call.find("privilege", "lets a program run with the rights of its owner", never=True)
    if _WORLD.fullmatch(mode.text):
        yield call.find("privilege", "lets every user of this machine write there")
    if not mode.is_known:
        yield call.find("opaque", "sets rights that are only known when it runs")
    call.args = tuple(arg for arg in call.args if arg is not mode)
    yield from Program(rest="write", values=each("read", "--reference"), changes="changes who may use files")(
        call
    )


PROGRAMS: dict[str, Handler] = {
    "touch": _TOUCH,
    "mkdir": _MKDIR,
    "mkfifo": _WRITE,
    "mktemp": Program(rest="text", values=each("write", "-p --tmpdir"), changes="makes a temporary file"),
    "cp": _CP,
    "mv": _MV,
    "ln": _ln,
    "link": _HARD_LINK,
    "install": _INSTALL,
    "tee": _TEE,
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"), _GZIP),
    "rm": _rm,
    "unlink": _unlink,
    "rmdir": _WRITE,
    "shred": _SHRED,
    "truncate": _TRUNCATE,
    "split": _SPLIT,
    "csplit": _SPLIT,
    "patch": _PATCH,
    "tar": _tar,
    "bsdtar": _tar,
    "zip": _ZIP,
    "unzip": _UNZIP,
    "dd": _dd,
    "chmod": _chmod,
}
