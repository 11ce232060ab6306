"""What templates receive of a message: frozen values, one class a kind; ``views`` makes them from rows.

A template draws one kind in all its states; which one is decided by ``kind`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from markupsafe import Markup

from app.web.attachment_views import AttachmentView
from app.web.long_texts import Rest
from app.web.member_words import Person
from app.web.notices import NoticeWords
from app.web.others import Other
from app.web.proposed_plans import ProposedPlan
from app.web.tool_words import Output, Shown
from app.workspace.rows import MessageState

DrawnKind = Literal[
    "user", "assistant", "tool_call", "approval", "form", "dispatch", "plan", "notice", "error"
]
"""The kinds that have a template; the others come with the features that make them."""

DRAWN_KINDS: tuple[DrawnKind, ...] = get_args(DrawnKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the frame of every article needs."""

    id: str
    kind: DrawnKind
    member: str
    label: str
    """Who speaks, as a reader says it."""
    hue: str
    """Class of the member's colour, or nothing."""
    state: MessageState
    time: datetime
    """In the zone of this machine."""
    waits: bool = False
    """It needs the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserView(Entry):
    text: str
    rest: Rest | None
    """What follows it, where all of it is too long for a page."""
    sent: str | None
    """``steer`` where it was folded into a running turn."""
    to: tuple[Person, ...] = ()
    """Whom it goes to, where that is not Commander alone."""
    unknown: tuple[str, ...] = ()
    """Names in it that nobody has."""
    absent: tuple[Person, ...] = ()
    """Agents that it calls and that could not be asked."""
    files: tuple[AttachmentView, ...] = ()
    """What was sent with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantView(Entry):
    html: Markup
    """All of the text; of one that streams, its closed blocks."""
    tail: Markup | None
    """The open end of a text that streams; None for every other."""
    rest: Rest | None
    """What follows them, where all of it is too long for a page."""
    thought: str
    thought_seconds: float | None
    """None while it streams: it may think again."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The end of what a program wrote, in its colours. ``note`` says what is missing before it, or nothing."""

    closed: Markup
    """The lines that have ended."""
    open: Markup
    """The last line, which may still grow."""
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView(Entry):
    icon: str
    verb: str
    target: str
    stat: str
    """How it stands, in a word or two: ``running``, ``exit 1``, …; nothing where it simply ended."""
    is_bad: bool
    """``stat`` tells of something that went wrong."""
    seconds: float | None
    arguments: tuple[tuple[str, Shown], ...]
    said: str
    """What is said of the call beside its output, or nothing."""
    screen: Screen | None
    """Of a command, and of every tool that still runs; then ``output`` is not drawn."""
    output: Output
    whole: str
    """Address of all of an output of which ``screen`` has the end; nothing where that is all."""
    job: str
    """Address of the background job that it has to do with, or nothing."""
    pictures: tuple[str, ...]
    """Addresses of what the model was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeView(Entry):
    words: NoticeWords
    resume: str
    """Address that a POST continues the run at."""
    organised: str
    """Address of what a compaction left out, or nothing."""
    until: datetime | None
    """When the wait that the notice tells of is over; None where none lasts."""
    hurry: str
    """Address that a POST ends that wait at."""
    deed: str
    """Address of the restore that it tells of, or nothing."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A link by what it does."""

    label: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorView(Entry):
    title: str
    more: str
    detail: str
    reference: str
    model: str
    """``provider/model`` that was asked last, or nothing."""
    remedy: Remedy | None
    """What puts it right, where a page of ours can."""
    another_model: bool
    """Another model may do."""
    others: tuple[Other, ...]
    """Who else was tried, or rests."""
    can_retry: bool
    resume: str
    """Address that a POST tries the run again at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalView(Entry):
    question: str
    what: str
    """What the payload is: ``Command``, ``Change``."""
    payload: str
    plan: ProposedPlan | None
    """Of a plan: what is drawn in the place of the payload."""
    reasons: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    may_add_network: bool
    rules: tuple[str, ...]
    """What "for this run" and "always" may remember, the narrowest first."""
    """What "Always allow" would add; empty where there is nothing to add."""
    can_repeat: bool
    can_last: bool
    """It may be allowed for more than once."""
    decision: str
    """``allow_once`` and its like; empty while it waits, and where it ended without an answer."""
    decided: str
    """How it was answered, in a sentence; empty while it waits."""
    decided_at: datetime | None
    reason: str
    """What the user said with a refusal."""
    decide: str
    """Address that a POST answers at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """One question of a form. ``type`` as the member gave it."""

    id: str
    name: str
    type: str
    label: str
    required: bool
    options: tuple[tuple[str, str, bool], ...]
    """Each as it is sent, as it is read, and whether it is chosen."""
    value: str
    """What stands in it; of a boolean ``yes`` or nothing."""
    help: str
    error: str

    @property
    def described(self) -> str:
        """Ids of what describes it."""
        notes = {"error": self.error, "help": self.help}
        return " ".join(f"{self.id}-{name}" for name, words in notes.items() if words)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormView(Entry):
    title: str
    fields: tuple[FieldView, ...]
    wrong: str
    """The labels of those whose answers could not be taken; nothing else."""
    answer: str
    """``sent``, ``declined`` or ``stale``; empty while it waits."""
    ended: str
    """The same in a sentence."""
    ended_at: datetime | None
    answers: tuple[tuple[str, str], ...]
    """Labels, and what was answered."""
    send: str
    """Address that a POST answers at."""

    @property
    def takes_files(self) -> bool:
        return any(field.type == "file" for field in self.fields)

    @property
    def first_wrong(self) -> FieldView | None:
        return next((field for field in self.fields if field.error), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchView(Entry):
    """``how`` names what is done: ``dispatch``, ``worker``, ``again``, ``handoff``, ``handback``, ``takeback``
    or ``answer``, a hand-off that leaves the floor where it was."""

    how: str
    to: Person
    beside: bool
    """It was given in the step of the one before it, to be done at the same time."""
    job: str
    """Its first line, or the reason."""
    whole: str
    """All of it, where that is more."""
    step: int
    """Of a plan; 0 for what is of none."""
    task: str
    """Address of the task, where it is one."""
    take_back: str
    """Address that a POST takes the floor back at, while it is held by this hand-off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry(Entry):
    title: str
    figures: str
    """How its steps stand, in words."""
    board: str
    """Address of the page with its board."""


MessageView = (
    UserView
    | AssistantView
    | ToolView
    | NoticeView
    | ErrorView
    | ApprovalView
    | FormView
    | DispatchView
    | PlanEntry
)
