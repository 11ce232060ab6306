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
    """Median of ours over median of the reference, measured in the same rounds; ``scale`` makes raw values readable."""
    mine, theirs = median(ours), median(reference)
    return Figure(what, mine / theirs, "×", aim, f"{mine * scale:.1f} {unit} against {theirs * scale:.1f}")


def interleaved(rounds: int, *works: Callable[[], float]) -> list[list[float]]:
    """Run each work once a round, so that a busy moment of the machine falls on all; one list of values for each."""
    values: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for kept, work in zip(values, works, strict=True):
            kept.append(work())
    return values
