"""The bytes of a web page as text: what they are, in which encoding, and without signs that nobody sees. Pure."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

import httpx

from app.hands.text import find_kind, guess_encoding, looks_binary, mark_of, printable

Form = Literal["html", "text"]

_META_BYTES = 2_048
"""The beginning of a page, in which it may name its encoding."""

_KIND = re.compile(r"\s*([\w.+-]{1,40}/[\w.+-]{1,80})\s*(;|$)", re.ASCII)
_HTML = {"text/html", "application/xhtml+xml"}
_TEXT = re.compile(
    r"text/.*|application/(.*\+)?(json|xml|yaml|toml)|application/(x-)?(javascript|ecmascript|ndjson|sh|yaml|toml|tex)"
    r"|application/(graphql|sql|jsonlines|json5)|image/svg\+xml|message/.*"
)
_LOOKS_LIKE_HTML = re.compile(
    rb"\s*(<!--.{0,1000}?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_META = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")

_ENCODINGS = {
    **{
        name: name
        for name in ("utf-8", "utf-16-le", "utf-16-be", "big5hkscs", "cp932", "euc_jp", "iso2022_jp")
    },
    **{name: name for name in ("cp949", "gb18030", "koi8-r", "koi8-u", "mac-roman", "cp866", "cp874")},
    **{f"cp125{place}": f"cp125{place}" for place in range(9)},
    **{f"iso8859-{part}": f"iso8859-{part}" for part in (*range(2, 9), 10, 13, 14, 15, 16)},
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Encodings that pages name, by Python's name for them, as browsers read them; no others are tried."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Signs that show nothing, or turn what is around them: text may be hidden in them."""


@dataclass(frozen=True, slots=True)
class WebText:
    """A page that can be read."""

    form: Form
    text: str


def web_text(headers: httpx.Headers, body: bytes) -> WebText | None:
    """The text of an answer; None where it is none."""
    kind = _media_type(headers)
    if not kind or kind == "application/octet-stream":
        kind = "text/plain"
    elif kind not in _HTML and not _TEXT.fullmatch(kind):
        return None
    is_html = kind in _HTML or (kind == "text/plain" and bool(_LOOKS_LIKE_HTML.match(body)))
    if looks_binary(body) and not _declared_wide(headers):
        return None
    return WebText("html" if is_html else "text", decoded(headers, body, is_html))


def described(headers: httpx.Headers, body: bytes) -> str:
    """What an answer is that is no text: ``a PDF document (application/pdf)``."""
    kind = _media_type(headers)
    found = find_kind(body)
    if found:
        return f"a {found} ({kind})" if kind else f"a {found}"
    return f"data of the kind {kind}" if kind else "data of an unknown kind"


def decoded(headers: httpx.Headers, body: bytes, is_html: bool) -> str:
    """By its mark, else by the header, else by what the page says of itself, else by its looks."""
    mark, marked = mark_of(body)
    if marked:
        return body[len(mark) :].decode(marked, "replace")
    named = _encoding(_header_charset(headers)) or _encoding(_own_word(body, is_html))
    if named is None or (named == "utf-8" and not _is_utf_8(body)):
        named = guess_encoding(body)  # what is wrong about UTF-8 shows; other encodings explain any bytes
    return body.decode(named, "replace")


def seen(text: str) -> str:
    """Without what a reader would not see."""
    return _UNSEEN.sub("", printable(text).replace("\r\n", "\n").replace("\r", "\n"))


def _media_type(headers: httpx.Headers) -> str:
    """Empty where the header holds anything else: its words may come to be shown."""
    named = _KIND.match(headers.get("content-type", "").lower())
    return named[1] if named else ""


def _header_charset(headers: httpx.Headers) -> str:
    _, _, rest = headers.get("content-type", "").partition(";")
    found = re.search(r"""charset\s*=\s*["']?\s*([\w.:-]{1,40})""", rest, re.IGNORECASE)
    return found[1] if found else ""


def _declared_wide(headers: httpx.Headers) -> bool:
    """Whether zero bytes are to be expected."""
    return (_encoding(_header_charset(headers)) or "").startswith("utf-16")


def _own_word(body: bytes, is_html: bool) -> str:
    found = (_META.search(body[:_META_BYTES]) if is_html else None) or _XML.match(body[:_META_BYTES])
    word = found[1].decode("ascii", "replace") if found else ""
    return "" if word.lower().startswith("utf-16") else word  # it could not have been read if it were true


def _encoding(label: str) -> str | None:
    try:
        return _ENCODINGS.get(codecs.lookup(label).name) if label else None
    except (LookupError, ValueError):
        return None


def _is_utf_8(body: bytes) -> bool:
    """A last sign may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True
