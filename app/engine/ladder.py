"""The way down when a server refuses the form of a history: leave out more, so that no conversation ever stands still.

Which part goes is told by the words of the refusal; where they do not tell, the parts go in their order. A refusal
of any other kind is none of this: the same request would be refused again, whatever it leaves out.
"""

from __future__ import annotations

import re
from typing import Literal

Part = Literal["thinking", "old_calls", "pictures", "all_but_text"]
Left = frozenset[Part]
"""What a request leaves out. ``old_calls``: calls and results before the open step are told in words."""

NOTHING: Left = frozenset()
BLIND: Left = frozenset({"pictures"})
"""For a model that cannot see."""
ORDER: tuple[Part, ...] = ("thinking", "old_calls", "pictures", "all_but_text")

_TOLD: tuple[tuple[Part, str], ...] = (
    ("thinking", r"reasoning|thinking|encrypted content|thought.?signature"),
    ("old_calls", r"tool_?(use|result|call|config)|tool (use|result|call)s?\b|function (call|response)"),
    ("pictures", r"\bimages?\b|image_url|multimodal|\bvision\b|\bbase64\b|\bmmproj\b"),
)
_ABOUT_FORM = re.compile(
    r"messages?(\[|\.|\b.{0,20}(field|content|role|order|invalid|must|参数))|'content'|\broles?\b|alternat|消息"
)
_ABOUT_SETTINGS = re.compile(
    r"tool.?choice|parallel_tool|does not support (tools|thinking)|invalid schema|tools\[|tools\.\d"
    r"|budget_tokens|^thinking\.|temperature|top_[pk]\b"
)
_FAILED_ON_FORM = re.compile(
    r"jinja|chat template|image input is not supported|only supports one image|failed to (process|decode) image"
)


def step_down(left: Left, words: str) -> Left | None:
    """What to leave out after a 400 or 422 with these words; None where leaving out more is no help."""
    words = words.lower()
    if _ABOUT_SETTINGS.search(words):
        return None
    told = [part for part, pattern in _TOLD if re.search(pattern, words)]
    if not told and not _ABOUT_FORM.search(words) and not fails_on_form(words):
        return None
    further = [part for part in (*told, *ORDER) if part not in left]
    return left | {further[0]} if further else None


def fails_on_form(words: str) -> bool:
    """Whether a 500 with these words is a refusal of the form: servers of one's own fail where they should refuse."""
    return _FAILED_ON_FORM.search(words.lower()) is not None
