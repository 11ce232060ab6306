"""Pictures from models: what is asked for, what comes back, and what of it is a picture that can be used.

They come from the same sources, with the same keys, as answers in words. A wire that can be asked for one has
``paint``; where keys take turns, or a budget has to hold, it is asked through ``draw``.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from app.engine.pictures import look_at
from app.engine.provider import Provider, Rotated, UsageReport
from app.providers import refusals
from app.providers.errors import AddressInstead, NoPicture
from app.providers.usage import read_usage

LARGEST = 40 * 1024 * 1024
"""Bytes of one picture."""
MOST_PIXELS = 100_000_000
KINDS = frozenset({"image/png", "image/jpeg", "image/webp"})
"""What may come, and what may be sent as a reference."""

_BY_ITSELF = re.compile(r"(^|/)(gpt-image|chatgpt-image)")
"""Models that give the picture itself and want to hear nothing of it."""


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """One picture. ``size`` is in the words of the model (``1024x1024``); None = its own choice."""

    model: str
    prompt: str
    size: str | None = None
    references: tuple[bytes, ...] = ()
    """Pictures to go by: PNG, JPEG or WebP, small enough for any server."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture that came: PNG, JPEG or WebP, of a bounded size."""

    data: bytes
    usage: UsageReport | None = None
    """As the server counts, where it does."""


@runtime_checkable
class Painter(Protocol):
    """A wire that can be asked for pictures."""

    async def paint(self, request: ImageRequest) -> Drawn:
        """Raises ``ProviderError``."""
        ...


@runtime_checkable
class Drawer(Protocol):
    """Painters behind one name."""

    def draw(self, request: ImageRequest) -> AsyncGenerator[Drawn | Rotated, None]:
        """A ``Rotated`` for each key that was turned away, then the picture. Raises ``ProviderError``."""
        ...


def formats_for(model: str) -> tuple[str | None, ...]:
    """How its server may call a picture that comes in the answer, the usual word first; None = it is not told."""
    return (None,) if _BY_ITSELF.search(model) else ("b64_json", "base64", None)


def painter_of(provider: Provider) -> Painter:
    """Raises ``ProviderError`` for a wire that only answers in words."""
    if isinstance(provider, Painter):
        return provider
    raise refusals.draws_nothing(provider.id)


def drawer_of(provider: Provider) -> Drawer:
    """As ``painter_of``."""
    if isinstance(provider, Drawer):
        return provider
    raise refusals.draws_nothing(provider.id)


def read_picture(answer: Any) -> Drawn:
    """The first picture of an answer in OpenAI's shape. Raises ``AddressInstead``, ``NoPicture``."""
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    first = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(first, Mapping):
        raise NoPicture("nothing is listed")
    text = first.get("b64_json") or first.get("url")
    if not isinstance(text, str):
        raise NoPicture("nothing came")
    if not first.get("b64_json") and not text.startswith("data:"):
        raise AddressInstead("an address")
    return Drawn(_checked(text.partition(",")[2] if text.startswith("data:") else text), read_usage(answer))


def _checked(encoded: str) -> bytes:
    if len(encoded) > LARGEST * 4 // 3 + 4:
        raise NoPicture("it is too large")
    try:
        data = binascii.a2b_base64(encoded)
    except (ValueError, UnicodeEncodeError):
        raise NoPicture("it is no base64") from None
    seen = look_at(data)
    if seen is None or seen.media_type not in KINDS:
        raise NoPicture("it is no PNG, JPEG or WebP")
    if not 0 < seen.width * seen.height <= MOST_PIXELS:
        raise NoPicture("it has too many pixels, or none")
    return data
