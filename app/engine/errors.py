"""The engine's errors, as a map.

EngineError
├── Aborted              The user stopped the run.
├── ProviderError        A model call failed; `kind` says how, `retryable` whether the same call may work later.
│   └── NoRoom           The next request does not fit the model's window, and no compaction makes it fit.
└── SessionError         A transcript cannot be read or written.

What the model can use (a tool that failed, a call that cannot be parsed) is a result, never one of these.
"""

from __future__ import annotations

from typing import Literal

ProviderErrorKind = Literal[
    "rate_limit",
    "timeout",
    "dropped",
    "server",
    "overloaded",
    "auth",
    "balance",
    "subscription",
    "invalid",
    "policy",
    "unreachable",
    "local",
    "overflow",
    "unknown_model",
    "empty",
    "budget",
]

RETRYABLE: frozenset[ProviderErrorKind] = frozenset(
    {"rate_limit", "timeout", "dropped", "server", "overloaded"}
)

ACCOUNT: frozenset[ProviderErrorKind] = frozenset({"auth", "balance", "subscription", "rate_limit"})
"""It lies with the key that was sent, and another one may do."""


class EngineError(Exception):
    """Anything that ends a run before its answer."""


class Aborted(EngineError):
    """The user stopped the run."""


class ProviderError(EngineError):
    """A model call failed. The text is a sentence for the user: what happened, why, what to do."""

    def __init__(
        self,
        kind: ProviderErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        detail: str | None = None,
        was_at_work: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind: ProviderErrorKind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        """Seconds the server asked to wait, where it did."""
        self.detail = detail
        """The provider's own words, shortened and free of secrets, for "Details"."""
        self.was_at_work = was_at_work
        """The server worked on the answer, and may charge for it: the same call is worth one more attempt at most."""

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE


class NoRoom(ProviderError):
    """Said before anything was sent: no compaction makes the next request fit the model's window."""

    def __init__(self, message: str) -> None:
        super().__init__("overflow", message)


class SessionError(EngineError):
    """A transcript cannot be read or written. The text says which file and what to do."""
