"""What the user decided for good: kept by workspace or for all of them, listed, taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from app.hands.permissions.access import Answer
from app.hands.permissions.rules import Rule
from app.hands.permissions.verdict import Category
from app.models import tables
from app.models.fields import clean_text
from app.models.statements import HOLE
from app.workspace.errors import NotFound
from app.workspace.rows import RuleRow
from app.workspace.store import Store

_ALL = tables.Rule.select().order_by(tables.Rule.created.desc(), tables.Rule.id.desc())
_IN_WORKSPACE = _ALL.where(tables.Rule.workspace.in_([HOLE, HOLE]))

EVERYWHERE = ""
"""The workspace of a rule for all of them."""


def add_rule(store: Store, rule: Rule, workspace: str) -> RuleRow:
    """The same rule again changes nothing. Raises ``StorageError``."""
    row = RuleRow(
        store.new_id("rule"),
        clean_text(workspace),
        rule.answer,
        rule.tool,
        tuple(clean_text(word) for word in rule.words),
        rule.exact,
        tuple(sorted(rule.categories)),
        store.now(),
    )
    with store.database.transaction():
        for known in list_rules(store):
            if rule_of(known) == rule_of(row) and known.workspace == row.workspace:
                return known
        store.database.insert(tables.Rule, row)
    return row


def list_rules(store: Store, workspace: str | None = None) -> list[RuleRow]:
    """Those that hold in one workspace, or all; the newest first."""
    if workspace is None:
        rows = store.database.rows(RuleRow, _ALL)
    else:
        rows = store.database.rows(RuleRow, _IN_WORKSPACE, clean_text(workspace), EVERYWHERE)
    return [replace(row, words=tuple(row.words), categories=tuple(row.categories)) for row in rows]


def rules_of(store: Store, workspace: str) -> list[Rule]:
    """As they are held against a call."""
    return [rule_of(row) for row in list_rules(store, workspace)]


def revoke_rule(store: Store, id: str) -> None:
    """From the next question on it decides nothing. Raises ``NotFound``."""
    if store.database.find(RuleRow, tables.Rule.select().where(tables.Rule.id == id)) is None:
        raise NotFound("This rule is not there any more.")
    store.database.run(tables.Rule.delete().where(tables.Rule.id == id))


def rule_of(row: RuleRow) -> Rule:
    """A row as the value that decides. What is not known any more covers nothing."""
    known = get_args(Category)
    return Rule(
        cast(Answer, row.answer),
        tuple(row.words),
        row.exact,
        frozenset(cast(Category, name) for name in row.categories if name in known),
        row.tool,
    )
