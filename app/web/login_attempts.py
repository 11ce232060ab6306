"""Logins that somebody has begun on the page: one for each source, and only the last one of each."""

from __future__ import annotations

from app.providers.logins import Logins
from app.providers.oauth import Grant
from app.providers.oauth_login import Attempt, LoginWish
from app.providers.sources import SourceConfig


class LoginAttempts:
    """They are driven by whoever looks at the page; nothing runs beside that but a port for the browser's way back."""

    def __init__(self, logins: Logins) -> None:
        self._logins = logins
        self._under_way: dict[str, Attempt] = {}

    async def begin(self, source: SourceConfig, wish: LoginWish) -> Attempt:
        """In place of one that was begun before. Raises ``ProviderError``."""
        attempt = await self._logins.begin(source, wish)
        self.drop(source.name)
        self._under_way[source.name] = attempt
        return attempt

    def find(self, name: str) -> Attempt | None:
        return self._under_way.get(name)

    async def poll(self, attempt: Attempt) -> Grant | None:
        """As ``Attempt.poll``; one that has come to its end, whichever, is under way no more."""
        done = True
        try:
            grant = await attempt.poll()
            done = grant is not None
            return grant
        finally:
            if done:
                self.drop(attempt.source)

    def close(self) -> None:
        for name in list(self._under_way):
            self.drop(name)

    def drop(self, name: str) -> None:
        attempt = self._under_way.pop(name, None)
        if attempt is not None:
            attempt.close()
