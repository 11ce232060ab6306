"""A model server for tests: a real process that answers by script and refuses what a strict server refuses.

``python -m tests.fakes.llm_server --port 0`` prints one line, its URL, and serves until it is killed or, with
``--until-eof``, until its standard input closes. It speaks OpenAI's chat completions and Responses and
Anthropic's Messages under any prefix that ends in ``/v1``, Ollama's chat under ``/api``, and Gemini's streams.
OpenAI's pictures stand under ``/v1/images``.
Tests steer it over HTTP (``llm_client.FakeLLM`` does it for them):

    POST /script    {"answers": [...], "for": {"model", "key", "path", "member"}}  answers to come, in order; the
                    narrowest matching list is used first.  {"default": answer, "models": [...], "keys": [...]}  what
                    stands for good: the answer when no list has one, the models and API keys it knows (null = any).
                    {"keys": {key: state}}  keys in the states of ``key_states``: good, bad, broke, limited, expired
    POST /release   {"hold": name, "count": n}    lets n streams standing (or about to stand) at that hold go on
    GET  /requests?atleast=n    what came in, with headers, body, refusal and how it ended; waits for the n-th
    GET  /held?hold=name        returns as soon as a stream stands there
    GET  /ended?number=n        returns the n-th request once its answer has ended, whoever ended it
    POST /reset     forgets everything, and lets every held stream go
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from tests.fakes import (
    anthropic_messages,
    gemini_chat,
    key_states,
    ollama_chat,
    openai_chat,
    openai_images,
    openai_responses,
)
from tests.fakes.http_wire import Connection, ConnectionGone, Reply, Request
from tests.fakes.llm_script import Answer, Step, fail, say

Record = dict[str, Any]

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "native": "/api/chat",
    "generate": ":streamGenerateContent",
    "generations": openai_images.GENERATIONS,
    "edits": openai_images.EDITS,
    "models": "/v1/models",
    "tags": "/api/tags",
    "loaded": "/api/ps",
}
"""What a request wants, by the end of its path."""

DIALECTS: dict[str | None, Any] = {
    "chat": openai_chat,
    "responses": openai_responses,
    "messages": anthropic_messages,
    "native": ollama_chat,
    "generate": gemini_chat,
    "generations": openai_images,
    "edits": openai_images,
    "tags": ollama_chat,
    "loaded": ollama_chat,
}
LISTS = ("models", "tags", "loaded")


class FakeModelServer:
    """The state of one server: scripts, holds and everything that came in."""

    def __init__(self) -> None:
        self._pulse = asyncio.Event()
        self.requests: list[Record] = []
        self.forget()

    def forget(self) -> None:
        self._queues: list[tuple[dict[str, str], deque[Answer]]] = []
        self._default: Answer | None = None
        self._models: list[str] | None = None
        self._keys: dict[str, str] | None = None
        self._free: Counter[str] = Counter()
        self._standing: Counter[str] = Counter()
        self._epoch = object()
        self.requests.clear()
        self._changed()

    async def handle(self, request: Request, reply: Reply) -> None:
        match request.method, request.path:
            case "POST", "/script":
                self._take_script(json.loads(request.body))
                reply.json(200, {})
            case "POST", "/release":
                order = json.loads(request.body or b"{}")
                self._free[order.get("hold", "hold")] += order.get("count", 1)
                self._changed()
                reply.json(200, {})
            case "POST", "/reset":
                self.forget()
                reply.json(200, {})
            case "GET", "/requests":
                await self._until(lambda: len(self.requests) >= int(request.query.get("atleast", 0)))
                reply.json(200, self.requests)
            case "GET", "/held":
                await self._until(lambda: self._standing[request.query.get("hold", "hold")] > 0)
                reply.json(200, {})
            case "GET", "/ended":
                place = int(request.query["number"])
                await self._until(
                    lambda: len(self.requests) > place and self.requests[place]["ended"] is not None
                )
                reply.json(200, self.requests[place])
            case _:
                await self._answer_recorded(request, reply)

    def _take_script(self, order: dict[str, Any]) -> None:
        if "answers" in order:
            wanted = order.get("for") or {}
            queue = next((queue for known, queue in self._queues if known == wanted), None)
            if queue is None:
                queue = deque()
                self._queues.append((wanted, queue))
                self._queues.sort(key=lambda one: -len(one[0]))
            queue.extend(order["answers"])
        self._default = order.get("default", self._default)
        self._models = order.get("models", self._models)
        if "keys" in order:
            self._keys = None if order["keys"] is None else key_states.states_of(order["keys"])

    async def _answer_recorded(self, request: Request, reply: Reply) -> None:
        record = _record(request, len(self.requests))
        self.requests.append(record)
        self._changed()
        try:
            await self._answer(request, reply, record)
            record["ended"] = "done"
        except ConnectionGone as how:
            record["ended"] = str(how)
            raise
        except asyncio.CancelledError:
            record["ended"] = "left"
            raise
        finally:
            record["at"]["end"] = time.monotonic()
            self._changed()

    async def _answer(self, request: Request, reply: Reply, record: Record) -> None:
        answer = self._refusal(request, record) or self._next(record) or self._usual(record)
        await self._play(reply, answer, record)

    def _refusal(self, request: Request, record: Record) -> Answer | None:
        if turned_away := self._turned_away(record):
            return turned_away
        if record["wants"] is None:
            return fail(404, f"no such path: {request.path}", code="not_found")
        if request.method != ("GET" if record["wants"] in LISTS else "POST"):
            return fail(405, "Method Not Allowed")
        if record["wants"] in LISTS:
            return None
        record["refused"] = _dialect(record).refusal(request)
        if record["refused"]:
            return fail(400, record["refused"], type="invalid_request_error")
        if self._models is not None and record["model"] not in self._models:
            message = f"The model `{record['model']}` does not exist or you do not have access to it."
            return fail(404, message, type="invalid_request_error", code="model_not_found")
        return None

    def _turned_away(self, record: Record) -> Answer | None:
        if self._keys is None:
            return None
        language = "messages" if _dialect(record) is anthropic_messages else record["wants"]
        asks_a_model = record["wants"] not in LISTS
        return key_states.refusal(self._keys, record["key"], language, asks_a_model=asks_a_model)

    def _usual(self, record: Record) -> Answer:
        if record["wants"] in LISTS:
            names = ["fake-model"] if self._models is None else self._models
            return {"body": _dialect(record).models(names)}
        return self._default or _echo(_dialect(record).last_said(record["body"]))

    def _next(self, record: Record) -> Answer | None:
        for wanted, queue in self._queues:
            fits = record["wants"] not in (*LISTS, None) or "path" in wanted
            if queue and fits and all(_matches(record, *pair) for pair in wanted.items()):
                return queue.popleft()
        return None

    async def _play(self, reply: Reply, answer: Answer, record: Record) -> None:
        for step in answer.get("before", ()):
            await self._step(reply, step, record)
        if "failure" in answer:
            body = _dialect(record).failure(answer["failure"], answer["status"])
            _send_whole(reply, {**answer, "body": body})
        elif "body" in answer:
            _send_whole(reply, answer)
        elif record["stream"]:
            await self._play_stream(reply, answer, record)
        else:
            await self._play_whole(reply, answer, record)

    async def _play_stream(self, reply: Reply, answer: Answer, record: Record) -> None:
        dialect = _dialect(record)
        reply.start(answer.get("status", 200), {**dialect.STREAM, **answer.get("headers", {})})
        voice = dialect.Voice(record["model"], answer["steps"])
        for step in answer["steps"]:
            await self._step(reply, step, record, voice)
        reply.end()

    async def _play_whole(self, reply: Reply, answer: Answer, record: Record) -> None:
        for step in answer["steps"]:
            if {"wait_ms", "hold", "cut", "reset"} & set(step):
                await self._step(reply, step, record)
        reply.json(200, _dialect(record).whole(answer["steps"], record["model"]))

    async def _step(self, reply: Reply, step: Step, record: Record, voice: Any = None) -> None:
        match step:
            case {"wait_ms": time_ms}:
                await asyncio.sleep(time_ms / 1000)
            case {"hold": name}:
                await self._stand(name)
            case {"cut": _}:
                reply.cut()
            case {"reset": _}:
                reply.reset()
            case {"comment": text}:
                await reply.chunk(f": {text}\n\n".encode())
            case {"raw": text}:
                await reply.chunk(text.encode("utf-8", "surrogatepass"))
            case {"bytes": encoded}:
                await reply.chunk(base64.b64decode(encoded))
            case {"usage": _} if not record["wants_usage"]:
                pass
            case _:
                record["at"].setdefault("first", time.monotonic())
                for _ in range(step.get("times", 1)):
                    if data := voice.say(step):
                        await reply.chunk(data)

    async def _stand(self, name: str) -> None:
        epoch, standing, free = self._epoch, self._standing, self._free
        standing[name] += 1
        self._changed()
        try:
            await self._until(lambda: free[name] > 0 or self._epoch is not epoch)
        finally:
            standing[name] -= 1
        free[name] -= 1

    async def _until(self, fact: Callable[[], bool]) -> None:
        while not fact():
            await self._pulse.wait()

    def _changed(self) -> None:
        self._pulse.set()
        self._pulse = asyncio.Event()


def _record(request: Request, number: int) -> Record:
    wants = next((name for name, end in PATHS.items() if request.path.endswith(end)), None)
    body = openai_images.body_of(request) if wants == "edits" else _json_of(request.body)
    fields = body if isinstance(body, dict) else {}
    options = fields.get("stream_options") or {}
    headers = request.headers
    return {
        "number": number,
        "connection": request.connection,
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": headers,
        "wants": wants,
        "key": headers.get("x-api-key")
        or headers.get("x-goog-api-key")
        or headers.get("authorization", "").removeprefix("Bearer ")
        or None,
        "model": fields.get("model"),
        "stream": bool(fields.get("stream", wants in ("native", "generate"))),
        "wants_usage": wants != "chat" or bool(options.get("include_usage")) or not fields.get("stream"),
        "body": body,
        "refused": None,
        "ended": None,
        "at": {"in": time.monotonic()},
    }


def _json_of(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


def _matches(record: Record, key: str, value: str) -> bool:
    if key == "member":
        return f"You are {value}, " in json.dumps(record["body"], ensure_ascii=False)
    found = record.get(key)
    return isinstance(found, str) and (found.endswith(value) if key == "path" else found == value)


def _send_whole(reply: Reply, answer: Answer) -> None:
    body = answer["body"]
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/plain" if isinstance(body, str) else "application/json"
    reply.whole(answer.get("status", 200), {"content-type": kind, **answer.get("headers", {})}, data)


def _dialect(record: Record) -> Any:
    if record["wants"] == "models" and "anthropic-version" in record["headers"]:
        return anthropic_messages
    return DIALECTS.get(record["wants"], openai_chat)


def _echo(last: str | None) -> Answer:
    """What is said when nothing was scripted."""
    return say("You said: ", "something with parts" if last is None else last, ".")


async def serve(server: FakeModelServer, port: int, until_eof: bool) -> None:
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: Connection(server.handle), "127.0.0.1", port)
    print(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", flush=True)
    if until_eof:
        await loop.run_in_executor(None, sys.stdin.buffer.read)
    else:
        await listener.serve_forever()


def main(description: str, make: Callable[[], FakeModelServer] = FakeModelServer) -> None:
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--until-eof", action="store_true", help="end when standard input closes")
    chosen = options.parse_args()
    try:
        asyncio.run(serve(make(), chosen.port, chosen.until_eof))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main(__doc__)
