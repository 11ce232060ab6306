"""One model call, from the request to its ``Usage``."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from app.engine.abort import Abort
from app.engine.answer import Answer
from app.engine.errors import Aborted, ProviderError
from app.engine.events import Event
from app.engine.metering import CallMeter, Meter
from app.engine.provider import LeftOut, ModelRequest, ResolvedModel, Rotated
from app.infra.clock import Clock


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
                if isinstance(batch[0], Rotated):
                    yield meter.counted(call.turned_away(batch[0]))
                    continue
                if not isinstance(batch[0], LeftOut):
                    call.first_token()
                for event in answer.take(batch):
                    yield event
    except (ProviderError, Aborted) as error:
        trouble = error
        outcome = error.kind if isinstance(error, ProviderError) else "aborted"
    for event in answer.end():
        yield event
    yield meter.counted(call.usage(answer, outcome))
    if trouble is not None:
        raise trouble
