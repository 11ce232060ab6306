"""``FakeLLM``: starts the fake model server as a process and steers it.

The plain methods block; use ``until_…`` where the code under test runs in the same event loop.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio.to_thread
import httpx

from tests.fakes.llm_script import Answer

ROOT = Path(__file__).resolve().parents[2]


class FakeLLM:
    """One running fake server: ``url`` (without ``/v1``), what it shall answer, what it was asked."""

    module = "tests.fakes.llm_server"

    def __init__(self) -> None:
        command = [sys.executable, "-m", self.module, "--port", "0", "--until-eof"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self._http = httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    @property
    def base_url(self) -> str:
        """What a user would enter as the server's address."""
        return f"{self.url}/v1"

    def script(
        self,
        *answers: Answer,
        model: str | None = None,
        key: str | None = None,
        path: str | None = None,
        member: str | None = None,
    ) -> None:
        """Answers to come, in order; narrowed to a model, an API key, the end of a path or who is asked."""
        given = (("model", model), ("key", key), ("path", path), ("member", member))
        wanted = {name: value for name, value in given if value}
        self._post("/script", {"answers": answers, "for": wanted})

    def always(self, answer: Answer) -> None:
        """What is answered whenever no script has an answer left."""
        self._post("/script", {"default": answer})

    def knows(
        self, *, models: Sequence[str] | None = None, keys: Sequence[str] | Mapping[str, str] | None = None
    ) -> None:
        """The only models, or the only API keys, that the server accepts; keys by state as in ``key_states``."""
        self._post(
            "/script",
            {name: value for name, value in (("models", models), ("keys", keys)) if value is not None},
        )

    def release(self, hold: str = "hold", count: int = 1) -> None:
        self._post("/release", {"hold": hold, "count": count})

    def requests(self, at_least: int = 0) -> list[dict[str, Any]]:
        """What came in so far; waits for so many. Each has number, connection, path, query, headers, body,
        refused, ended, at."""
        found: list[dict[str, Any]] = self._http.get("/requests", params={"atleast": at_least}).json()
        return found

    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the model calls, in order."""
        return [one["body"] for one in self.requests() if one["method"] == "POST"]

    def refusals(self) -> list[str]:
        """Why requests were refused as malformed; empty in a healthy test."""
        return [one["refused"] for one in self.requests() if one["refused"]]

    def wait_held(self, hold: str = "hold") -> None:
        """Returns when a stream stands at this hold."""
        self._http.get("/held", params={"hold": hold}).raise_for_status()

    def wait_ended(self, number: int) -> dict[str, Any]:
        """The request of that number (from 0) when its answer has ended: ``done``, ``cut``, ``reset`` or ``left``."""
        found: dict[str, Any] = self._http.get("/ended", params={"number": number}).json()
        return found

    async def until_held(self, hold: str = "hold") -> None:
        await anyio.to_thread.run_sync(self.wait_held, hold)

    async def until_ended(self, number: int) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self.wait_ended, number)

    async def until_requests(self, at_least: int) -> list[dict[str, Any]]:
        return await anyio.to_thread.run_sync(self.requests, at_least)

    def reset(self) -> None:
        self._post("/reset", {})

    def close(self) -> None:
        self._http.close()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _post(self, path: str, order: Mapping[str, Any]) -> None:
        self._http.post(path, json=order).raise_for_status()
