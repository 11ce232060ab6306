"""litellm, imported when it is first needed: five seconds and 200 MB that most starts can do without.

It is told beforehand to fetch nothing and to print nothing, and afterwards that it is not to retry, report or log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

_BEFORE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
_QUICK_SWITCH = 0.0005
_lock = threading.Lock()


async def load() -> Any:
    """The module, ready for use; the event loop goes on meanwhile. Raises what importing it raises."""
    if "litellm" in sys.modules and not _lock.locked():
        return _import()
    return await beside(_import)


async def beside(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread that nobody waits for: a cancelled caller leaves at once, and so does the program."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def tell(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]  # None only beside an error

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except BaseException as failure:  # noqa: BLE001 - it is raised where the result is awaited
            error = failure
        # The loop may be gone by now, and with it everybody who asked.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, value, error)

    threading.Thread(target=run, name="litellm", daemon=True).start()
    return await result


def _import() -> Any:
    with _lock:
        if "litellm" in sys.modules:
            return sys.modules["litellm"]
        os.environ.update(_BEFORE)
        # The import is one long computation: switching threads more often keeps the page alive beside it.
        before = sys.getswitchinterval()
        sys.setswitchinterval(_QUICK_SWITCH)
        try:
            import litellm
        finally:
            sys.setswitchinterval(before)
        _quieten(litellm)
        return litellm


def _quieten(litellm: Any) -> None:
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    litellm.callbacks = []
    litellm.success_callback = []
    litellm.failure_callback = []
    # Its httpx transport honours proxies and SSL_CERT_FILE as everything else here does.
    litellm.disable_aiohttp_transport = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
