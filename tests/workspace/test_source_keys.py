"""The keys of a model source: stored with it, gone with it, never half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.key_places import KeyFile
from app.infra.paths import DataFolder
from app.infra.secrets import SecretStore
from app.models.database import open_database
from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.model_sources import list_sources
from app.workspace.source_keys import (
    add_source_with_keys,
    change_source_with_keys,
    checked_key,
    remove_source_with_keys,
)
from app.workspace.store import Store

MINE = SourceConfig("mine", "openai", "http://127.0.0.1:9/v1", ("m",))


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path).create()


@pytest.fixture
def store(folder: DataFolder) -> Iterator[Store]:
    database = open_database(folder, SystemClock())
    yield Store(database, SystemClock(), new_id)
    database.close()


@pytest.fixture
def secrets(folder: DataFolder) -> SecretStore:
    return SecretStore(folder.secrets, [KeyFile(folder.root / "secrets.key")])


def test_a_source_names_its_keys_and_the_secrets_hold_them(store: Store, secrets: SecretStore) -> None:
    added = add_source_with_keys(store, secrets, MINE, ["sk-one", " sk-two\n"])
    assert [secrets.get(name) for name in added.keys] == ["sk-one", "sk-two"]
    assert list_sources(store) == (added,)


def test_variables_that_were_named_stay_beside_them(store: Store, secrets: SecretStore) -> None:
    source = SourceConfig("mine", "openai", "https://mine/v1", keys=("OPENAI_API_KEY",))
    added = add_source_with_keys(store, secrets, source, ["sk-one"])
    assert added.keys[0] == "OPENAI_API_KEY"
    assert len(added.keys) == 2


def test_a_name_that_is_taken_keeps_its_own_keys(store: Store, secrets: SecretStore) -> None:
    first = add_source_with_keys(store, secrets, MINE, ["sk-one"])
    with pytest.raises(InvalidSource, match="already"):
        add_source_with_keys(store, secrets, MINE, ["sk-two"])
    assert [secrets.get(name) for name in secrets.names()] == ["sk-one"]
    assert list_sources(store) == (first,)


def test_one_bad_key_of_several_leaves_nothing(store: Store, secrets: SecretStore) -> None:
    with pytest.raises(InvalidSource):
        add_source_with_keys(store, secrets, MINE, ["sk-one", "two words"])
    assert secrets.names() == ()
    assert list_sources(store) == ()


def test_a_bad_address_stores_no_key(store: Store, secrets: SecretStore) -> None:
    with pytest.raises(InvalidSource):
        add_source_with_keys(store, secrets, SourceConfig("mine", "openai", "nonsense"), ["sk-one"])
    assert secrets.names() == ()


def test_a_removed_source_takes_its_keys_with_it_and_no_others(store: Store, secrets: SecretStore) -> None:
    add_source_with_keys(store, secrets, MINE, ["sk-one"])
    other = SourceConfig("other", "openai", "http://127.0.0.1:9/v1")
    add_source_with_keys(store, secrets, other, ["sk-two"])
    remove_source_with_keys(store, secrets, "mine")
    assert [secrets.get(name) for name in secrets.names()] == ["sk-two"]


def test_new_keys_take_the_place_of_the_old_ones(store: Store, secrets: SecretStore) -> None:
    add_source_with_keys(store, secrets, MINE, ["sk-one", "sk-two"])
    changed = change_source_with_keys(store, secrets, replace(MINE, models=("m",)), ["sk-three"])
    assert (list_sources(store), changed.models) == ((changed,), ("m",))
    assert [secrets.get(name) for name in secrets.names()] == ["sk-three"]
    assert change_source_with_keys(store, secrets, MINE, []).keys == ()
    assert secrets.names() == ()


def test_keys_that_are_not_spoken_of_stay(store: Store, secrets: SecretStore) -> None:
    added = add_source_with_keys(store, secrets, MINE, ["sk-one"])
    assert change_source_with_keys(store, secrets, replace(MINE, models=("m",)), None).keys == added.keys
    assert [secrets.get(name) for name in secrets.names()] == ["sk-one"]


def test_a_change_that_cannot_be_leaves_the_old_keys(store: Store, secrets: SecretStore) -> None:
    added = add_source_with_keys(store, secrets, MINE, ["sk-one"])
    for source, keys in ((replace(MINE, base_url="nonsense"), ["sk-two"]), (MINE, ["sk-two", "two words"])):
        with pytest.raises(InvalidSource):
            change_source_with_keys(store, secrets, source, keys)
    with pytest.raises(NotFound):
        change_source_with_keys(store, secrets, replace(MINE, name="nobody"), ["sk-two"])
    assert [secrets.get(name) for name in secrets.names()] == ["sk-one"]
    assert list_sources(store) == (added,)


@pytest.mark.parametrize("key", ["", "   ", "two words", "sk-käse", "sk-\x00", "line\nbreak", "x" * 4001])
def test_what_is_no_key_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(InvalidSource) as refusal:
        checked_key(key)
    assert not key.strip() or key.strip() not in str(refusal.value)
