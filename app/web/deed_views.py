"""What the Files tab and the page of a deed are given: from deeds, changes and diffs to values for templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.group_chat.deeds import Deed, undone
from app.group_chat.undoing import Undone
from app.hands.permissions.names import shown
from app.hands.undo.tally import Line, Tally, key_of
from app.hands.undo.texts import TextDiff, in_words
from app.hands.undo.values import Change, Outcome
from app.web.plain import one_line
from app.web.times import clock_time, local
from app.web.tool_words import target_of, words_for
from app.workspace.rows import MessageRow

DEEDS_SHOWN = 20
"""In the panel."""

LINES_SHOWN = 1_000
"""Of one diff."""

LONGEST_LINE = 2_000
"""Characters."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class FileLine:
    """One changed file in a list."""

    key: str
    path: str
    added: int | None
    removed: int | None
    word: str
    """``new``, ``deleted``, or ``changed`` where no lines are counted."""


@dataclass(frozen=True, slots=True)
class DeedView:
    """One turn, or one restore, and how it is taken back."""

    id: str
    href: str
    title: str
    about: str
    """What the turn was asked for."""
    is_restore: bool
    files: tuple[FileLine, ...]
    count: int
    undone_at: datetime | None

    @property
    def verb(self) -> str:
        return "Undo this" if self.is_restore else "Undo turn"

    @property
    def noun(self) -> str:
        return "restore" if self.is_restore else "turn"

    @property
    def counted(self) -> str:
        return files_in_words(self.count)


@dataclass(frozen=True, slots=True)
class StepView:
    """One call of a turn."""

    id: str
    verb: str
    target: str
    time: datetime


@dataclass(frozen=True, slots=True)
class DiffLine:
    kind: Literal["same", "added", "removed", "hunk"]
    text: str
    number: str = ""


@dataclass(frozen=True, slots=True)
class DiffView:
    """What one deed did to one file."""

    file: FileLine
    lines: tuple[DiffLine, ...]
    note: str
    """In the place of lines, or of those that are not shown."""


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A path that the user changed too."""

    key: str
    path: str
    why: str
    mine: str
    before: str
    diff: DiffView
    """From what was there before to what is there now."""


@dataclass(frozen=True, slots=True)
class PreviewView:
    """What taking it back would come to now."""

    count: int
    conflicts: tuple[str, ...]
    left: tuple[str, ...]


def deed_views(
    conversation: str, deeds: Sequence[Deed], about: Mapping[str, str], limit: int | None = DEEDS_SHOWN
) -> tuple[DeedView, ...]:
    """The newest first. ``about`` says what each turn was about, by its id."""
    back = undone(deeds)
    titles = {deed.id: _title(deed) for deed in deeds}
    return tuple(
        DeedView(
            id=deed.id,
            href=f"/conversations/{conversation}/changes/{deed.id}",
            title=titles[deed.id],
            about=_took_back(deed, titles) if deed.is_restore else about.get(deed.id, ""),
            is_restore=deed.is_restore,
            files=file_lines(deed.tally.lines),
            count=deed.tally.files,
            undone_at=local(back[deed.id].started) if deed.id in back else None,
        )
        for deed in deeds[::-1][:limit]
    )


def file_lines(lines: Iterable[Line]) -> tuple[FileLine, ...]:
    words = {"added": "new", "removed": "deleted", "changed": ""}
    return tuple(
        FileLine(
            line.key,
            one_line(line.path),
            line.added,
            line.removed,
            words[line.kind] or ("changed" if line.added is None else ""),
        )
        for line in lines
    )


def all_lines(tally: Tally, changes: Iterable[Change]) -> tuple[FileLine, ...]:
    """Every file that was changed; those beyond the tally without a count of lines."""
    listed = {line.key for line in tally.lines}
    rest = (change for change in changes if key_of(change.path) not in listed)
    lines = (Line(key_of(change.path), shown(change.path), change.kind) for change in rest)
    return file_lines([*tally.lines, *lines])


def step_views(deed: Deed, rows: Iterable[MessageRow]) -> tuple[StepView, ...]:
    """``rows`` are the messages of the turn."""
    calls = {row.data.get("call_id"): row.data for row in rows if row.kind == "tool_call"}
    return tuple(
        StepView(
            step.id,
            words_for(step.tool).verb,
            target_of(step.tool, calls.get(step.call_id, {}).get("arguments") or {}),
            local(step.started),
        )
        for step in deed.steps
    )


def diff_view(change: Change, diff: TextDiff) -> DiffView:
    is_counted = not diff.note
    line = Line(
        key_of(change.path),
        shown(change.path),
        change.kind,
        diff.added if is_counted else None,
        diff.removed if is_counted else None,
    )
    lines = tuple(_numbered(diff.lines[:LINES_SHOWN]))
    note = diff.note
    if len(diff.lines) > LINES_SHOWN:
        note = f"Cut: {LINES_SHOWN:,} of {len(diff.lines):,} lines are shown."
    return DiffView(file_lines([line])[0], lines, note)


def conflict_views(asked: Undone) -> tuple[ConflictView, ...]:
    return tuple(
        ConflictView(
            key_of(one.path),
            shown(one.path),
            one.why,
            in_words(one.ours),
            in_words(one.theirs),
            diff_view(Change(one.path, one.theirs, one.ours), diff),
        )
        for one, diff in zip(asked.outcome.conflicts, asked.apart, strict=True)
    )


def preview_view(outcome: Outcome) -> PreviewView:
    return PreviewView(
        len(outcome.changes),
        tuple(shown(one.path) for one in outcome.conflicts),
        tuple(f"{shown(one.path)}: {one.why}" for one in outcome.left),
    )


def files_in_words(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _title(deed: Deed) -> str:
    return f"{'Restore' if deed.is_restore else 'Turn'} of {clock_time(local(deed.started))}"


def _took_back(deed: Deed, titles: Mapping[str, str]) -> str:
    of = titles.get(deed.steps[0].undoes or "", "an earlier turn")
    part = "a part of the " if deed.steps[0].call_id else "the "
    return f"Took back {part}{of[:1].lower()}{of[1:]}"


def _numbered(lines: Iterable[str]) -> Iterator[DiffLine]:
    """Each line with its number in the file it stands in: of a removed one before, else after."""
    before = after = 0
    for line in lines:
        if match := _HUNK.match(line):
            before, after = int(match[1]), int(match[2])
            yield DiffLine("hunk", f"from line {max(after, 1)}")
            continue
        sign, text = line[:1], line[1 : LONGEST_LINE + 1]
        text += "…" if len(line) > LONGEST_LINE + 1 else ""
        if sign == "+":
            yield DiffLine("added", text, str(after))
        elif sign == "-":
            yield DiffLine("removed", text, str(before))
        elif sign == "\\":
            yield DiffLine("hunk", "no line end after the last line")
            continue
        else:
            yield DiffLine("same", text, str(after))
        before += sign != "+"
        after += sign != "-"
