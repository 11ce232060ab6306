"""Rules of the user: kept for a workspace or for all, each once, and what old ones have become."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.permissions.rules import Rule
from app.infra.paths import DataFolder
from app.models.connection import Sqlite
from app.models.database import open_database
from app.models.migration import known_migrations, migrate
from app.workspace.errors import NotFound
from app.workspace.rules import EVERYWHERE, add_rule, list_rules, revoke_rule, rules_of
from app.workspace.store import Store
from tests.models.stands import HandClock, counted_ids, fresh_folder

PUSH = Rule("allow", ("git", "push"), exact=False, categories=frozenset({"publish"}))
NEVER = Rule("deny", ("rm",), exact=False)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(open_database(fresh_folder(tmp_path), HandClock()), HandClock(), counted_ids())


def test_a_rule_comes_back_as_it_was_given(store: Store) -> None:
    add_rule(store, PUSH, "/work")
    assert rules_of(store, "/work") == [PUSH]
    assert rules_of(store, "/elsewhere") == []


def test_a_rule_for_all_workspaces_holds_in_each(store: Store) -> None:
    add_rule(store, NEVER, EVERYWHERE)
    assert rules_of(store, "/work") == [NEVER] == rules_of(store, "/elsewhere")


def test_the_same_rule_is_kept_once_and_another_one_beside_it(store: Store) -> None:
    first = add_rule(store, PUSH, "/work")
    assert add_rule(store, PUSH, "/work") == first
    add_rule(store, Rule("allow", ("git", "push"), exact=True, categories=PUSH.categories), "/work")
    assert len(list_rules(store)) == 2


def test_a_rule_that_is_taken_back_is_gone_and_cannot_be_taken_back_again(store: Store) -> None:
    rule = add_rule(store, PUSH, "/work")
    revoke_rule(store, rule.id)
    assert list_rules(store) == []
    with pytest.raises(NotFound):
        revoke_rule(store, rule.id)


def test_what_is_no_known_finding_covers_nothing(store: Store) -> None:
    rule = Rule("allow", ("x",), exact=True, categories=frozenset({"a new word", "publish"}))  # type: ignore[arg-type]
    add_rule(store, rule, "/work")
    assert rules_of(store, "/work")[0].categories == {"publish"}


def test_rules_that_were_texts_still_allow_what_they_said(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "old").create()
    database = Sqlite(folder.database)
    migrate(database, folder.database, folder.backups, HandClock(), known_migrations()[:5])
    database.sql(
        "INSERT INTO rules VALUES ('rule_1', 'write_file: notes: old.md', '/work', '2026-11-30T10:00:00.000Z')"
    )
    database.close()
    store = Store(open_database(folder, HandClock()), HandClock(), counted_ids())
    assert rules_of(store, "/work") == [
        Rule("allow", ("notes: old.md",), exact=True, categories=frozenset({"changes"}), tool="write_file")
    ]
