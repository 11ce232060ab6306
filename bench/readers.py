"""Many open pages in one process: ``python -m bench.readers URL COOKIE NUMBER`` follows one stream with all of them.

It says ``open`` once each has its connection, and at the end, as JSON, how old the newest word of each frame was when
it arrived, in milliseconds, all readers together. The words are those of ``bench.ticker``.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from urllib.parse import urlsplit

_WORD = re.compile(rb"\d{13}")
_LAST = b'data-state="done"'
_ROOM = 1 << 20


async def read(reader: asyncio.StreamReader) -> list[int]:
    """The ages of the newest words, until the answer is whole."""
    ages: list[int] = []
    seen = 0
    async for line in reader:
        newest = max(map(int, _WORD.findall(line)), default=0)
        if newest > seen:
            seen = newest
            ages.append(round(time.time() * 1000) - newest)
        if seen and _LAST in line:
            break
    return ages


async def main(url: str, cookie: str, number: int) -> None:
    place = urlsplit(url)
    head = f"GET {place.path}?{place.query} HTTP/1.1\r\nhost: {place.netloc}\r\ncookie: {cookie}\r\n\r\n"
    streams = [await asyncio.open_connection(place.hostname, place.port, limit=_ROOM) for _ in range(number)]
    for reader, writer in streams:
        writer.write(head.encode())
        await reader.readuntil(b"\r\n\r\n")
    print("open", flush=True)
    ages = await asyncio.gather(*(read(reader) for reader, _ in streams))
    print(json.dumps([age for each in ages for age in each]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
