"""Pictures from an OpenAI-compatible server: one that is drawn from words, or from words and other pictures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import msgspec

from app.engine.errors import ProviderError
from app.engine.pictures import look_at
from app.providers import refusals
from app.providers.images import Drawn, ImageRequest, formats_for, read_picture

_FORM_REFUSED = frozenset({400, 422})
_NO_SUCH_PATH = frozenset({404, 405, 501})

Post = Callable[[str, bytes, str, str, Callable[[Any], Drawn]], Awaitable[Drawn]]
"""Path, body, its media type, the model, and how the answer is read. Raises ``ProviderError``."""


class OpenAIImages:
    """One server; it keeps how each model calls a picture that comes in the answer."""

    def __init__(self, id: str, post: Post) -> None:
        self._id = id
        self._post = post
        self._format: dict[str, int] = {}

    async def paint(self, request: ImageRequest) -> Drawn:
        """See ``Painter``. Nothing was drawn where the form of a request is refused, so it is put otherwise."""
        formats = formats_for(request.model)
        while True:
            place = self._format.get(request.model, 0)
            try:
                return await self._ask(request, formats[place])
            except ProviderError as error:
                if formats[place] is None or not _is_about_format(error):
                    raise self._in_words(error) from error
            self._format[request.model] = place + 1

    async def _ask(self, request: ImageRequest, format: str | None) -> Drawn:
        fields = {
            name: value
            for name, value in (
                ("model", request.model),
                ("prompt", request.prompt),
                ("size", request.size),
                ("response_format", format),
            )
            if value is not None
        }
        if not request.references:
            body = msgspec.json.encode(fields)
            return await self._post(
                "images/generations", body, "application/json", request.model, read_picture
            )
        body, kind = as_form(fields, request.references)
        return await self._post("images/edits", body, kind, request.model, read_picture)

    def _in_words(self, error: ProviderError) -> ProviderError:
        """What to do about a refusal, where that is not the same as for an answer in words."""
        if error.kind == "invalid" and error.status in _NO_SUCH_PATH:
            return refusals.no_pictures_here(self._id, error.status)
        if error.kind == "invalid" and error.status in _FORM_REFUSED:
            return refusals.not_drawn(self._id, error)
        return error


def _is_about_format(error: ProviderError) -> bool:
    """Whether a request was refused for how it asks for the picture itself."""
    return error.status in _FORM_REFUSED and "response_format" in (error.detail or "")


def as_form(fields: dict[str, str], pictures: tuple[bytes, ...]) -> tuple[bytes, str]:
    """The body and its media type; several pictures share a name with brackets, as OpenAI's own clients write it."""
    name = "image" if len(pictures) == 1 else "image[]"
    files = [(name, named(place, data)) for place, data in enumerate(pictures, 1)]
    form = httpx.Request("POST", "http://localhost/", data=fields, files=files)
    return form.read(), form.headers["content-type"]


def named(place: int, data: bytes) -> tuple[str, bytes, str]:
    """File name, bytes and media type of a picture."""
    seen = look_at(data)
    kind = seen.media_type if seen else "image/png"
    return f"{place}.{kind.partition('/')[2]}", data, kind
