"""A body as it comes over the network, unpacked up to a limit: what is packed to be huge never is."""

from __future__ import annotations

import zlib
from typing import Protocol

from app.hands.errors import Refused

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_PLAIN = {"", "identity"}
_PACKED = {"gzip", "x-gzip", "deflate"}


class Unpacker:
    """Takes the pieces of one body; keeps ``most`` bytes of what they unpack to."""

    def __init__(self, encoding: str, most: int, host: str) -> None:
        """``encoding`` is the header's word for it. Raises ``Refused`` for a kind that was not asked for."""
        kind = encoding.strip().lower()
        if kind not in _PLAIN | _PACKED:
            raise Refused(
                "E_FAILED",
                f"{host} answers packed in a way that nobody asked for. Use another source.",
            )
        self._inflater: _Inflater = _Kept() if kind in _PLAIN else zlib.decompressobj(_GZIP_OR_ZLIB)
        self._most = most
        self._host = host
        self._taken = bytearray()

    @property
    def taken(self) -> bytes:
        return bytes(self._taken[: self._most])

    @property
    def is_full(self) -> bool:
        """There was more than the limit."""
        return len(self._taken) > self._most

    def add(self, piece: bytes) -> None:
        """Raises ``Refused`` for bytes that cannot be unpacked."""
        try:
            self._taken += self._inflater.decompress(piece, self._most + 1 - len(self._taken))
        except zlib.error as error:
            raise Refused(
                "E_FAILED", f"What {self._host} sent cannot be unpacked ({error}). Use another source."
            ) from error


class _Inflater(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Kept:
    """What was not packed."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return data[:max_length]
