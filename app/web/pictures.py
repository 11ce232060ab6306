"""Pictures that a model was shown, out of the data folder: only those of the conversation in the address."""

from __future__ import annotations

from functools import partial

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.web.site import site_of

_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'"}
"""Opened by itself, a picture is nothing but a picture."""


async def picture(request: Request) -> Response:
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    ref = f"results/{room.id}/{request.path_params['name']}"
    found = await run_sync(partial(site.load_picture, ref))
    if found is None:
        raise HTTPException(404)
    media_type, data = found
    return Response(data, media_type=media_type, headers=_HEADERS)
