"""Who searches the web: the engine that was chosen, with its own key or address, and nobody else in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.errors import Refused
from app.hands.search_engines import Brave, DuckDuckGo, SearchEngine, SearXNG, Tavily
from app.infra.key_places import KeyFile
from app.infra.secrets import SecretStore
from app.workspace.errors import InvalidSource
from app.workspace.settings import set_setting
from app.workspace.store import Store
from app.workspace.web_search import forget_key, key_place, search_engine, store_key

KEY, OTHER = "BSA-0123456789", "BSA-9876543210"


@pytest.fixture
def secrets(tmp_path: Path) -> SecretStore:
    return SecretStore(tmp_path / "secrets.json", [KeyFile(tmp_path / "secrets.key")])


def refusal(engine: SearchEngine) -> str:
    with pytest.raises(Refused) as raised:
        engine.question("ferry", 3)
    assert raised.value.code == "E_DENIED"
    return raised.value.sentence


def test_without_a_choice_it_is_the_one_that_needs_nothing(store: Store, secrets: SecretStore) -> None:
    both = {"BRAVE_API_KEY": KEY, "TAVILY_API_KEY": KEY}
    assert search_engine(store, secrets, both) == DuckDuckGo()


@pytest.mark.parametrize(
    ("name", "made", "variable"), [("brave", Brave, "BRAVE_API_KEY"), ("tavily", Tavily, "TAVILY_API_KEY")]
)
def test_a_stored_key_goes_before_that_of_the_environment(
    name: str, made: type[Brave | Tavily], variable: str, store: Store, secrets: SecretStore
) -> None:
    set_setting(store, "web.search", name)
    assert key_place(secrets, {}, name) == "nowhere"
    assert "its key is not set" in refusal(search_engine(store, secrets, {}))
    assert search_engine(store, secrets, {variable: f" {OTHER}\n"}) == made(OTHER)
    assert key_place(secrets, {variable: OTHER}, name) == "environment"
    store_key(secrets, name, f"{KEY}\n")
    assert search_engine(store, secrets, {variable: OTHER}) == made(KEY)
    assert key_place(secrets, {variable: OTHER}, name) == "stored"
    forget_key(secrets, name)
    assert search_engine(store, secrets, {variable: OTHER}) == made(OTHER)


def test_the_key_of_one_engine_is_never_that_of_another(store: Store, secrets: SecretStore) -> None:
    store_key(secrets, "brave", KEY)
    set_setting(store, "web.search", "tavily")
    assert "Tavily cannot search" in refusal(search_engine(store, secrets, {"BRAVE_API_KEY": KEY}))


def test_a_server_is_asked_at_the_address_that_was_entered(store: Store, secrets: SecretStore) -> None:
    set_setting(store, "web.search", "searxng")
    assert "the address of its server is not set" in refusal(search_engine(store, secrets, {}))
    set_setting(store, "web.searxng_url", "http://127.0.0.1:8888")
    assert search_engine(store, secrets, {}) == SearXNG("http://127.0.0.1:8888")


def test_a_key_that_cannot_be_read_is_said_and_nobody_else_is_asked(
    tmp_path: Path, store: Store, secrets: SecretStore
) -> None:
    set_setting(store, "web.search", "brave")
    store_key(secrets, "brave", KEY)
    (tmp_path / "secrets.key").unlink()
    unreadable = SecretStore(tmp_path / "secrets.json", [KeyFile(tmp_path / "secrets.key")])
    assert "its key cannot be read" in refusal(search_engine(store, unreadable, {"BRAVE_API_KEY": OTHER}))


def test_what_cannot_be_a_key_is_not_stored(secrets: SecretStore) -> None:
    for typed in ("", "two words", "schlüssel"):
        with pytest.raises(InvalidSource):
            store_key(secrets, "brave", typed)
    assert secrets.names() == ()


def test_a_key_stands_in_no_file_as_it_is(tmp_path: Path, store: Store, secrets: SecretStore) -> None:
    store_key(secrets, "brave", KEY)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
