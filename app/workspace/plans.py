"""Plans: what a conversation works off step by step. At most one of a conversation is not ended, its newest one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.models.fields import clean, clean_text
from app.models.statements import HOLE, ONE
from app.models.tables import Plan
from app.workspace.conversations import raise_revision
from app.workspace.errors import NotFound
from app.workspace.rows import PlanRow
from app.workspace.store import Store

_BY_ID = Plan.select().where(Plan.id == HOLE)
_NEWEST = Plan.select().where(Plan.conversation == HOLE).order_by(Plan.created.desc()).limit(ONE)


def add_plan(
    store: Store,
    conversation_id: str,
    *,
    id: str,
    title: str,
    setter: str,
    turn: str | None,
    state: str,
    content: Mapping[str, Any],
) -> PlanRow:
    """It has not begun. One before it that has not ended is ended by it. Raises ``NotFound``."""
    with store.database.transaction():
        before = find_plan(store, conversation_id)
        if before is not None and before.ended is None:
            change_plan(store, before.id, state="replaced", ended=store.now())
        row = PlanRow(
            id=id,
            conversation=conversation_id,
            revision=raise_revision(store, conversation_id),
            title=clean_text(title),
            setter=setter,
            turn=turn,
            state=state,
            content=clean(dict(content)),
            created=store.after(before.created) if before else store.now(),
            begun=None,
            ended=None,
        )
        store.database.insert(Plan, row)
    return row


def change_plan(store: Store, id: str, **values: Any) -> PlanRow:
    """Replace what is given; ``content`` as a whole. Raises ``NotFound``."""
    with store.database.transaction():
        row = load_plan(store, id)
        if "content" in values:
            values["content"] = clean(dict(values["content"]))
        values["revision"] = raise_revision(store, row.conversation)
        store.database.update(Plan, id, values)
        return load_plan(store, id)


def find_plan(store: Store, conversation_id: str) -> PlanRow | None:
    """The newest one of a conversation."""
    return store.database.find(PlanRow, _NEWEST, conversation_id)


def load_plan(store: Store, id: str) -> PlanRow:
    """Raises ``NotFound``."""
    row = store.database.find(PlanRow, _BY_ID, id)
    if row is None:
        raise NotFound("This plan is not there any more.")
    return row


def list_open(store: Store) -> list[PlanRow]:
    """Those of all conversations that have not ended."""
    return store.database.rows(PlanRow, Plan.select().where(Plan.ended.is_null()))


def list_plans(store: Store, conversation_id: str, limit: int = 20) -> list[PlanRow]:
    """The newest ones, newest first."""
    query = Plan.select().where(Plan.conversation == conversation_id)
    return store.database.rows(PlanRow, query.order_by(Plan.created.desc()).limit(limit))
