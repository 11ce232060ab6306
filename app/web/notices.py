"""What a notice says, by its name: what happened, why if known, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.web.plain import one_line, plain
from app.web.times import amount


@dataclass(frozen=True, slots=True)
class NoticeWords:
    """One line, or, where the user has to decide, a heading with what stands under it."""

    text: str
    more: str = ""
    action: str = ""
    """``Continue`` or nothing."""
    needs_user: bool = False


def notice_words(data: Mapping[str, Any], text: str) -> NoticeWords:
    """The words of one notice; one that has been settled offers nothing any more."""
    say = _NOTICES.get(str(data.get("notice", "")))
    words = say(data, plain(text)) if say else NoticeWords(plain(text))
    return NoticeWords(words.text, words.more, needs_user=words.needs_user) if data.get("settled") else words


def _interrupted(data: Mapping[str, Any], text: str) -> NoticeWords:
    why = text or "The run was interrupted when Plancia restarted"
    return NoticeWords(
        why.removesuffix("."), "What was written is kept. Nothing runs until you decide.", "Continue", True
    )


def _stopped(data: Mapping[str, Any], text: str) -> NoticeWords:
    return NoticeWords("Stopped by you. What was written is kept.", action="Continue")


def _limit(data: Mapping[str, Any], text: str) -> NoticeWords:
    why = {"loop": "The same call came again and again, so the run was stopped."}
    default = "The run reached its limit of steps."
    return NoticeWords(text or why.get(str(data.get("reason")), default), action="Continue")


def _retry(data: Mapping[str, Any], text: str) -> NoticeWords:
    seconds = max(1, round(float(data.get("wait_ms", 0)) / 1000))
    return NoticeWords(
        f"{_stop(text)} Trying again in {seconds}\u00a0s (attempt {int(data.get('attempt', 1)) + 1})."
    )


def _compaction(data: Mapping[str, Any], text: str) -> NoticeWords:
    before, after = amount(int(data.get("before", 0))), amount(int(data.get("after", 0)))
    return NoticeWords(
        f"Older messages were summarised for the model: {before} → {after} tokens. You still see all of them."
    )


def _fallback(data: Mapping[str, Any], text: str) -> NoticeWords:
    model, why = one_line(str(data.get("to", ""))), one_line(str(data.get("reason", "")))
    return NoticeWords(f"{_stop(why)} {model} goes on from here.".strip())


def _loop_warning(data: Mapping[str, Any], text: str) -> NoticeWords:
    name, count = one_line(str(data.get("name", ""))), data.get("count")
    return NoticeWords(f"The same call of {name} came {count} times. At the fifth it is stopped.")


def _stop(sentence: str) -> str:
    return sentence if not sentence or sentence[-1] in ".!?" else f"{sentence}."


_NOTICES = {
    "interrupted": _interrupted,
    "stopped": _stopped,
    "limit": _limit,
    "retry": _retry,
    "compaction": _compaction,
    "fallback": _fallback,
    "loop_warning": _loop_warning,
}
