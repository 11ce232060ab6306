"""What model calls cost: one ``Usage`` a call, their sums in the ``Done``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.engine.answer import Answer
from app.engine.events import Done, DoneStatus, Failure, ToolErrors, Totals, Usage
from app.engine.provider import ResolvedModel, Rotated, UsageReport
from app.engine.tokens import estimate_tokens
from app.engine.tools import ToolOutput
from app.infra.clock import Clock

CACHE_WRITE = 1.25
"""Price of a token that is written to a cache against one that is not; two providers ask for it."""


class CallMeter:
    """Times one model call and turns its report, or an estimate, into its ``Usage``."""

    def __init__(self, model: ResolvedModel, input_tokens: int, clock: Clock) -> None:
        """``input_tokens`` are those of the request by our estimate, for a provider that does not report."""
        self._model = model
        self._input_tokens = input_tokens
        self._clock = clock
        self._began = clock.monotonic()
        self._first_token_ms: int | None = None

    def first_token(self) -> None:
        if self._first_token_ms is None:
            self._first_token_ms = self._elapsed_ms()

    def usage(self, answer: Answer, outcome: str) -> Usage:
        """``outcome`` is ``ok`` or the kind of the error. A call that brought nothing costs nothing we know of."""
        report = answer.usage
        estimated = report is None and self._first_token_ms is not None
        if estimated:
            report = UsageReport(self._input_tokens, estimate_tokens(answer.output))
        counts = report or UsageReport()
        return Usage(
            provider=self._model.provider.id,
            model=self._model.model,
            input_tokens=counts.input_tokens,
            output_tokens=counts.output_tokens,
            cache_read_tokens=counts.cache_read_tokens,
            cache_write_tokens=counts.cache_write_tokens,
            cost=self._cost(counts),
            estimated=estimated,
            duration_ms=self._elapsed_ms(),
            first_token_ms=self._first_token_ms,
            outcome=outcome,
        )

    def turned_away(self, rotated: Rotated) -> Usage:
        """The call of a key that was refused: it cost nothing, and it was made."""
        return Usage(
            provider=self._model.provider.id,
            model=self._model.model,
            cost=0.0,
            duration_ms=rotated.duration_ms,
            outcome=rotated.outcome,
        )

    def _cost(self, counts: UsageReport) -> float | None:
        if counts.cost is not None:
            return counts.cost
        if self._model.price_in is None or self._model.price_out is None:
            return None
        # What a cache served or took in at the dearest price there is: a cost may be too high, never too low.
        paid = counts.input_tokens + counts.cache_read_tokens + CACHE_WRITE * counts.cache_write_tokens
        return (paid * self._model.price_in + counts.output_tokens * self._model.price_out) / 1_000_000

    def _elapsed_ms(self) -> int:
        return round((self._clock.monotonic() - self._began) * 1000)


@dataclass(slots=True)
class Meter:
    """The sums of one run."""

    steps: int = 0
    totals: Totals = Totals()
    tool_errors: ToolErrors = ToolErrors()
    attempts: int = 0

    def counted(self, usage: Usage) -> Usage:
        """Add one call to the sums and hand it on."""
        known = self.totals.cost is not None and usage.cost is not None
        self.totals = Totals(
            self.totals.input_tokens + usage.input_tokens,
            self.totals.output_tokens + usage.output_tokens,
            self.totals.cache_read_tokens + usage.cache_read_tokens,
            self.totals.cache_write_tokens + usage.cache_write_tokens,
            (self.totals.cost or 0.0) + (usage.cost or 0.0) if known else None,
        )
        return usage

    def count_failure(self, output: ToolOutput) -> None:
        errors = self.tool_errors
        if output.transient:
            self.tool_errors = replace(errors, transient=errors.transient + 1)
        else:
            self.tool_errors = replace(errors, permanent=errors.permanent + 1)

    def next_attempt(self) -> int:
        """The number shown with a retry; it only goes up within a run."""
        self.attempts += 1
        return self.attempts

    def done(
        self, status: DoneStatus, text: str, *, reason: str | None = None, error: Failure | None = None
    ) -> Done:
        return Done(status, text, reason, error, self.totals, self.steps, self.tool_errors)
