"""The whole text of one message, as a file: for those that are too long to be drawn."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.web.site import site_of


async def whole_text(request: Request) -> Response:
    """What was said by now, where it is still being said; only of the conversation in the address."""
    room = site_of(request).bus.room(request.path_params["id"])
    row = room.find_message(request.path_params["message"])
    if row is None or row.conversation != room.id or row.kind not in ("user", "assistant"):
        raise HTTPException(404)
    text, _ = room.growing(row.id) or (row.text, "")
    headers = {"Content-Disposition": f'attachment; filename="{row.id}.txt"'}
    return Response(text.encode(errors="replace"), media_type="text/plain", headers=headers)
