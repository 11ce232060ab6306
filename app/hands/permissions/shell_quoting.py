"""What quotes and backslashes do to a text in bash. Each function returns None for what it does not understand."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "e": "\033",
    "E": "\033",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_ANSI_C = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))|([^\\]+)", re.DOTALL
)
_BARE = re.compile(r"\\(.)|([^\\\s|&;()<>\"'`$]+|\$$)", re.DOTALL)
_EXPANDED = r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])|(\\|[^\\$`]+|\$(?![({\[]))"
_IN_DOUBLE_QUOTES = re.compile(r"\\([$`\"\\\n])|" + _EXPANDED, re.DOTALL)
_IN_HERE_DOCUMENT = re.compile(r"\\([$`\\\n])|" + _EXPANDED, re.DOTALL)
_HIGHEST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, or the name of a variable that stands there."""

    text: str
    is_variable: bool = False


def bare(source: str) -> list[tuple[str, bool]] | None:
    """An unquoted stretch as (text, whether it was escaped)."""
    found: list[tuple[str, bool]] = []
    at = 0
    while at < len(source):
        match = _BARE.match(source, at)
        if match is None:
            return None
        at = match.end()
        if match[1] != "\n":
            found.append((match[2], False) if match[1] is None else (match[1], True))
    return found


def double_quoted(source: str) -> list[Piece] | None:
    """The inside of double quotes, without ``$(…)``, ``${…}`` and backquotes."""
    return _pieces(_IN_DOUBLE_QUOTES, source)


def here_document(source: str) -> list[Piece] | None:
    """As ``double_quoted``, for a here-document whose delimiter is not quoted."""
    return _pieces(_IN_HERE_DOCUMENT, source)


def ansi_c(source: str) -> str | None:
    """The inside of ``$'…'``. Beyond ASCII, ``\\x`` and octal escapes are bytes and not understood."""
    found: list[str] = []
    at = 0
    while at < len(source):
        match = _ANSI_C.match(source, at)
        if match is None:
            return None
        at = match.end()
        text = _ansi_c_piece(match)
        if text is None or "\0" in text:
            return None
        found.append(text)
    return "".join(found)


def _ansi_c_piece(match: re.Match[str]) -> str | None:
    byte, short, long, octal, letter, plain = match.groups()
    if plain is not None:
        return plain
    if letter is not None:
        return _ESCAPES.get(letter)
    if byte is not None or octal is not None:
        code = int(byte, 16) if byte is not None else int(octal, 8)
        return chr(code) if code < 0x80 else None
    code = int(short or long, 16)
    return chr(code) if code <= _HIGHEST and not 0xD800 <= code <= 0xDFFF else None


def _pieces(pattern: re.Pattern[str], source: str) -> list[Piece] | None:
    found: list[Piece] = []
    at = 0
    while at < len(source):
        match = pattern.match(source, at)
        if match is None:
            return None
        at = match.end()
        escaped, name, text = match.groups()
        if name is not None:
            found.append(Piece(name, is_variable=True))
        elif escaped != "\n":
            found.append(Piece(text or escaped))
    return found
