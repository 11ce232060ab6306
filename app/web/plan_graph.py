"""The steps of a plan as a picture: a column for each step of the way, lines to those that wait. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.group_chat.plan_values import Status, Step

WIDEST, TALLEST = 8, 6
"""Columns and rows up to which the numbers in the picture can be read; a bigger plan is its list."""

COLUMN, ROW, MARGIN = 46, 30, 16

SHAPES: dict[Status, str] = {
    "done": "done",
    "in_progress": "live",
    "blocked": "needs",
    "failed": "failed",
    "skipped": "",
    "pending": "",
}


@dataclass(frozen=True, slots=True)
class Node:
    index: int
    x: int
    y: int
    shape: str
    """Class of what it looks like, or nothing."""


@dataclass(frozen=True, slots=True)
class Edge:
    path: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: int
    height: int
    label: str
    """The picture in a sentence."""


def plan_graph(steps: Sequence[Step]) -> Graph | None:
    """None for a plan that goes straight on, and for one that is too big."""
    columns: dict[int, int] = {}
    for step in steps:
        columns[step.index] = max((columns[before] + 1 for before in step.wait_for), default=0)
    heights = Counter(columns.values())
    is_straight = max(heights.values()) == 1
    if is_straight or len(heights) > WIDEST or max(heights.values()) > TALLEST:
        return None
    height = max(heights.values()) * ROW
    places: dict[int, tuple[int, int]] = {}
    taken: Counter[int] = Counter()
    for index, column in columns.items():
        y = (height - heights[column] * ROW) // 2 + taken[column] * ROW + ROW // 2
        places[index] = MARGIN + column * COLUMN, y
        taken[column] += 1
    return Graph(
        nodes=tuple(Node(step.index, *places[step.index], SHAPES[step.status]) for step in steps),
        edges=tuple(
            _edge(places[before], places[step.index], steps[before - 1].is_over)
            for step in steps
            for before in _direct(step, steps)
        ),
        width=2 * MARGIN + (len(heights) - 1) * COLUMN,
        height=height,
        label=_in_words(steps),
    )


def _direct(step: Step, steps: Sequence[Step]) -> list[int]:
    """Those it waits for, without those that it waits for through others: fewer lines say the same."""
    through = {earlier for before in step.wait_for for earlier in _all_before(steps[before - 1], steps)}
    return [before for before in step.wait_for if before not in through]


def _all_before(step: Step, steps: Sequence[Step]) -> set[int]:
    return set(step.wait_for).union(*(_all_before(steps[before - 1], steps) for before in step.wait_for))


def _edge(start: tuple[int, int], end: tuple[int, int], is_done: bool) -> Edge:
    (x, y), (to_x, to_y) = start, end
    bend = (to_x - x) // 2
    return Edge(f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}", is_done)


def _in_words(steps: Sequence[Step]) -> str:
    parts = []
    for step in steps:
        after = f" after {', '.join(map(str, step.wait_for))}" if step.wait_for else ""
        parts.append(f"{step.index}{after}, {step.status.replace('_', ' ')}")
    return f"Plan graph: {'; '.join(parts)}."
