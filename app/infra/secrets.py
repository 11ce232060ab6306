"""Keys of model sources, encrypted at rest: one small file, one key that lies elsewhere.

    secrets.json   {"version": 1, "key": "keyring" | "file", "account": …, "check": token, "secrets": {name: token}}

``check`` holds an encrypted constant: what it does not fit is the wrong key, and nothing is written over it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.infra.errors import SecretsError, SecretsUnreadable
from app.infra.files import write_atomic
from app.infra.key_places import KeyFile, KeyPlace, SystemKeyring
from app.infra.locks import Turn

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_VERSION = 1
_CHECK = b"plancia"


@dataclass(slots=True)
class _Vault:
    """The file, parsed."""

    place: str
    account: str
    check: str
    tokens: dict[str, str] = field(default_factory=dict)


class SecretStore:
    """Secrets by name. The file is read at each question, cryptography and keyring only when they are needed."""

    def __init__(self, file: Path, places: Sequence[KeyPlace] | None = None) -> None:
        """``places`` in order of preference; by default the system's keyring, then a key file beside ``file``."""
        self._file = file
        self._places = tuple(places or (SystemKeyring(), KeyFile(file.with_name("secrets.key"))))
        self._open: tuple[str, Fernet] | None = None

    @property
    def where(self) -> str:
        """A sentence about where the keys are and what protects them. Raises ``SecretsUnreadable``."""
        vault = self._load()
        return (self._place(vault.place) if vault else self._best_place()).where

    def names(self) -> tuple[str, ...]:
        """Sorted. Raises ``SecretsUnreadable``."""
        vault = self._load()
        return tuple(sorted(vault.tokens)) if vault else ()

    def get(self, name: str) -> str | None:
        """Raises ``SecretsUnreadable`` where it is there but cannot be opened."""
        vault = self._load()
        if vault is None or name not in vault.tokens:
            return None
        return self._decrypt(vault, vault.tokens[name]).decode()

    def set(self, name: str, value: str) -> None:
        """Stored durably on return. A damaged file is first kept aside as ``secrets.json.damaged-N``.

        Raises ``SecretsUnreadable`` where the key to the others is out of reach, ``SecretsError`` for the disk.
        """
        with self._writing():
            try:
                vault = self._load()
            except _Damaged:
                self._set_aside()
                vault = None
            vault = vault or self._found()
            vault.tokens[name] = self._fernet(vault).encrypt(value.encode()).decode()
            self._store(vault)

    def delete(self, name: str) -> None:
        """Forget it; nothing happens where there is none. Raises ``SecretsUnreadable``."""
        if name not in self.names():
            return
        with self._writing():
            vault = self._load()
            if vault and vault.tokens.pop(name, None) is not None:
                self._store(vault)

    def values(self) -> tuple[str, ...]:
        """Every secret, for redaction; what cannot be opened is left out."""
        try:
            return tuple(value for name in self.names() if (value := self.get(name)))
        except SecretsUnreadable:
            return ()

    def stamp(self) -> tuple[int, int] | None:
        """Differs after each change; None where nothing is stored."""
        try:
            status = self._file.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino

    def _load(self) -> _Vault | None:
        try:
            data = json.loads(self._file.read_bytes())
            return _parse(data)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _Damaged(
                f"{self._file} is damaged, so stored keys cannot be read. Nothing was changed in it. Put back a "
                f"good copy, or enter your keys again: the damaged file is then kept as {self._file.name}.damaged-1."
            ) from None
        except OSError as error:
            raise SecretsUnreadable(f"{self._file} cannot be read ({error.strerror}).") from error

    def _store(self, vault: _Vault) -> None:
        data = {
            "version": _VERSION,
            "key": vault.place,
            "account": vault.account,
            "check": vault.check,
            "secrets": vault.tokens,
        }
        write_atomic(self._file, json.dumps(data, indent=1, sort_keys=True).encode())

    def _found(self) -> _Vault:
        """A new, empty vault with a key of its own, in the best place that works."""
        from cryptography.fernet import Fernet

        place = self._best_place()
        vault = _Vault(place.name, secrets.token_hex(8), "")
        key = place.load(vault.account) or Fernet.generate_key()
        try:
            fernet = Fernet(key)
        except ValueError:
            raise SecretsUnreadable(
                f"A damaged key is in the way: move it and try again. {place.where}"
            ) from None
        place.save(vault.account, key)
        vault.check = fernet.encrypt(_CHECK).decode()
        self._open = (vault.account, fernet)
        return vault

    def _set_aside(self) -> None:
        number = 1
        while (aside := self._file.with_name(f"{self._file.name}.damaged-{number}")).exists():
            number += 1
        self._file.rename(aside)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """From reading the file to replacing it: what two write at once is not lost for either."""
        try:
            with Turn(self._file.parent):
                yield
        except OSError as error:
            raise SecretsError(f"Keys cannot be stored in {self._file.parent} ({error.strerror}).") from error

    def _fernet(self, vault: _Vault) -> Fernet:
        if self._open is None or self._open[0] != vault.account:
            self._open = (vault.account, self._unlock(vault))
        return self._open[1]

    def _unlock(self, vault: _Vault) -> Fernet:
        from cryptography.fernet import Fernet, InvalidToken

        place = self._place(vault.place)
        key = place.load(vault.account)
        try:
            fernet = Fernet(key or b"")
            fernet.decrypt(vault.check.encode())
        except (ValueError, InvalidToken):
            missing = "is missing" if key is None else "does not fit"
            raise SecretsUnreadable(
                f"The key that unlocks {self._file} {missing}. Nothing was changed. {place.where} Put it back, or "
                f"move {self._file.name} away and enter your keys again."
            ) from None
        return fernet

    def _decrypt(self, vault: _Vault, token: str) -> bytes:
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet(vault).decrypt(token.encode())
        except InvalidToken:
            raise SecretsUnreadable(f"One key in {self._file} is damaged. Enter that key again.") from None

    def _place(self, name: str) -> KeyPlace:
        for place in self._places:
            if place.name == name:
                return place
        raise SecretsUnreadable(
            f'{self._file} was made with a key kept in "{name}", which this Plancia does not know.'
        )

    def _best_place(self) -> KeyPlace:
        return next(place for place in self._places if place.works())


class _Damaged(SecretsUnreadable):
    """The file itself is not what we write."""


def _parse(data: Any) -> _Vault:
    if data["version"] > _VERSION:
        raise SecretsUnreadable(
            "The stored keys were written by a newer Plancia. Update this one, then try again."
        )
    tokens = {str(name): str(token) for name, token in data["secrets"].items()}
    return _Vault(str(data["key"]), str(data["account"]), str(data["check"]), tokens)
