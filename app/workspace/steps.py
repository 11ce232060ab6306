"""The steps of a conversation: calls of tools, and restores, with the snapshots before and after each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.models.fields import clean, clean_text
from app.models.statements import HOLE
from app.models.tables import Step
from app.workspace.rows import StepRow
from app.workspace.store import Store

_OPEN = Step.select().where(Step.after.is_null()).order_by(Step.started, Step.id)
_OPEN_HERE = _OPEN.where(Step.conversation == HOLE)

MOST = 2_000
"""Steps that are listed: as many as there are snapshots."""

RESTORE = "restore"
"""Stands in the place of a tool where the user took something back."""


def begin_step(
    store: Store,
    conversation_id: str,
    *,
    turn: str,
    call_id: str,
    tool: str,
    before: str,
    undoes: str | None = None,
) -> StepRow:
    """Keep that a call begins; ``before`` is the id of a snapshot. Raises ``StorageError``."""
    with store.database.transaction():
        last = store.database.values(
            Step.select(Step.started)
            .where(Step.conversation == conversation_id)
            .order_by(Step.started.desc())
            .limit(1)
        )
        row = StepRow(
            id=store.new_id("step"),
            conversation=conversation_id,
            turn=turn,
            call_id=clean_text(call_id),
            tool=clean_text(tool),
            undoes=undoes,
            before=before,
            after=None,
            tally=None,
            started=store.after(last[0][0]) if last else store.now(),
        )
        store.database.insert(Step, row)
    return row


def end_step(store: Store, step: StepRow, *, after: str, tally: Mapping[str, Any]) -> None:
    """Keep what came of it; the earlier steps of its turn leave the tally to it. One that has ended stays as it is."""
    with store.database.transaction():
        ended = {"after": after, "tally": clean(dict(tally))}
        if store.database.run(Step.update(ended).where(Step.id == step.id, Step.after.is_null())):
            store.database.run(Step.update(tally=None).where(Step.turn == step.turn, Step.id != step.id))


def drop_step(store: Store, step: StepRow) -> None:
    """It changed nothing."""
    store.database.run(Step.delete().where(Step.id == step.id))


def list_steps(store: Store, conversation_id: str) -> list[StepRow]:
    """The newest ``MOST``, oldest first."""
    query = Step.select().where(Step.conversation == conversation_id)
    return store.database.rows(StepRow, query.order_by(Step.started.desc(), Step.id.desc()).limit(MOST))[::-1]


def open_steps(store: Store, conversation_id: str | None = None) -> list[StepRow]:
    """Those whose end nobody has kept yet, oldest first: they run, or a crash cut them off."""
    if conversation_id is not None:
        return store.database.rows(StepRow, _OPEN_HERE, conversation_id)
    return store.database.rows(StepRow, _OPEN)
