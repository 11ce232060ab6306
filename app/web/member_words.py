"""How members are called and coloured on the page."""

from __future__ import annotations

from app.web.plain import one_line

_LABELS = {"user": "You", "commander": "Commander"}
_HUES = {"commander": "cmd"}


def member_label(member: str) -> str:
    return _LABELS.get(member) or one_line(member).replace("_", " ").capitalize() or "Somebody"


def member_hue(member: str) -> str:
    return _HUES.get(member, "")
