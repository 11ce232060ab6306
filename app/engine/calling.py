"""One model call, from the request to its ``Usage``."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from app.engine.abort import Abort
from app.engine.answer import Answer
from app.engine.errors import Aborted, ProviderError
from app.engine.events import Event
from app.engine.metering import CallMeter, Meter
from app.engine.omissions import omission
from app.engine.provider import LeftOut, ModelRequest, ResolvedModel, Rotated
from app.infra.clock import Clock

MOST_CHARACTERS = 2_000_000
"""Of one stream, several times what the longest answers of models have: this one does not end by itself."""


async def call_model(
    model: ResolvedModel,
    request: ModelRequest,
    answer: Answer,
    *,
    input_tokens: int,
    clock: Clock,
    abort: Abort,
    meter: Meter,
) -> AsyncGenerator[Event, None]:
    """Stream into ``answer`` and yield what arrives, closed by its ``Usage`` on every way out.

    ``input_tokens`` are those of the request by our estimate. Raises ``ProviderError``, and
    ``Aborted`` once the user stops.
    """
    stream = model.provider.stream(request)
    call = CallMeter(model, input_tokens, clock)
    outcome = "ok"
    trouble: ProviderError | Aborted | None = None
    try:
        async with aclosing(stream) as batches:
            while True:
                async with abort.guard():
                    batch = await anext(batches, None)
                if batch is None:
                    break
                first = batch[0] if batch else None
                if isinstance(first, Rotated):
                    yield meter.counted(call.turned_away(first))
                    continue
                if isinstance(first, LeftOut):
                    yield omission(model.label, first)
                    continue
                if first is not None:
                    call.first_token()
                for event in answer.take(batch):
                    yield event
                if answer.size > MOST_CHARACTERS:
                    raise without_end(model.label)
    except (ProviderError, Aborted) as error:
        trouble = error
        outcome = error.kind if isinstance(error, ProviderError) else "aborted"
    for event in answer.end():
        yield event
    yield meter.counted(call.usage(answer, outcome))
    if trouble is not None:
        raise trouble


def without_end(label: str) -> ProviderError:
    return ProviderError(
        "local",
        f"{label} wrote more than {MOST_CHARACTERS:,} characters without coming to an end, and was stopped.",
    )
