"""When two file names are the same name: compared as the most forgiving file system would compare them.

HFS+ ignores invisible code points, FAT and NTFS ignore case, trailing dots and blanks, and know a name under
`SHORT~1` and with `::$STREAM` behind it. A closed name must be recognised in each of these disguises.
"""

from __future__ import annotations

import re
import unicodedata
from fnmatch import fnmatchcase
from functools import lru_cache

_SHORT = re.compile(r"([^~]{1,6})~\d{1,3}(?:\.([^.]{0,3}))?")

# Default-ignorable code points that are not of the category Cf.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


@lru_cache(8192)
def folded(name: str) -> str:
    """The form of ``name`` in which disguises are gone; two names with equal forms may be one file somewhere."""
    form = name.lower() if name.isascii() else _folded_unicode(name)
    form = form.partition("::")[0].rstrip(". ")
    return form or name


def matches(pattern: str, name: str) -> bool:
    """Whether ``name`` is the closed ``pattern`` in any disguise. ``*`` in a pattern stands for any text."""
    form = folded(name)
    if "*" in pattern:
        return fnmatchcase(form, pattern)
    return form == pattern or ("~" in form and _is_short_for(form, pattern))


def _folded_unicode(name: str) -> str:
    form = _IGNORABLE.sub("", unicodedata.normalize("NFKC", name))
    form = "".join(sign for sign in form if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFKC", form.casefold())


def _is_short_for(form: str, pattern: str) -> bool:
    short = _SHORT.fullmatch(form)
    if short is None:
        return False
    stem, dot, ending = pattern.lstrip(".").rpartition(".")
    if not dot:
        stem, ending = ending, ""
    stem = stem.replace(".", "").replace(" ", "")
    return short[1] == stem[:6] and (short[2] or "") == ending[:3]


def shown(name: str) -> str:
    """A name or path as it may be printed: what does not show, or ends a line, is written as an escape."""
    if name.isprintable():
        return name
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in name)


def shown_in_lines(text: str) -> str:
    """The same for a text of several lines: these stay, and so do tabs."""
    return "\n".join("\t".join(map(shown, line.split("\t"))) for line in text.split("\n"))
