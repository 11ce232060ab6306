"""What a model did not get of a history, in words: what is missing, why, and what to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.events import Omission
from app.engine.provider import LeftOut, Missing

_MISSING: Mapping[Missing, str] = {
    "thinking": "earlier thinking",
    "old_calls": "the tool calls of older steps, which are told in words instead",
    "pictures": "the pictures, which are only mentioned",
    "all_but_text": "everything but its text",
}
_OF_PICTURES: frozenset[Missing] = frozenset({"pictures", "all_but_text"})


def omission(label: str, left: LeftOut) -> Omission:
    """``label`` is the ``provider/model`` that was asked."""
    if "beginning" in left.parts:
        return Omission(label, left.parts, _lost_beginning(label, left))
    missing = " and ".join(_MISSING[part] for part in left.parts)
    reason = f"{label} is sent this conversation without {missing}: its server refused it. The chat keeps all of it."
    if _OF_PICTURES & set(left.parts):
        reason += " Choose a model that sees where the pictures matter."
    return Omission(label, left.parts, reason)


def _lost_beginning(label: str, left: LeftOut) -> str:
    holds = f"holds {left.window:,}" if left.window else "holds less"
    return (
        f"{label} read only {left.read:,} of about {round(left.sent, -2):,} tokens: its server {holds} and dropped the"
        " beginning, instructions included, without a word. Give the model a larger window there, or enter this one"
        " under Settings, Models, so that the conversation is organised in time."
    )
