"""What came of a task: as its asker, a model, is told, and what a person has to read of that."""

from __future__ import annotations

from app.engine.events import Done

_FAILED, _ADVICE = "E_TASK: ", " What it did so far is done."


def outcome(name: str, done: Done) -> str:
    """For who gave the task; ``name`` is what its member is called."""
    said = done.text.strip()
    if done.status == "completed":
        return f"[{name} has done it, in {done.steps} steps.]\n{said or '(no words)'}"
    why = {
        "failed": done.error.message if done.error else "it failed",
        "aborted": "the user stopped it",
        "limit": "it took as many steps as it may, or went in circles",
        "interrupted": done.error.message if done.error else "it was cut off",
    }[done.status]
    words = f" It had said last:\n{said}" if said else ""
    return (
        f"{_FAILED}{name} did not finish it: {why}{_ADVICE} Go on without it, do it another way, or give it again with "
        f"what is left.{words}"
    )


def for_reader(outcome: str) -> str:
    """The member's last words, or why it did not finish; nothing of what is meant for a model."""
    if outcome.startswith(_FAILED):
        return outcome.removeprefix(_FAILED).partition(_ADVICE)[0]
    return outcome.partition("\n")[2] if outcome.startswith("[") else outcome
