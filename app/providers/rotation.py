"""The keys of one source as one provider: a call goes out with a key that is free, the longest unused one first.

ask → an account turned away before any content: that key rests, the next one is asked → the answer, or what failed
    → anything else: up to the runner, and the order of the keys stands as it stood

The runner sees one source and one model, so what the user said is stored once, whatever becomes of a key.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import anyio
from anyio.to_thread import run_sync

from app.engine.errors import ACCOUNT, ProviderError
from app.engine.provider import (
    AuthCheck,
    LeftOut,
    ModelRequest,
    Provider,
    ResolvedModel,
    Rotated,
    StreamBatch,
    UsageReport,
    nobody,
)
from app.infra.logs import note
from app.providers.cooldown import Cooldowns, Credential, Rest
from app.providers.images import Drawn, ImageRequest, painter_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """One key, and the wire that sends it."""

    credential: Credential
    provider: Provider


class Pool:
    """``candidates`` in the user's order, at least one. ``fallback`` is that of the resolved model."""

    def __init__(
        self,
        id: str,
        candidates: Sequence[Candidate],
        cooldowns: Cooldowns,
        fallback: Callable[[], ResolvedModel | None] = nobody,
    ) -> None:
        self.id = id
        self.candidates = tuple(candidates)
        self._cooldowns = cooldowns
        self._fallback = fallback

    @property
    def first(self) -> Provider:
        """The wire of the first key, for what any key may ask."""
        return self.candidates[0].provider

    @property
    def rests(self) -> bool:
        """Every key of it does."""
        return all(self._cooldowns.find_rest(one.credential) for one in self.candidates)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """See ``Provider``; each key is asked once, and a ``Rotated`` stands for each that was turned away."""
        candidate = self._next_free() or await self._one_at_rest()
        asked: list[Candidate] = []
        refusals: list[ProviderError] = []
        while True:
            asked.append(candidate)
            began, take_back = self._now(), self._cooldowns.use(candidate.credential)
            begun = False
            try:
                async with aclosing(candidate.provider.stream(request)) as batches:
                    async for batch in batches:
                        if not begun and has_content(batch):
                            begun = True
                            self._cooldowns.answered(candidate.credential, request.model)
                        yield batch
                if not begun:
                    self._cooldowns.answered(candidate.credential, request.model)
                return
            except ProviderError as error:
                if error.kind not in ACCOUNT:
                    take_back()
                    raise
                self._lay_to_rest(candidate, error)
                if begun:
                    raise
                refusals.append(error)
            following = self._next_free(asked)
            if following is None:
                raise _likeliest_to_pass(refusals)
            yield (Rotated(refusals[-1].kind, round((self._now() - began) * 1000)),)
            candidate = following

    async def draw(self, request: ImageRequest) -> AsyncGenerator[Drawn | Rotated, None]:
        """See ``Drawer``; keys take turns as for an answer in words."""
        candidate = self._next_free() or await self._one_at_rest()
        asked: list[Candidate] = []
        refusals: list[ProviderError] = []
        while True:
            asked.append(candidate)
            began, take_back = self._now(), self._cooldowns.use(candidate.credential)
            try:
                drawn = await painter_of(candidate.provider).paint(request)
            except ProviderError as error:
                if error.kind not in ACCOUNT:
                    take_back()
                    raise
                self._lay_to_rest(candidate, error)
                refusals.append(error)
            else:
                self._cooldowns.answered(candidate.credential, request.model)
                yield drawn
                return
            following = self._next_free(asked)
            if following is None:
                raise _likeliest_to_pass(refusals)
            yield Rotated(refusals[-1].kind, round((self._now() - began) * 1000))
            candidate = following

    async def complete(self, request: ModelRequest) -> StreamBatch:
        """See ``Provider``."""
        async with aclosing(self.stream(request)) as batches:
            return tuple([event async for batch in batches for event in batch])

    async def validate_auth(self) -> AuthCheck:
        """Every key is tried, and one that passes need not rest any longer; it is fine when all of them are."""
        checks: list[AuthCheck] = [AuthCheck(False, "")] * len(self.candidates)

        async def check(place: int, candidate: Candidate) -> None:
            checks[place] = await candidate.provider.validate_auth()
            if checks[place].ok:
                self._cooldowns.clear(candidate.credential)

        async with anyio.create_task_group() as tasks:
            for place, candidate in enumerate(self.candidates):
                tasks.start_soon(check, place, candidate)
        return _summed_up(checks)

    def _next_free(self, asked: Collection[Candidate] = ()) -> Candidate | None:
        free = [
            one
            for one in self.candidates
            if one not in asked and self._cooldowns.find_rest(one.credential) is None
        ]
        return min(free, key=lambda one: self._cooldowns.last_use(one.credential), default=None)

    async def _one_at_rest(self) -> Candidate:
        """All of them rest. Where nobody else can answer, the likeliest is asked all the same.

        Raises ``ProviderError``, the failure that is remembered, where somebody else can: nothing is sent.
        """
        rests = {one: self._cooldowns.find_rest(one.credential) for one in self.candidates}
        candidate = min(rests, key=lambda one: _hope(rests[one]))
        rest = rests[candidate]
        if rest is not None and await run_sync(self._fallback, abandon_on_cancel=True) is not None:
            raise self._cooldowns.failure(rest)
        return candidate

    def _lay_to_rest(self, candidate: Candidate, error: ProviderError) -> None:
        self._cooldowns.cool(candidate.credential, error)
        note("key.rests", source=self.id, reason=error.kind)

    def _now(self) -> float:
        return self._cooldowns.clock.monotonic()


@dataclass(frozen=True, slots=True)
class Refused:
    """A source that cannot be asked at all, such as one whose key is gone; the next group may answer for it."""

    id: str
    error: ProviderError

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        yield await self.complete(request)

    async def complete(self, request: ModelRequest) -> StreamBatch:
        raise self.error

    async def validate_auth(self) -> AuthCheck:
        return AuthCheck(False, self.error.message, failure=self.error.kind)


def has_content(batch: StreamBatch) -> bool:
    """Something of an answer: from here on another key would begin a second one."""
    return any(not isinstance(event, LeftOut | UsageReport) for event in batch)


def _likeliest_to_pass(refusals: Sequence[ProviderError]) -> ProviderError:
    """A limit that is over soonest, else the last one: by it the runner decides whether waiting helps."""
    limits = [error for error in refusals if error.kind == "rate_limit"]
    return min(limits, key=lambda error: error.retry_after or 0.0) if limits else refusals[-1]


def _hope(rest: Rest | None) -> tuple[bool, float]:
    return rest.hope if rest else (False, 0.0)


def _summed_up(checks: Sequence[AuthCheck]) -> AuthCheck:
    """Keys are named by their place: what they are called is nothing that a user would know."""
    if len(checks) == 1:
        return checks[0]
    latency = max(check.latency_ms for check in checks)
    failed = [(place, check) for place, check in enumerate(checks, start=1) if not check.ok]
    passed = [check for check in checks if check.ok]
    if not failed:
        words = f"{checks[0].message} All {len(checks)} keys work."
        return replace(checks[0], message=words, latency_ms=latency)
    said = [f"Key {place} of {len(checks)}: {check.message}" for place, check in failed]
    others = f"{len(passed)} of {len(checks)} keys work." if passed else "None of the keys works."
    models = passed[0].models if passed else ()
    return AuthCheck(False, " ".join((*said, others)), models, latency, failed[0][1].failure)
