"""Where the key to the secrets lies: the system's keyring where there is a real one, else a private file."""

from __future__ import annotations

import secrets
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from app.infra.errors import SecretsUnreadable
from app.infra.files import write_atomic

_SERVICE = "plancia"
T = TypeVar("T")


class KeyPlace(Protocol):
    """One place that keeps one key under an account name."""

    name: str

    @property
    def where(self) -> str:
        """A sentence for the user, as honest about the protection as it is about the place."""
        ...

    def works(self) -> bool:
        """Tried for real, not guessed."""
        ...

    def load(self, account: str) -> bytes | None:
        """The key, or None where there is none. Raises ``SecretsUnreadable`` where the place cannot be reached."""
        ...

    def save(self, account: str, key: bytes) -> None: ...


class KeyFile:
    """A file of mode 0600 beside the secrets: keeps out other users, not programs of this one."""

    name = "file"

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def where(self) -> str:
        return (
            f"Keys are encrypted in the data folder. No system keyring could be used, so what unlocks them lies in "
            f"{self._path}, which only your user may read: whoever can read your files can read the keys."
        )

    def works(self) -> bool:
        return True

    def load(self, account: str) -> bytes | None:
        try:
            if stat.S_IMODE(self._path.stat().st_mode) & 0o077:
                self._path.chmod(0o600)
            return self._path.read_bytes().strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SecretsUnreadable(
                f"{self._path} cannot be read ({error.strerror}), and with it no key."
            ) from error

    def save(self, account: str, key: bytes) -> None:
        write_atomic(self._path, key + b"\n", mode=0o600)


class SystemKeyring:
    """The desktop's own keyring, imported only when asked for; a plain-text substitute does not count as one."""

    name = "keyring"

    def __init__(self, patience: float = 5.0) -> None:
        """``patience`` in seconds: a locked keyring may ask a question that nobody sees."""
        self._patience = patience

    @property
    def where(self) -> str:
        return "Keys are encrypted in the data folder; what unlocks them lies in the system's keyring."

    def works(self) -> bool:
        account, word = "probe-" + secrets.token_hex(4), secrets.token_hex(8)

        def round_trip(keyring: Any) -> bool:
            if not _is_real(keyring.get_keyring()):
                return False
            keyring.set_password(_SERVICE, account, word)
            try:
                return bool(keyring.get_password(_SERVICE, account) == word)
            finally:
                keyring.delete_password(_SERVICE, account)

        try:
            return self._ask(round_trip)
        except SecretsUnreadable:
            return False

    def load(self, account: str) -> bytes | None:
        found: str | None = self._ask(lambda keyring: keyring.get_password(_SERVICE, account))
        return found.encode() if found else None

    def save(self, account: str, key: bytes) -> None:
        self._ask(lambda keyring: keyring.set_password(_SERVICE, account, key.decode()))

    def _ask(self, question: Callable[[Any], T]) -> T:
        """Ask in a thread of its own, which is left behind if the keyring never answers."""
        answers: list[T] = []
        failures: list[Exception] = []

        def ask() -> None:
            try:
                import keyring

                answers.append(question(keyring))
            except Exception as error:  # noqa: BLE001 - back ends raise what they like; all of it means "not now"
                failures.append(error)

        thread = threading.Thread(target=ask, name="keyring", daemon=True)
        thread.start()
        thread.join(self._patience)
        if answers:
            return answers[0]
        reason = type(failures[0]).__name__ if failures else "no answer"
        raise SecretsUnreadable(
            f"The system's keyring cannot be asked for the key to your stored keys ({reason}). Unlock it and try "
            "again; keys set as environment variables work meanwhile."
        )


def _is_real(backend: object) -> bool:
    """A back end that really keeps secrets: not the null and failing ones, nor plain text on disk."""
    module = type(backend).__module__
    if module.startswith(("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")):
        return False
    parts = getattr(backend, "backends", None)
    return any(_is_real(part) for part in parts) if parts is not None else True
