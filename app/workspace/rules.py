"""What the user allowed for good: kept by workspace, listed, taken back."""

from __future__ import annotations

from app.models.fields import clean_text
from app.models.tables import Rule
from app.workspace.errors import NotFound
from app.workspace.rows import RuleRow
from app.workspace.store import Store


def add_rule(store: Store, text: str, workspace: str) -> RuleRow:
    """The same rule again changes nothing. Raises ``StorageError``."""
    with store.database.transaction():
        for row in list_rules(store, workspace):
            if row.text == clean_text(text):
                return row
        row = RuleRow(store.new_id("rule"), clean_text(text), clean_text(workspace), store.now())
        store.database.insert(Rule, row)
        return row


def list_rules(store: Store, workspace: str | None = None) -> list[RuleRow]:
    """Those of one workspace, or all; the newest first."""
    query = Rule.select().order_by(Rule.created.desc(), Rule.id.desc())
    if workspace is not None:
        query = query.where(Rule.workspace == clean_text(workspace))
    return store.database.rows(RuleRow, query)


def revoke_rule(store: Store, id: str) -> None:
    """From the next question on it allows nothing. Raises ``NotFound``."""
    if store.database.find(RuleRow, Rule.select().where(Rule.id == id)) is None:
        raise NotFound("This rule is not there any more.")
    store.database.run(Rule.delete().where(Rule.id == id))
