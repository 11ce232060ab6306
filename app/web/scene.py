"""What the templates of a conversation are given, read from the store and the room at one moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.group_chat.bus import Bus
from app.group_chat.events import DeskEvent
from app.group_chat.plan_records import KeptPlan, read
from app.group_chat.roles import COMMANDER
from app.group_chat.room import Room
from app.hands.machine import Machine
from app.infra.feed import Feed
from app.providers.demo import LABEL as DEMO_LABEL
from app.providers.demo import MODEL as DEMO
from app.providers.demo import SUGGESTIONS
from app.providers.routing import Sources
from app.web.attachment_views import attachment_views
from app.web.deed_views import deed_views
from app.web.entries import DRAWN_KINDS, MessageView
from app.web.floor_views import announcement, floor_view
from app.web.job_views import JobView, job_view
from app.web.member_words import FindAgent
from app.web.page_views import (
    BudgetLine,
    Callee,
    Composer,
    ModelOption,
    Picker,
    RailState,
    Shell,
    UsageLine,
    UsageView,
    conversation_view,
    queue_view,
    rail_groups,
)
from app.web.plain import first_line, one_line
from app.web.plan_views import BoardView, Traces, board_view, earlier_view
from app.web.spans import newest_spans
from app.web.task_views import TaskView, TurnView, task_view, turn_name, turn_view
from app.web.timeline import timeline
from app.workspace import budgets, conversations, messages, plans, queue, tasks, turns, usage
from app.workspace.attached import attachments_of
from app.workspace.rows import ConversationRow, MessageRow, TurnRow
from app.workspace.settings import get_setting
from app.workspace.store import Store

ENTRIES_SHOWN = 100
"""Messages of a conversation that a page shows at first; earlier ones are loaded on request."""

TURNS_SHOWN, TASKS_SHOWN = 50, 100
"""The newest ones, in the panel of a conversation."""

SENT_SHOWN = 20
"""Messages of the user whose files stand in the panel of a conversation."""

JOBS_SHOWN = 8
"""In the panel of a conversation."""

View = Callable[[MessageRow], MessageView]


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """What answers where nobody chose; ``ready`` is False while only the demo does."""

    label: str
    ready: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    """The way to the messages above those that a page shows."""

    href: str
    count: int


class RailOrder:
    """Conversations move in the list when the desk says that they changed, and stand still while runs write into them.

    So a list that was drawn and one that is loaded later have the same order.
    """

    def __init__(self, desk: Feed[DeskEvent]) -> None:
        self._desk = desk
        self._seen = desk.number
        self._times: dict[str, str] = {}

    def still(self, rows: Sequence[ConversationRow]) -> list[ConversationRow]:
        """The rows with the time at which each was last told of, the newest first, pinned ones before all others."""
        told = self._desk.since(self._seen)
        self._seen = self._desk.number
        moved = {event.conversation for _, event in told} if told is not None else set(self._times)
        known = {id: time for id, time in self._times.items() if id not in moved}
        self._times = {row.id: known.get(row.id, row.updated) for row in rows}
        rows = [replace(row, updated=self._times[row.id]) for row in rows]
        return sorted(rows, key=lambda row: (row.pinned, row.updated, row.id), reverse=True)


class Scenes:
    """Reads what there is to show. Every method gives the names that one template needs."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        sources: Sources,
        machine: Machine,
        address: str,
        agents: FindAgent,
    ) -> None:
        """``agents`` knows what members are called."""
        self.store = store
        self.agents = agents
        self._bus = bus
        self._sources = sources
        self._machine = machine
        self._address = address
        self._order = RailOrder(bus.desk)

    def shell(self, current: str | None = None, screen: str = "") -> dict[str, Any]:
        """Around every page: the list of conversations, and where we are."""
        troubled: dict[str, RailState] = {
            conversation: "failed" if state == "failed" else "interrupted"
            for conversation, state in turns.last_states(self.store).items()
            if state in ("failed", "interrupted")
        }
        groups = rail_groups(
            self._order.still(conversations.list_recent(self.store)),
            today=self.store.clock.now().astimezone().date(),
            current=current,
            states=troubled | {room.id: _busy(room) for room in self._bus.live_rooms()},
        )
        return {"shell": Shell(groups, self._address, screen, self._machine.jobs.count_running())}

    def conversation(self, room: Room) -> dict[str, Any]:
        """Title bar, model picker, floor line, queue, composer."""
        row, roster = conversations.load_conversation(self.store, room.id), self._roster(room)
        return {
            "conversation": conversation_view(row),
            "floor": floor_view(room.at_work, room.holder, self._jobs_at_work(room), self.agents),
            "queue": queue_view(queue.list_queued(self.store, room.id), roster),
            "composer": self._composer(room, row),
            "roster": roster,
            "examples": SUGGESTIONS,
        }

    def models(self) -> tuple[str, ...]:
        """Every model on offer, as ``provider/model``."""
        return tuple(choice.label for choice in self._sources.choices())

    def announcement(self, room: Room) -> str:
        return announcement(room.at_work, room.holder, self.agents)

    def details(self, room: Room) -> dict[str, Any]:
        """The panel: tasks, background jobs, plan, changed files, usage."""
        return {**self.tasks(room), **self.plans(room), **self.files(room), **self.used(room)}

    def tasks(self, room: Room) -> dict[str, Any]:
        turns = room.list_turns()
        return {
            "turns": self._turns(room, turns),
            "timeline": timeline(newest_spans(self.store, turns, room.list_tasks(), self.agents)),
            "jobs": self._jobs_of(room),
        }

    def files(self, room: Room) -> dict[str, Any]:
        sent = messages.list_with_files(self.store, room.id, SENT_SHOWN)
        files = (file for row in sent for file in attachments_of(row.data))
        return {
            "deeds": deed_views(room.id, room.undoing.deeds(), self.abouts(room)),
            "attached": attachment_views(room.id, files),
        }

    def used(self, room: Room) -> dict[str, Any]:
        return {"usage": self._usage(room.id)}

    def abouts(self, room: Room) -> dict[str, str]:
        """What each turn was about, by its id."""
        return {
            turn.id: turn_name(turn, messages.find_message(self.store, turn.trigger))
            for turn in room.list_turns()
            if turn.task is None
        }

    def jobs_stand(self) -> Sequence[object]:
        """How all jobs stand; equal as long as none began, ended, or is kept from now on."""
        return self._machine.jobs.list_all()

    def log(self, room: Room, view: View, before: int | None = None) -> dict[str, Any]:
        """The newest messages, or those before a position, and the way to earlier ones."""
        rows = room.list_messages(before=before, limit=ENTRIES_SHOWN)
        first = rows[0].position if rows else 1
        earlier = (
            Earlier(f"/conversations/{room.id}/earlier?before={first}", first - 1) if first > 1 else None
        )
        return {"messages": [view(row) for row in rows if row.kind in DRAWN_KINDS], "earlier": earlier}

    def default_model(self) -> DefaultModel:
        label = self._sources.default_label()
        return DefaultModel(model_label(label or "none"), label not in (None, DEMO))

    def _composer(self, room: Room, row: ConversationRow) -> Composer:
        enter: Literal["steer", "queue"] = (
            "queue" if get_setting(self.store, "composer.enter") == "queue" else "steer"
        )
        found = self._machine.confinement.known
        return Composer(
            live=bool(room.at_work),
            enter=enter,
            picker=self._picker(room, row.model),
            access=row.access,
            badge=found.badge if found else None,
        )

    def _jobs_at_work(self, room: Room) -> dict[str, str]:
        """What those were sent for who are at work, by their turns."""
        at_work = {floor.turn for floor in room.at_work}
        if len(at_work) < 2:
            return {}
        return {
            row.turn: first_line(row.job, 60) for row in room.list_tasks() if row.turn in at_work and row.turn
        }

    def _roster(self, room: Room) -> tuple[Callee, ...]:
        """Commander first, then the agents that can be asked now."""
        commander = Callee(COMMANDER, "Commander", "cmd", "Leads the conversation and works with all of them")
        agents = (
            Callee(each.id, one_line(each.name), each.color, one_line(each.description))
            for each in room.team()
        )
        return (commander, *agents)

    def _picker(self, room: Room, chosen: str | None) -> Picker:
        """Every model on offer; one that was chosen and is gone stays visible."""
        labels = [choice.label for choice in self._sources.choices()]
        if chosen and chosen not in labels:
            labels.append(chosen)
        first = self._sources.default_label() or ""
        others = [group.label for group in self._sources.groups() if group.label != first]
        return Picker(
            pinned=chosen is not None,
            order=in_order(model_label(first), others),
            options=tuple(ModelOption(label, model_label(label), label == chosen) for label in labels),
            later=room.counts_later(chosen),
        )

    def _turns(self, room: Room, rows: Sequence[TurnRow]) -> tuple[TurnView, ...]:
        """The newest turns that answered the user, each with the tasks that were given in it."""
        answers = [row for row in rows if row.task is None][-TURNS_SHOWN:]
        spent = usage.spent_by_turn(self.store, room.id)
        by_id = {row.id: row for row in rows}
        given: defaultdict[str, list[TaskView]] = defaultdict(list)
        for task in room.list_tasks()[-TASKS_SHOWN:]:
            works = task.turn or ""
            given[task.given].append(task_view(task, by_id.get(works), self.agents, spent.get(works)))
        return tuple(
            turn_view(
                row,
                messages.find_message(self.store, row.trigger),
                self.agents,
                spent.get(row.id),
                given[row.id],
            )
            for row in answers
        )

    def plans(self, room: Room) -> dict[str, Any]:
        """The board of the newest plan, and the plans before it."""
        rows = plans.list_plans(self.store, room.id)
        board = self._board(room, read(rows[0])) if rows else None
        return {"plan": board, "earlier_plans": [earlier_view(row) for row in rows[1:]]}

    def _board(self, room: Room, kept: KeptPlan) -> BoardView:
        given = tasks.list_given(self.store, kept.id)
        worked = turns.list_of_tasks(self.store, [task.id for task in given])
        forms = messages.list_of_kind(self.store, room.id, "form")
        traces = Traces(
            given,
            worked,
            usage.spent_by_turn(self.store, room.id),
            [form for form in forms if form.state == "streaming"],
        )
        return board_view(kept, traces, room.planning.member_ids(), self.agents)

    def _jobs_of(self, room: Room) -> tuple[JobView, ...]:
        return tuple(job_view(self.store, job) for job in self._machine.jobs.list_all(room.id)[:JOBS_SHOWN])

    def _usage(self, conversation: str) -> UsageView:
        lines = tuple(
            UsageLine(
                model=each.key,
                calls=each.calls,
                input_tokens=each.input_tokens + each.cache_read_tokens + each.cache_write_tokens,
                output_tokens=each.output_tokens,
                cost=None if each.calls == each.unknown_costs else each.cost,
            )
            for each in usage.totals(self.store, "model", conversation=conversation)
        )
        whole = usage.total(self.store, conversation=conversation)
        known = whole.calls > whole.unknown_costs
        limits = budgets.list_limits(self.store, conversation)
        return UsageView(
            lines,
            whole.tokens,
            whole.cost if known else None,
            known and whole.unknown_costs > 0,
            tuple(BudgetLine(limit.what, limit.spent, limit.allowed) for limit in limits),
        )


def _busy(room: Room) -> RailState:
    return "asking" if any(floor.state == "asking" for floor in room.at_work) else "running"


def in_order(first: str, others: Sequence[str]) -> str:
    """Who answers by the order of the settings."""
    return ", then ".join((first, *others[:1])) + (", …" if len(others) > 1 else "")


def model_label(label: str) -> str:
    """A model as a person reads it; the demo says on its face what it is."""
    return DEMO_LABEL if label == DEMO else label
