"""Text from outside, made harmless to look at: line ends, control characters, colours, hidden direction marks."""

from __future__ import annotations

import re

_KEPT = "\t\n"
_CONTROLS: dict[int, str | None] = {
    code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in _KEPT
}
_CONTROLS[0] = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")

_DIRECTION = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
_LINE_BREAKS = dict.fromkeys((0x09, 0x0A, 0x2028, 0x2029), " ")

_TERMINAL = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # a title or a link
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[@-Z\\^_]|\x1b[ -/]+[0-~]"
)


def plain(text: str) -> str:
    """The text without control characters; NUL and lone surrogates become U+FFFD, each line end ``\\n``."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def plain_output(text: str) -> str:
    """What a terminal would have left: no colours, and of a line rewritten by ``\\r`` its last state."""
    text = _TERMINAL.sub("", text.replace("\r\n", "\n"))
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return plain("\n".join(lines))


def one_line(text: str) -> str:
    """For titles, names and paths: one line; a character that turns others round is shown as U+FFFD."""
    return plain(text).translate(_LINE_BREAKS).translate(_DIRECTION).strip()


def first_sentence(text: str) -> tuple[str, str]:
    """The first sentence as a heading, without its full stop, and what follows."""
    for at, character in enumerate(text):
        if character in ".!?" and text[at + 1 : at + 2] == " " and text[at + 2 : at + 3].isupper():
            return text[: at + 1].removesuffix("."), text[at + 2 :]
        if character == "\n":
            return text[:at], text[at + 1 :]
    return text.removesuffix("."), ""


def first_line(text: str, most: int) -> str:
    """The first line with anything on it, cut where it is longer than so many characters."""
    line = one_line(plain(text).strip().split("\n")[0])
    return line if len(line) <= most else f"{line[:most].rstrip()} …"
