"""Times, lengths and amounts as the page writes them, in the zone of this machine."""

from __future__ import annotations

from datetime import UTC, date, datetime


def local(iso: str) -> datetime:
    """A stored time as one of this machine's zone."""
    return datetime.fromisoformat(iso).astimezone()


def utc(moment: datetime) -> str:
    """``2026-11-30T14:10:24.871Z``, for machines."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock_time(moment: datetime) -> str:
    """``15:10``"""
    return f"{moment:%H:%M}"


def day_name(day: date) -> str:
    """``Monday 30 November``"""
    return f"{day:%A} {day.day} {day:%B}"


def full_time(moment: datetime) -> str:
    """``30 November 2026, 15:10``"""
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def duration(seconds: float) -> str:
    """``40 ms``, ``0.4 s``, ``12 s``, ``2:05``, ``1:02:05``"""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return elapsed(seconds)


def elapsed(seconds: float) -> str:
    """``0:08``, ``2:05``, ``1:02:05``"""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def amount(number: int) -> str:
    """``812``, ``3.2k``, ``41k``, ``1.9M``"""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}{letter}" if value < 10 else f"{value:.0f}{letter}"
    return str(number)


def dollars(cost: float) -> str:
    """``$0.31``; below a cent as many places as say something."""
    return f"${cost:.2f}" if cost == 0 or cost >= 0.01 else f"${cost:.4f}"
