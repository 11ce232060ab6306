"""What a notice says, by its name: what happened, why if known, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.engine.loop_guard import IDLE_WARN_AT
from app.web.plain import first_sentence, one_line, plain
from app.web.times import amount, clock_time, local


@dataclass(frozen=True, slots=True)
class NoticeWords:
    """One line, or, where the user has to decide, a heading with what stands under it."""

    text: str
    wait: str = ""
    """How long is waited, where ``text`` leads up to it; ``tail`` comes after."""
    tail: str = ""
    more: str = ""
    action: str = ""
    """``Continue`` or nothing."""
    needs_user: bool = False


def notice_words(data: Mapping[str, Any], text: str) -> NoticeWords:
    """The words of one notice; one that has been settled offers nothing any more."""
    say = _NOTICES.get(str(data.get("notice", "")))
    words = say(data, plain(text)) if say else NoticeWords(plain(text))
    return replace(words, action="") if data.get("settled") else words


def of_a_task(words: NoticeWords, name: str) -> NoticeWords:
    """Of a member that was sent: the turn goes on without it, so nobody waits, and what is offered is its job anew."""
    text = f"{name}: {words.text[:1].lower()}{words.text[1:]}"
    return replace(words, text=text, more="", needs_user=False, action=words.action and "Retry")


def _interrupted(data: Mapping[str, Any], text: str) -> NoticeWords:
    if data.get("reason") == "output_limit":
        again = _stop(text) or "It was written on once and cut off again."
        return _decide("The answer reached the model's output limit", f"{again} What was written is kept.")
    why = text or "The run was interrupted when Plancia restarted"
    return _decide(why.removesuffix("."), "What was written is kept. Nothing runs until you decide.")


def _decide(text: str, more: str) -> NoticeWords:
    return NoticeWords(text, more=more, action="Continue", needs_user=True)


def _stopped(data: Mapping[str, Any], text: str) -> NoticeWords:
    return NoticeWords("Stopped by you. What was written is kept.", action="Continue")


def _limit(data: Mapping[str, Any], text: str) -> NoticeWords:
    steps, name = int(data.get("steps") or 0), one_line(str(data.get("name") or ""))
    if data.get("reason") == "loop":
        return _decide(
            f"Stopped: the run went in circles{name and f' with {name}'}",
            "The same calls brought nothing new. Write below what to do differently, or press Continue to let it "
            "try again.",
        )
    return _decide(
        f"Stopped after {steps:,} steps, as many as one turn may take"
        if steps
        else "Stopped at the step limit",
        "What was done is kept. Continue lets it take as many steps again.",
    )


def _retry(data: Mapping[str, Any], text: str) -> NoticeWords:
    seconds = max(1, round(float(data.get("wait_ms", 0)) / 1000))
    attempt = int(data.get("attempt", 1)) + 1
    return NoticeWords(
        f"{_stop(first_sentence(text)[0])} Trying again in", f"{seconds}\u00a0s", f"(attempt {attempt})."
    )


def _compaction(data: Mapping[str, Any], text: str) -> NoticeWords:
    before, after = amount(int(data.get("before", 0))), amount(int(data.get("after", 0)))
    return NoticeWords(f"Conversation organised: {before} → {after} tokens")


def _fallback(data: Mapping[str, Any], text: str) -> NoticeWords:
    model, why = one_line(str(data.get("to", ""))), one_line(str(data.get("reason", "")))
    return NoticeWords(f"{_stop(first_sentence(why)[0])} {model} goes on from here.".strip())


def _omission(data: Mapping[str, Any], text: str) -> NoticeWords:
    return NoticeWords(one_line(text))


def _loop_warning(data: Mapping[str, Any], text: str) -> NoticeWords:
    name, count = one_line(str(data.get("name", ""))), int(data.get("count") or 0)
    seen = (
        f"The last {count} steps" if count >= IDLE_WARN_AT else f"{count} rounds of the same call of {name}"
    )
    return NoticeWords(
        f"{seen} brought nothing new. The model was told; if it goes on like this, the run is stopped."
    )


def _restored(data: Mapping[str, Any], text: str) -> NoticeWords:
    files, first = int(data.get("files") or 0), one_line(str(data.get("first") or ""))
    what = first if files == 1 else f"{files:,} files"
    part = "a part of the" if data.get("part") else "the"
    began = str(data.get("began") or "")
    of = f"{data.get('of', 'turn')}{began and f' of {clock_time(local(began))}'}"
    left = "".join(f" Not brought back: {_stop(one_line(str(each)))}" for each in data.get("left") or ())
    return NoticeWords(f"You took back {part} {of}: {what}.{left}")


def _not_undoable(data: Mapping[str, Any], text: str) -> NoticeWords:
    return NoticeWords(f"What this turn changes in files cannot be undone. {one_line(text)}")


def _stop(sentence: str) -> str:
    return sentence if not sentence or sentence[-1] in ".!?" else f"{sentence}."


_NOTICES = {
    "interrupted": _interrupted,
    "stopped": _stopped,
    "limit": _limit,
    "retry": _retry,
    "compaction": _compaction,
    "fallback": _fallback,
    "omission": _omission,
    "loop_warning": _loop_warning,
    "restored": _restored,
    "not_undoable": _not_undoable,
}
