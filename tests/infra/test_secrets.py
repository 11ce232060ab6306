"""Keys of model sources: encrypted, durable, honest about where they are."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import chainer, fail, null

from app.infra.errors import SecretsError, SecretsUnreadable
from app.infra.key_places import KeyFile, SystemKeyring
from app.infra.secrets import SecretStore

KEY = "sk-live-4f9a0c7e21"


@pytest.fixture
def store(tmp_path: Path) -> SecretStore:
    return with_key_file(tmp_path)


def with_key_file(folder: Path) -> SecretStore:
    return SecretStore(folder / "secrets.json", [KeyFile(folder / "secrets.key")])


class Drawer:
    """A key place in memory that can be locked."""

    name = "drawer"
    where = "In a drawer."

    def __init__(self, usable: bool = True) -> None:
        self.usable = usable
        self.keys: dict[str, bytes] = {}

    def works(self) -> bool:
        return self.usable

    def load(self, account: str) -> bytes | None:
        if not self.usable:
            raise SecretsUnreadable("The drawer is locked.")
        return self.keys.get(account)

    def save(self, account: str, key: bytes) -> None:
        self.keys[account] = key


def test_secrets_that_are_stored_at_once_are_all_kept(tmp_path: Path) -> None:
    with_key_file(tmp_path).set("first", KEY)

    def store_some(number: int) -> None:
        for place in range(10):
            with_key_file(tmp_path).set(f"{number}-{place}", KEY)

    threads = [threading.Thread(target=store_some, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(with_key_file(tmp_path).names()) == 41


def test_a_secret_is_kept_for_the_next_process(tmp_path: Path, store: SecretStore) -> None:
    store.set("openai", KEY)
    store.set("lab", "schlüssel 🔑")
    again = with_key_file(tmp_path)
    assert again.names() == ("lab", "openai")
    assert again.get("openai") == KEY
    assert again.get("lab") == "schlüssel 🔑"
    assert again.get("unknown") is None
    assert again.values() == ("schlüssel 🔑", KEY)


def test_an_empty_store_has_nothing_and_makes_nothing(tmp_path: Path, store: SecretStore) -> None:
    assert (store.names(), store.get("x"), store.values()) == ((), None, ())
    store.delete("x")
    assert list(tmp_path.iterdir()) == []


def test_no_file_holds_the_secret_and_all_are_private(tmp_path: Path, store: SecretStore) -> None:
    store.set("openai", KEY)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["secrets.json", "secrets.key"]
    assert not any(KEY.encode() in file.read_bytes() for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_key_file_that_became_public_is_made_private_again(tmp_path: Path, store: SecretStore) -> None:
    store.set("openai", KEY)
    (tmp_path / "secrets.key").chmod(0o644)
    assert with_key_file(tmp_path).get("openai") == KEY
    assert stat.S_IMODE((tmp_path / "secrets.key").stat().st_mode) == 0o600


def test_a_secret_can_be_replaced_and_forgotten(store: SecretStore) -> None:
    store.set("a", "1")
    store.set("a", "2")
    assert store.get("a") == "2"
    store.delete("a")
    assert (store.get("a"), store.names()) == (None, ())


def test_another_process_sees_a_change_at_once(tmp_path: Path, store: SecretStore) -> None:
    store.set("a", "1")
    with_key_file(tmp_path).set("a", "2")
    assert store.get("a") == "2"


def test_the_first_place_that_works_is_used_and_remembered(tmp_path: Path) -> None:
    drawer, file = Drawer(usable=False), KeyFile(tmp_path / "k")
    SecretStore(tmp_path / "s", [drawer, file]).set("a", "1")
    drawer.usable = True
    later = SecretStore(tmp_path / "s", [drawer, file])
    assert later.get("a") == "1"
    assert later.where == file.where
    assert drawer.keys == {}


def test_where_is_honest(tmp_path: Path, store: SecretStore) -> None:
    assert str(tmp_path / "secrets.key") in store.where
    assert "whoever can read your files can read the keys" in store.where
    assert SecretStore(tmp_path / "s", [Drawer()]).where == "In a drawer."
    assert "system's keyring" in SystemKeyring().where


def test_a_locked_place_is_said_and_nothing_is_written_over(tmp_path: Path) -> None:
    drawer = Drawer()
    SecretStore(tmp_path / "s", [drawer]).set("a", "1")
    before = (tmp_path / "s").read_bytes()
    drawer.usable = False
    locked = SecretStore(tmp_path / "s", [drawer, KeyFile(tmp_path / "k")])
    for act in (lambda: locked.get("a"), lambda: locked.set("b", "2")):
        with pytest.raises(SecretsUnreadable, match="The drawer is locked"):
            act()
    assert locked.names() == ("a",)
    assert locked.values() == ()
    drawer.usable = True
    assert locked.get("a") == "1"
    assert (tmp_path / "s").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"version": 1}',
        b'{"version": 1, "key": "file", "account": "a", "check": "", "secrets": []}',
        b'{"version": "one", "key": "file", "account": "a", "check": "", "secrets": {}}',
        b"\xff\xfe\x00broken",
    ],
)
class TestDamage:
    """A secrets file that is not what we wrote."""

    def test_reading_explains_and_touches_nothing(
        self, tmp_path: Path, store: SecretStore, content: bytes
    ) -> None:
        (tmp_path / "secrets.json").write_bytes(content)
        for act in (lambda: store.get("a"), store.names, lambda: store.where, lambda: store.delete("a")):
            with pytest.raises(SecretsUnreadable, match=r"damaged.*Nothing was changed.*damaged-1"):
                act()
        assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("secrets.json", content)]

    def test_a_new_key_keeps_the_damaged_file_aside(
        self, tmp_path: Path, store: SecretStore, content: bytes
    ) -> None:
        for _ in range(2):
            (tmp_path / "secrets.json").write_bytes(content)
            store.set("a", "1")
        assert (tmp_path / "secrets.json.damaged-1").read_bytes() == content
        assert (tmp_path / "secrets.json.damaged-2").read_bytes() == content
        assert store.get("a") == "1"


def test_a_file_of_a_newer_version_is_never_set_aside(tmp_path: Path, store: SecretStore) -> None:
    (tmp_path / "secrets.json").write_text('{"version": 2, "secrets": {}}')
    with pytest.raises(SecretsUnreadable, match="newer Plancia"):
        store.set("a", "1")
    assert [file.name for file in tmp_path.iterdir()] == ["secrets.json"]


@pytest.mark.parametrize(
    ("key", "words"), [(None, "is missing"), (b"x", "does not fit"), ("other", "does not fit")]
)
def test_the_wrong_key_is_said_and_nothing_is_written_over(
    tmp_path: Path, store: SecretStore, key: bytes | str | None, words: str
) -> None:
    store.set("a", "1")
    before = (tmp_path / "secrets.json").read_bytes()
    (tmp_path / "secrets.key").unlink()
    if key == "other":
        (tmp_path / "elsewhere").mkdir()
        with_key_file(tmp_path / "elsewhere").set("x", "y")
        key = (tmp_path / "elsewhere" / "secrets.key").read_bytes()
    if isinstance(key, bytes):
        (tmp_path / "secrets.key").write_bytes(key)
    fresh = with_key_file(tmp_path)
    for act in (lambda: fresh.get("a"), lambda: fresh.set("b", "2")):
        with pytest.raises(SecretsUnreadable, match=words):
            act()
    assert (tmp_path / "secrets.json").read_bytes() == before


def test_one_damaged_entry_does_not_take_the_others_along(tmp_path: Path, store: SecretStore) -> None:
    store.set("a", "1")
    store.set("b", "2")
    data = json.loads((tmp_path / "secrets.json").read_text())
    data["secrets"]["a"] = "nonsense"
    (tmp_path / "secrets.json").write_text(json.dumps(data))
    with pytest.raises(SecretsUnreadable, match="Enter that key again"):
        store.get("a")
    assert store.get("b") == "2"
    store.set("a", "3")
    assert store.get("a") == "3"


def test_a_folder_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    with pytest.raises(SecretsError, match="Keys cannot be stored in"):
        SecretStore(tmp_path / "absent" / "secrets.json", [Drawer()]).set("a", "1")


class Chest(KeyringBackend):
    """A keyring in memory, as a desktop would offer one."""

    priority = -1.0  # type: ignore[assignment]  # a back end is known once its class is there: never found by itself

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Forgetful(Chest):
    def get_password(self, service: str, username: str) -> str | None:
        return None


class Stuck(Chest):
    """Waits for an answer that nobody gives."""

    answered = threading.Event()

    def set_password(self, service: str, username: str, password: str) -> None:
        self.answered.wait()


@pytest.fixture
def _desktop() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)
    Stuck.answered.set()


@pytest.mark.usefixtures("_desktop")
class TestSystemKeyring:
    """Tried for real."""

    def test_a_real_one_holds_the_key_and_no_file_does(self, tmp_path: Path) -> None:
        chest = Chest()
        keyring.set_keyring(chest)
        store = SecretStore(tmp_path / "secrets.json")
        store.set("a", KEY)
        assert [file.name for file in tmp_path.iterdir()] == ["secrets.json"]
        assert len(chest.kept) == 1
        assert SecretStore(tmp_path / "secrets.json").get("a") == KEY
        assert store.where == SystemKeyring().where

    @pytest.mark.parametrize(
        "backend",
        [fail.Keyring, null.Keyring, Forgetful, chainer.ChainerBackend],
        ids=["fail", "null", "forgetful", "chainer"],
    )
    def test_one_that_keeps_nothing_is_passed_over(
        self, tmp_path: Path, backend: type[KeyringBackend]
    ) -> None:
        keyring.set_keyring(backend())
        store = SecretStore(tmp_path / "secrets.json")
        store.set("a", KEY)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["secrets.json", "secrets.key"]
        assert "No system keyring could be used" in store.where

    def test_one_that_never_answers_is_passed_over(self) -> None:
        keyring.set_keyring(Stuck())
        assert not SystemKeyring(patience=0.05).works()

    def test_one_that_is_gone_later_is_explained(self, tmp_path: Path) -> None:
        keyring.set_keyring(Chest())
        SecretStore(tmp_path / "secrets.json").set("a", KEY)
        keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
        with pytest.raises(SecretsUnreadable, match=r"keyring cannot be asked .*environment variables work"):
            SecretStore(tmp_path / "secrets.json").get("a")
