"""The wire to a gateway that the user logged in to: OpenAI-compatible, with a token that is fresh at every call.

A token that is refused before its time is replaced once and the call made again; nothing of an answer was seen yet.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck, ModelRequest, StreamBatch
from app.providers import oauth_refusals as refusals
from app.providers.direct import DirectWire
from app.providers.images import Drawn, ImageRequest, painter_of
from app.providers.logins import Login

_UNAUTHORIZED = 401


class Gateway:
    """One gateway and one login. ``wire`` makes the wire that sends a token."""

    def __init__(self, id: str, login: Login, wire: Callable[[str], DirectWire]) -> None:
        self.id = id
        self._login = login
        self._make_wire = wire
        self._made: tuple[str, DirectWire] | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """See ``Provider``."""
        token = await self._login.token()
        begun = False
        try:
            async with aclosing(self._wire(token).stream(request)) as batches:
                async for batch in batches:
                    begun = True
                    yield batch
            return
        except ProviderError as error:
            if begun or error.status != _UNAUTHORIZED:
                raise
        token = await self._login.another(token)
        try:
            async with aclosing(self._wire(token).stream(request)) as batches:
                async for batch in batches:
                    yield batch
        except ProviderError as error:
            raise self._refused(token, error) from None

    async def complete(self, request: ModelRequest) -> StreamBatch:
        """See ``Provider``."""
        async with aclosing(self.stream(request)) as batches:
            return tuple([event async for batch in batches for event in batch])

    async def paint(self, request: ImageRequest) -> Drawn:
        """See ``Painter``."""
        token = await self._login.token()
        try:
            return await painter_of(self._wire(token)).paint(request)
        except ProviderError as error:
            if error.status != _UNAUTHORIZED:
                raise
        token = await self._login.another(token)
        try:
            return await painter_of(self._wire(token)).paint(request)
        except ProviderError as error:
            raise self._refused(token, error) from None

    async def validate_auth(self) -> AuthCheck:
        """See ``Provider``."""
        try:
            token = await self._login.token()
            check = await self._wire(token).validate_auth()
            if check.failure == "auth":
                token = await self._login.another(token)
                check = await self._wire(token).validate_auth()
        except ProviderError as error:
            return AuthCheck(False, error.message, failure=error.kind)
        if check.failure == "auth":
            self._login.not_taken(token)
        return check

    async def list_windows(self) -> dict[str, int]:
        """How many tokens its models hold, where it says so. Raises ``ProviderError``."""
        return await self._wire(await self._login.token()).list_windows()

    def _wire(self, token: str) -> DirectWire:
        """Kept as long as its token: it learns what the gateway takes."""
        if self._made is None or self._made[0] != token:
            self._made = token, self._make_wire(token)
        return self._made[1]

    def _refused(self, token: str, error: ProviderError) -> ProviderError:
        if error.status != _UNAUTHORIZED:
            return error
        self._login.not_taken(token)
        return refusals.login_not_taken(self.id, error.detail)
