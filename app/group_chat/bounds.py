"""How much work one message of the user may set off, so that nothing goes round in circles or grows without end."""

from __future__ import annotations

from collections.abc import Sequence

DEEPEST = 5
"""Dispatches below each other; Commander itself is at depth 0."""

MOST_AT_ONCE = 20
"""Tasks of a conversation that are queued, run or wait."""

MOST_TURNS = 100
"""Turns that one message of the user may set off, its own included."""

MOST_PARALLEL = 4
"""Tasks of a conversation that run at the same time; the others wait for their place."""


def refuse_task(asking: Sequence[str], to: str | None, *, at_once: int, turns: int) -> str | None:
    """Why a task may not be given, for the model; None where it may.

    ``asking`` are the members whose tasks wait for it, Commander first and who asks last; ``to`` is None for a worker
    without a name, which is a new one each time. ``at_once`` counts the tasks that have not ended, ``turns`` those
    that the user's last message has set off so far.
    """
    if to is not None and to in asking:
        return f'"{to}" waits for this very task and cannot take it. Do it yourself, or give it to somebody else.'
    if len(asking) > DEEPEST:
        return f"Tasks are passed on {DEEPEST} times at most. Do this one yourself and report what you found."
    if at_once >= MOST_AT_ONCE:
        return (
            f"{at_once} tasks are open, no more can be. Wait for their results before you give another one."
        )
    return refuse_turn(turns)


def refuse_turn(turns: int) -> str | None:
    """Why nobody else may take a turn; ``turns`` as above."""
    if turns >= MOST_TURNS:
        return (
            f"The user's message has set off {turns} turns, no more are taken. Sum up what is done and what is"
            " missing, and let the user decide how to go on."
        )
    return None


def free_places(running: int) -> int:
    """How many more tasks may begin to run beside those that do."""
    return max(0, MOST_PARALLEL - running)
