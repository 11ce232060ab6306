"""Who worked when, as a picture: a row for each member, bars for its time, dashed where it waited for the user.

Only what is stored is drawn, and nothing by the clock: a bar that goes on ends at the edge. So a picture that was drawn
some time ago is the one that a page draws now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.web.member_words import Person
from app.web.times import elapsed

ROWS = 12
"""Of the picture; the table below it has all of them."""

WIDTH, LEFT, RIGHT = 300, 84, 296
TOP, ROW, BAR = 16, 24, 12
"""Of the picture: its width, where its bars begin and end, the place of the first row, of the next one, of a bar."""

Wait = tuple[datetime, datetime | None]


@dataclass(frozen=True, slots=True)
class Span:
    """One turn of a member. ``waits`` are the times in which it needed the user, ``calls`` when it called a tool."""

    who: Person
    what: str
    began: datetime
    ended: datetime | None
    waits: tuple[Wait, ...] = ()
    calls: tuple[datetime, ...] = ()
    is_cut: bool = False
    """It did not come to its end."""


@dataclass(frozen=True, slots=True)
class Bar:
    kind: str
    """``run``, ``wait`` or ``cut``."""
    x: float
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    who: Person
    y: int
    bars: tuple[Bar, ...]
    ticks: str
    """Path of the marks of its tool calls, or nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the table."""

    who: Person
    what: str
    start: str
    took: str
    """Nothing while it goes on."""
    waited: str
    calls: int


@dataclass(frozen=True, slots=True)
class Timeline:
    label: str
    """The picture in a sentence."""
    whole: str
    lines: tuple[Line, ...]
    entries: tuple[Entry, ...]
    width: int
    height: int
    left: int
    right: int


def timeline(spans: Sequence[Span]) -> Timeline | None:
    """None where fewer than two turns would be drawn."""
    if len(spans) < 2:
        return None
    began = min(span.began for span in spans)
    end = max(time for span in spans for time in _times(span))
    goes_on = any(span.ended is None for span in spans)
    scale = _Scale(began, max((end - began) * (1.08 if goes_on else 1), timedelta(seconds=1)))
    lines = tuple(_line(span, scale, TOP + 8 + ROW * at) for at, span in enumerate(spans[:ROWS]))
    entries = tuple(_entry(span, scale) for span in spans)
    whole = elapsed((end - began).total_seconds())
    took = ", ".join(_in_words(entry) for entry in entries)
    height = TOP + 6 + ROW * len(lines)
    return Timeline(f"Timeline of {whole}: {took}.", whole, lines, entries, WIDTH, height, LEFT, RIGHT)


@dataclass(frozen=True, slots=True)
class _Scale:
    began: datetime
    length: timedelta

    def x(self, time: datetime) -> float:
        return round(LEFT + (RIGHT - LEFT) * ((time - self.began) / self.length), 1)

    def clock(self, time: datetime) -> str:
        return elapsed((time - self.began).total_seconds())


def _times(span: Span) -> list[datetime]:
    waits = [time for wait in span.waits for time in wait]
    return [time for time in (span.began, span.ended, *waits) if time is not None]


def _line(span: Span, scale: _Scale, y: int) -> Line:
    bars: list[Bar] = []
    at: datetime | None = span.began
    run = "cut" if span.is_cut else "run"
    for start, stop in span.waits:
        if at is not None:
            bars.append(_bar(span, scale, run, at, start))
        bars.append(_bar(span, scale, "wait", start, stop))
        at = stop
    if at is not None:
        bars.append(_bar(span, scale, run, at, span.ended))
    ticks = "".join(f"M{scale.x(time)} {y + 2}v{BAR - 4}" for time in span.calls)
    return Line(span.who, y, tuple(bars), ticks)


def _bar(span: Span, scale: _Scale, kind: str, start: datetime, stop: datetime | None) -> Bar:
    x = scale.x(start)
    width = round((scale.x(stop) if stop else RIGHT) - x, 1)
    what = f"{span.who.label} {'waited for you' if kind == 'wait' else 'at work'}"
    time = f"{scale.clock(start)} to {scale.clock(stop)}" if stop else f"since {scale.clock(start)}"
    return Bar(kind, x, max(width, 1.5), f"{what}, {time}")


def _entry(span: Span, scale: _Scale) -> Entry:
    waited = sum(((stop - start).total_seconds() for start, stop in span.waits if stop), 0.0)
    return Entry(
        who=span.who,
        what=span.what,
        start=scale.clock(span.began),
        took=elapsed((span.ended - span.began).total_seconds()) if span.ended else "",
        waited=elapsed(waited) if waited else "",
        calls=len(span.calls),
    )


def _in_words(entry: Entry) -> str:
    waited = f", {entry.waited} of it waiting for you" if entry.waited else ""
    return f"{entry.who.label} {entry.took or 'goes on'}{waited}"
