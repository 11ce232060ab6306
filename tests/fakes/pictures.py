"""Small real pictures, and the beginnings of large ones, as bytes and as base64."""

from __future__ import annotations

import base64
import struct
import zlib


def png(width: int = 1, height: int = 1, padding: int = 0) -> bytes:
    """A black picture; ``padding`` bytes more in a chunk of text."""
    rows = b"".join(b"\0" + bytes(width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    text = [_chunk(b"tEXt", b"k\0" + bytes(padding))] if padding else []
    chunks = [_chunk(b"IHDR", header), *text, _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def png_head(width: int, height: int) -> bytes:
    """As much of a picture as says how large it is."""
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b";"


def jpeg(width: int, height: int) -> bytes:
    """With a thumbnail's segment, a fill byte and tables before the frame header, as cameras write it."""
    app = b"\xff\xe1" + struct.pack(">H", 9) + b"Exif\0\0\xff"
    table = b"\xff\xff\xdb" + struct.pack(">H", 67) + bytes(65)
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 8, 8, height, width, 1)
    return b"\xff\xd8" + app + table + frame + b"\xff\xd9"


def webp(kind: bytes, width: int, height: int) -> bytes:
    match kind:
        case b"VP8X":
            body = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        case b"VP8L":
            body = b"\x2f" + (width - 1 | height - 1 << 14).to_bytes(4, "little") + bytes(5)
        case _:
            body = bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


PIXEL = encoded(png())
