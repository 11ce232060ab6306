"""The whole text of one message, or all that a tool gave, as a file: for those that are too long to be drawn."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.engine.large_results import find_shortened
from app.group_chat.room import Room
from app.hands.errors import Refused
from app.web.site import Site, site_of
from app.workspace.rows import MessageRow


async def whole_text(request: Request) -> Response:
    """What was said by now, where it is still being said; only of the conversation in the address."""
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    row = room.find_message(request.path_params["message"])
    if row is None or row.conversation != room.id or row.kind not in ("user", "assistant", "tool_call"):
        raise HTTPException(404)
    text = _result(site, row) if row.kind == "tool_call" else _said(room, row)
    headers = {"Content-Disposition": f'attachment; filename="{row.id}.txt"'}
    return Response(text.encode(errors="replace"), media_type="text/plain", headers=headers)


def _said(room: Room, row: MessageRow) -> str:
    text, _ = room.growing(row.id) or (row.text, "")
    return text


def _result(site: Site, row: MessageRow) -> str:
    """As it is stored where it was too large for the model, and as the model got it where that is gone."""
    result = str(row.data.get("result") or "")
    shortened = find_shortened(result)
    if shortened is None or shortened.ref is None:
        return result
    try:
        return site.load_result(row.conversation, shortened.ref)
    except Refused:
        return result
