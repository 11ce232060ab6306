"""A model server whose every word is the moment it was sent, in milliseconds: ``python -m bench.ticker``.

The last message says how: ``ticks=2000 every_ms=5``. A page that shows the newest word knows how old it is.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_LIST = b'{"object": "list", "data": [{"id": "ticker", "object": "model"}]}'
_WORDS_OF_A_PARAGRAPH = 24


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    body = await reader.readexactly(int(length[1])) if length else b""
    if head.startswith(b"GET"):
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n" + _LIST
        )
    else:
        asked = json.loads(body)["messages"][-1]["content"]
        order = re.search(
            r"ticks=(\d+) every_ms=(\d+)", asked if isinstance(asked, str) else json.dumps(asked)
        )
        await tick(writer, *(int(number) for number in order.groups()) if order else (1, 0))
    await writer.drain()
    writer.close()


async def tick(writer: asyncio.StreamWriter, ticks: int, every_ms: int) -> None:
    writer.write(_HEAD)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for number in range(1, ticks + 1):
        await asyncio.sleep(max(0.0, begun + number * every_ms / 1000 - loop.time()))
        end = "\n\n" if number % _WORDS_OF_A_PARAGRAPH == 0 else " "
        writer.write(_event({"content": f"{round(time.time() * 1000)}{end}"}))
        await writer.drain()
    writer.write(_event({}, "stop") + b"data: [DONE]\n\n")


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
