"""Static files as bundles, made once: a page loads one stylesheet and two scripts, kept by hash."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

STYLES = ("tokens", "base", "layout", "conversation", "messages", "output", "tasks", "forms", "screens")
SCRIPTS = (
    "vendor/htmx.js",
    "vendor/hx-sse.js",
    "js/entries.js",
    "js/connection.js",
    "js/scroll.js",
    "js/complete.js",
    "js/attach.js",
    "js/composer.js",
    "js/examples.js",
    "js/dialogs.js",
    "js/asks.js",
    "js/forms.js",
    "js/toast.js",
    "js/unsent.js",
    "js/tabs.js",
    "js/clock.js",
    "js/copy.js",
    "js/keys.js",
    "js/order.js",
    "js/picker.js",
    "js/job.js",
)

EARLY = ("js/theme.js",)
"""Runs before the page is drawn, so that it is drawn in the right colours."""

_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    name: str
    media_type: str
    body: bytes

    @cached_property
    def packed(self) -> bytes:
        """The same, gzipped."""
        return gzip.compress(self.body, compresslevel=9, mtime=0)

    @property
    def url(self) -> str:
        return f"/static/{self.name}"


class Assets:
    """The bundles of one installation. Raises ``OSError`` where a file of them is missing."""

    def __init__(self, root: Path) -> None:
        styles = [root / "css" / f"{name}.css" for name in STYLES]
        self.styles = _bundle("plancia", "css", "text/css", styles)
        self.script = _bundle("plancia", "js", "text/javascript", [root / path for path in SCRIPTS])
        self.early = _bundle("early", "js", "text/javascript", [root / path for path in EARLY])
        bundles = (self.styles, self.script, self.early)
        self._by_name: Mapping[str, Asset] = {asset.name: asset for asset in bundles}

    async def respond(self, request: Request) -> Response:
        """Answers ``/static/{name}``."""
        asset = self._by_name.get(request.path_params["name"])
        if asset is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        headers = {"Cache-Control": _FOREVER, "Vary": "Accept-Encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(asset.body, headers=headers, media_type=asset.media_type)
        headers["Content-Encoding"] = "gzip"
        return Response(asset.packed, headers=headers, media_type=asset.media_type)


def _bundle(name: str, suffix: str, media_type: str, files: list[Path]) -> Asset:
    body = b"\n".join(file.read_bytes() for file in files)
    digest = hashlib.sha256(body).hexdigest()[:16]
    return Asset(f"{name}-{digest}.{suffix}", f"{media_type}; charset=utf-8", body)
