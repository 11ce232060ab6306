"""One measured figure beside what it is to reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` in ``unit`` (``×`` for a ratio), the most it should be, and the raw values behind it."""

    what: str
    value: float
    unit: str
    aim: float
    raw: str = ""

    @property
    def reached(self) -> bool:
        return self.value <= self.aim

    def __str__(self) -> str:
        mark = "  " if self.reached else "! "
        measured = f"{mark}{self.what:<58}{self.value:>9.2f} {self.unit:<3}"
        return f"{measured} aim ≤ {self.aim:g} {self.unit:<3} {self.raw}".rstrip()


def ratio(
    what: str, ours: Sequence[float], reference: Sequence[float], aim: float, *, unit: str, scale: float
) -> Figure:
    """Ours over the reference, the median of the rounds: what disturbs the machine disturbs both of one round.

    ``scale`` makes the raw values readable; they are medians too.
    """
    value = median(mine / theirs for mine, theirs in zip(ours, reference, strict=True))
    raw = f"{median(ours) * scale:.1f} {unit} against {median(reference) * scale:.1f}"
    return Figure(what, value, "×", aim, raw)


def interleaved(rounds: int, *works: Callable[[], float]) -> list[list[float]]:
    """Run each work once a round, so that a busy moment of the machine falls on all; one list of values for each."""
    values: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for kept, work in zip(values, works, strict=True):
            kept.append(work())
    return values
