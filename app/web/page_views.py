"""What templates receive beside messages: the rail, the queue, the composer, the panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from app.group_chat.mentions import read_mentions
from app.group_chat.roles import USER
from app.hands.permissions.access import AccessMode
from app.hands.permissions.confinement import Badge
from app.web.attachment_views import AttachmentView, attachment_views
from app.web.plain import one_line, plain
from app.web.times import local
from app.workspace.attached import LARGEST_FILE, attachments_of
from app.workspace.rows import ConversationRow, QueuedRow, QueueKind

UNTITLED = "New conversation"

_AT_A_GLANCE = 8
"""Models that are found by looking."""

RailState = Literal["rest", "running", "asking", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class RailItem:
    id: str
    title: str
    state: RailState
    current: bool

    @property
    def href(self) -> str:
        return f"/conversations/{self.id}"


@dataclass(frozen=True, slots=True)
class RailGroup:
    """Conversations under one heading."""

    heading: str
    items: tuple[RailItem, ...]


@dataclass(frozen=True, slots=True)
class Shell:
    """What every page with a rail shows around its own content."""

    groups: tuple[RailGroup, ...]
    address: str
    """Host and port this browser talks to."""
    screen: str = ""
    """The part of the workspace that is open: ``settings`` or nothing."""
    jobs: int = 0
    """Background jobs that run."""


@dataclass(frozen=True, slots=True)
class Toast:
    """Something that was done, and the way to take it back."""

    text: str
    undo: str = ""
    """Address that a POST undoes it at, or nothing."""


@dataclass(frozen=True, slots=True)
class Callee:
    """A member that the user can call by ``@`` and its name."""

    id: str
    name: str
    hue: str
    about: str


@dataclass(frozen=True, slots=True)
class QueuedView:
    id: str
    number: int
    text: str
    kind: QueueKind
    first: bool
    last: bool
    to: tuple[Callee, ...] = ()
    """Whom it calls by name."""
    files: tuple[AttachmentView, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelOption:
    """One model that can be picked alone. ``value`` is ``provider/model``."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Picker:
    """Which model answers: the order of the settings, or one alone."""

    pinned: bool
    """One answers alone."""
    order: str
    """Who answers by the order, in words."""
    options: tuple[ModelOption, ...]
    later: bool = False
    """The choice counts from the next turn."""

    @property
    def is_long(self) -> bool:
        """Long enough to be searched."""
        return len(self.options) > _AT_A_GLANCE


@dataclass(frozen=True, slots=True)
class Composer:
    """``enter`` is what Enter does while a run is live; the other one is on Ctrl Enter."""

    live: bool
    enter: Literal["steer", "queue"]
    picker: Picker
    access: AccessMode = "standard"
    badge: Badge | None = None
    """What the system keeps commands from; None while that is not known yet."""
    largest_file: int = LARGEST_FILE
    """Bytes of one that can be attached."""


@dataclass(frozen=True, slots=True)
class UsageLine:
    """What one model has used in a conversation."""

    model: str
    calls: int
    input_tokens: int
    """Cached ones included."""
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """How much of a budget is spent, in US dollars."""

    what: str
    spent: float
    allowed: float


@dataclass(frozen=True, slots=True)
class UsageView:
    lines: tuple[UsageLine, ...]
    tokens: int
    cost: float | None
    """US dollars, of the calls whose price is known; None where none is."""
    partly_unknown: bool
    budgets: tuple[BudgetLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationView:
    id: str
    title: str
    named: bool
    """It has a title that can be changed."""
    workspace: str

    @property
    def href(self) -> str:
        return f"/conversations/{self.id}"


def conversation_view(row: ConversationRow) -> ConversationView:
    title = one_line(row.title)
    return ConversationView(row.id, title or UNTITLED, bool(title), one_line(row.workspace))


def rail_item(row: ConversationRow, *, state: RailState = "rest", current: bool = False) -> RailItem:
    return RailItem(row.id, one_line(row.title) or UNTITLED, state, current)


def rail_groups(
    rows: Iterable[ConversationRow],
    *,
    today: date,
    current: str | None = None,
    states: Mapping[str, RailState] = {},
) -> tuple[RailGroup, ...]:
    """The newest first, under Today and Earlier. ``today`` is a day of this machine's zone."""
    now: list[RailItem] = []
    before: list[RailItem] = []
    for row in rows:
        place = now if local(row.updated).date() >= today else before
        place.append(rail_item(row, state=states.get(row.id, "rest"), current=row.id == current))
    groups = (RailGroup("Today", tuple(now)), RailGroup("Earlier", tuple(before)))
    return tuple(group for group in groups if group.items)


def queue_view(rows: Sequence[QueuedRow], roster: Sequence[Callee] = ()) -> tuple[QueuedView, ...]:
    """``roster``: who can be called."""
    last, known = len(rows), {one.id: one for one in roster}
    names = {one.id: one.name for one in roster}
    return tuple(
        QueuedView(
            row.id,
            number,
            plain(row.text),
            row.kind,
            number == 1,
            number == last,
            tuple(known[id] for id in read_mentions(USER, row.text, names).to),
            attachment_views(row.conversation, attachments_of(row.data)),
        )
        for number, row in enumerate(rows, start=1)
    )
