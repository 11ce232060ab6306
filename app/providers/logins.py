"""The logins of all gateways: tokens that are fresh, renewed once for everybody who waits, stored before they are used.

A login is kept as one secret, ``login/SOURCE``, so that its two tokens change together. Several processes share it:
a renewal holds a lock on the data folder's logins and looks again before it asks, for a refresh token that is used
twice counts as stolen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from anyio.to_thread import run_sync

from app.engine.errors import ProviderError
from app.infra.clock import Clock
from app.infra.crew import Crew
from app.infra.errors import SecretsError
from app.infra.locks import Turn
from app.infra.threads import to_the_end
from app.providers import oauth_refusals as refusals
from app.providers.oauth import (
    Denied,
    Grant,
    Tokens,
    over,
    read_grant,
    read_tokens,
    renewed,
    stand,
    write_grant,
)
from app.providers.sources import SourceConfig

if TYPE_CHECKING:
    import httpx

    from app.providers.oauth_login import Attempt, LoginWish

_ROOM = "login/"
_HANDLE = "login:"

_PATIENCE = 60.0
_LOOK_AGAIN = 0.05
"""Seconds: for how long, and how often, a turn is waited for. A renewal takes no longer than a third of it."""

AFTER_FAILURE = 30.0
"""Seconds in which a token that still works is not tried to be renewed again."""


class Secrets(Protocol):
    """Where logins are kept; ``SecretStore`` is one. Both raise ``SecretsError``."""

    def get(self, name: str) -> str | None: ...

    def set(self, name: str, value: str) -> None: ...


def login_name(source: str) -> str:
    """Of the secret that holds the login of a source, as it stands among its keys."""
    return f"{_ROOM}{source}"


def is_login(key_name: str) -> bool:
    return key_name.startswith(_ROOM)


def is_handle(key: str | None) -> bool:
    """Whether a key is none, but stands for a login."""
    return bool(key) and str(key).startswith(_HANDLE)


class Logins:
    """Open as a block: on leaving it, renewals under way are waited for, so that no new token is lost."""

    def __init__(
        self,
        secrets: Secrets,
        lock: Path,
        *,
        client: Callable[[], httpx.AsyncClient],
        clock: Clock,
        new_id: Callable[[str], str],
    ) -> None:
        """``lock`` is a file for this alone."""
        self._secrets = secrets
        self._lock = lock
        self._client = client
        self._clock = clock
        self._new_id = new_id
        self._running: dict[str, asyncio.Task[Grant | ProviderError]] = {}
        self._unstored: dict[str, Grant] = {}
        self._not_before: dict[str, float] = {}
        self._not_taken: dict[str, str] = {}

    def stored_key(self, name: str) -> str | None:
        """As ``SecretStore.get``; of a login a handle in place of it, which no other login has. Blocks."""
        text = self._secrets.get(name)
        if text is None or not is_login(name):
            return text
        grant = read_grant(text)
        return f"{_HANDLE}{name.removeprefix(_ROOM)}:{grant.id if grant else 'unreadable'}"

    def login(self, source: str) -> Login:
        """The login of one source."""
        return Login(self, source)

    async def begin(self, source: SourceConfig, wish: LoginWish) -> Attempt:
        """A new login; the one so far stays until ``keep``. Raises ``ProviderError``."""
        from app.providers.oauth_login import begin_login

        try:
            before = await self.find(source.name)
        except ProviderError:  # what cannot be read is replaced
            before = None
        return await begin_login(
            source, wish, client=self._client, clock=self._clock, new_id=self._new_id, before=before
        )

    async def find(self, source: str) -> Grant | None:
        """The login as it is kept. Raises ``ProviderError`` (auth) where it cannot be read."""
        try:
            text = await run_sync(self._secrets.get, login_name(source))
        except SecretsError as error:
            raise ProviderError("auth", str(error)) from error
        grant = read_grant(text) if text is not None else None
        if text is not None and grant is None:
            raise refusals.login_unreadable(source)
        return grant

    async def keep(self, source: str, grant: Grant) -> None:
        """In place of an earlier login; stored durably on return. Raises ``SecretsError``."""
        async with self._alone():
            await self._write(source, grant)

    async def token(self, source: str) -> str:
        """One that the gateway takes now, renewed where it is about to end.

        Raises ``ProviderError``: auth where only a new login helps, else what the network did.
        """
        grant = await self._grant(source)
        match stand(grant, self._now()):
            case "fresh":
                return grant.access
            case "over":
                raise refusals.login_over(source)
            case "ageing" if self._not_before.get(source, 0.0) > self._clock.monotonic():
                return grant.access
            case "ageing":
                found = await self._renewed(source, grant.access)
                if isinstance(found, ProviderError) and found.kind == "auth":
                    raise found
                return grant.access if isinstance(found, ProviderError) else found.access
            case "spent":
                return _access(await self._renewed(source, grant.access))

    async def another(self, source: str, refused: str) -> str:
        """A token in place of one that the gateway refused before its time.

        One that was itself made so and never taken is not replaced again. Raises as ``token``.
        """
        grant = await self._grant(source)
        if grant.access and grant.access != refused:
            return grant.access
        if self._not_taken.get(source) == refused:
            raise refusals.login_not_taken(source, None)
        return _access(await self._renewed(source, refused))

    def not_taken(self, source: str, token: str) -> None:
        """The gateway refused a token that had just been made in place of another."""
        self._not_taken[source] = token

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running:
            await asyncio.wait(self._running.values())

    async def _grant(self, source: str) -> Grant:
        grant, unstored = await self.find(source), self._unstored.get(source)
        if grant and unstored and grant.id == unstored.id:
            await self._store(source, unstored)
            return unstored
        if grant is None:
            raise refusals.login_over(source)
        return grant

    async def _renewed(self, source: str, stale: str) -> Grant | ProviderError:
        """One renewal for everybody who asks meanwhile; nobody who leaves takes it along."""
        task = self._running.get(source)
        if task is None or task.done():
            task = self._running[source] = Crew().start(self._renew(source, stale))
        return await asyncio.shield(task)

    async def _renew(self, source: str, stale: str) -> Grant | ProviderError:
        try:
            async with self._alone():
                grant = await self._grant(source)
                if grant.access != stale:  # another process was first
                    return grant if grant.access else refusals.login_over(source)
                if grant.refresh:
                    return await self._ask(source, grant)
                return await self._end(source, grant)
        except SecretsError as error:
            return ProviderError("local", str(error))
        except ProviderError as error:
            self._not_before[source] = self._clock.monotonic() + AFTER_FAILURE
            return error

    async def _ask(self, source: str, grant: Grant) -> Grant | ProviderError:
        from app.providers.oauth_questions import Questions

        asked_at = self._now()
        fields, headers = grant.client.identify()
        form = {"grant_type": "refresh_token", "refresh_token": grant.refresh, **fields}
        if grant.resource:
            form["resource"] = grant.resource
        questions = Questions(source, self._client)
        match read_tokens(*await questions.post_form(grant.token_endpoint, form, headers)):
            case Tokens() as tokens:
                grant = renewed(grant, tokens, asked_at)
                await self._store(source, grant)
                return grant
            case Denied(ends_login=True):
                return await self._end(source, grant)
            case _:
                raise refusals.no_login_service(source, grant.token_endpoint)

    async def _end(self, source: str, grant: Grant) -> ProviderError:
        """Known from now on, so that nobody asks again before the next login."""
        await self._store(source, over(grant))
        return refusals.login_over(source)

    async def _store(self, source: str, grant: Grant) -> None:
        """Before it is used. Where the store refuses, this process remembers it and tries again at every use.

        A source that was removed meanwhile took its login along.
        """
        try:
            if await self.find(source) is not None:
                await self._write(source, grant)
        except (SecretsError, ProviderError):
            self._unstored[source] = grant

    async def _write(self, source: str, grant: Grant) -> None:
        await to_the_end(partial(self._secrets.set, login_name(source), write_grant(grant)))
        self._unstored.pop(source, None)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """No other process, and nobody in this one, changes a login meanwhile. Raises ``SecretsError``."""
        turn = Turn(self._lock)
        try:
            self._lock.touch(0o600)
            async with asyncio.timeout(_PATIENCE):
                while not turn.try_acquire():  # noqa: ASYNC110 - another process tells nobody when it is done
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            raise SecretsError(
                "Another Plancia is busy with the logins of this data folder and does not end. Stop it, then try again."
            ) from None
        except OSError as error:
            raise SecretsError(f"{self._lock} cannot be used ({error.strerror}).") from error
        try:
            yield
        finally:
            turn.release()

    def _now(self) -> float:
        return self._clock.now().timestamp()


@dataclass(frozen=True, slots=True)
class Login:
    """The login of one source, as its wire uses it."""

    logins: Logins
    source: str

    async def token(self) -> str:
        """See ``Logins.token``."""
        return await self.logins.token(self.source)

    async def another(self, refused: str) -> str:
        """See ``Logins.another``."""
        return await self.logins.another(self.source, refused)

    def not_taken(self, token: str) -> None:
        """See ``Logins.not_taken``."""
        self.logins.not_taken(self.source, token)


def nobody_logged_in(source: str) -> Login:
    """For a place without logins. Raises ``ProviderError``."""
    raise refusals.login_over(source)


def _access(found: Grant | ProviderError) -> str:
    if isinstance(found, ProviderError):
        raise found
    return found.access
