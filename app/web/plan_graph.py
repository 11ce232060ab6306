"""The steps of a plan as a picture: a column for each step of the way, lines to those that wait. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


Place = tuple[int, int]

Slot = int | tuple[int, int]
"""A step, or a line from one to another."""


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
    lines = list(_lines(steps))
    # A line that passes a column has a place there, so that it does not cross the steps of that column.
    slots: dict[int, list[Slot]] = {column: [] for column in sorted(set(columns.values()))}
    for index, column in columns.items():
        slots[column].append(index)
    for line in lines:
        for column in range(columns[line[0]] + 1, columns[line[1]]):
            slots[column].append(line)
    tallest = max(map(len, slots.values()))
    if tallest == 1 or len(slots) > WIDEST or tallest > TALLEST:
        return None
    places = _places(slots, tallest * ROW)
    return Graph(
        nodes=tuple(Node(step.index, *places[step.index, step.index], SHAPES[step.status]) for step in steps),
        edges=tuple(_edge(line, columns, places, steps[line[0] - 1].is_over) for line in lines),
        width=2 * MARGIN + (len(slots) - 1) * COLUMN,
        height=tallest * ROW,
        label=_in_words(steps),
    )


def _places(slots: Mapping[int, Sequence[Slot]], height: int) -> dict[tuple[int, Slot], Place]:
    """Of each step, and of each line in the columns that it passes."""
    places: dict[tuple[int, Slot], Place] = {}
    for column, taken in slots.items():
        top = (height - len(taken) * ROW) // 2
        for row, slot in enumerate(taken):
            key = slot if isinstance(slot, int) else column
            places[key, slot] = MARGIN + column * COLUMN, top + row * ROW + ROW // 2
    return places


def _lines(steps: Sequence[Step]) -> Iterator[tuple[int, int]]:
    """From each step that is waited for to who waits; not where another line says the same already."""
    before: dict[int, set[int]] = {}
    for step in steps:
        through = set[int]().union(*(before[earlier] for earlier in step.wait_for))
        before[step.index] = through.union(step.wait_for)
        yield from ((earlier, step.index) for earlier in step.wait_for if earlier not in through)


def _edge(
    line: tuple[int, int],
    columns: Mapping[int, int],
    places: Mapping[tuple[int, Slot], Place],
    is_done: bool,
) -> Edge:
    before, after = line
    passed = range(columns[before] + 1, columns[after])
    x, y = places[before, before]
    path = f"M{x} {y}"
    for to_x, to_y in (*(places[column, line] for column in passed), places[after, after]):
        bend = (to_x - x) // 2
        path += f"C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
    return Edge(path, is_done)


def _in_words(steps: Sequence[Step]) -> str:
    parts = []
    for step in steps:
        after = f" after {', '.join(map(str, step.wait_for))}" if step.wait_for else ""
        parts.append(f"{step.index}{after}, {step.status.replace('_', ' ')}")
    return f"Plan graph: {'; '.join(parts)}."
