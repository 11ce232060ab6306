"""How long a command may be, and the signs that hide what a person would see in it."""

from __future__ import annotations

import re

LONGEST = 20_000
"""Characters. A longer command belongs into a file."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Code points that show nothing or turn the direction of text. Joiners are not here: emoji and Persian need them."""

ONLY_BASH = re.compile(
    r"\$['\"]|[<>]\(|<<<|&>|\|&|>&\s*[^\d\s-]|\[\[|(?<!\$)\(\(|\bfunction\b|\{[^}]*(?:,|\.\.)|\$\[|\bselect\b|\+="
)
"""What bash reads in its own way; a plain POSIX shell makes something else of it."""


def obstacle(text: str) -> str | None:
    """Why a command cannot be read as it stands: the end of a sentence about it."""
    if _CONTROL.search(text):
        return "has a control character in it, which hides what it does"
    if _HIDDEN.search(text):
        return "has an invisible character in it, which hides what it does"
    return None
