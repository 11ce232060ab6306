"""What stands behind "Conversation organised": the summary for the model, and what it does not see any more."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.engine.errors import SessionError
from app.engine.view import replaced_by
from app.group_chat.room import Room
from app.web.left_out import left_out
from app.web.markdown import render_markdown
from app.web.member_words import member_label
from app.web.page_views import conversation_view
from app.web.site import is_htmx, site_of
from app.web.views import organised_address
from app.workspace import conversations
from app.workspace.rows import MessageRow

SHOWN = 50
"""Messages at a time."""

GONE = "What was left out cannot be shown: the history that the model was given is not there any more."


async def page(request: Request) -> Response:
    """A part of the chat, loaded when the line is opened; without script a page of its own."""
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    row = _notice(room, request.path_params["message"])
    label = member_label(row.member, site.scenes.agents)
    values = {"id": row.id, **await _values(room, row, label, start_of(request))}
    if is_htmx(request):
        return HTMLResponse(site.templates.render("organised/part.html", **values))
    view = conversation_view(conversations.load_conversation(site.store, room.id))
    return site.page("organised/page.html", conversation=view, **values, **site.scenes.shell(room.id))


async def _values(room: Room, row: MessageRow, label: str, start: int) -> dict[str, Any]:
    """What the template needs; ``trouble`` is a sentence where there is nothing to show."""
    try:
        history = await room.read_history(row.turn or "")
    except SessionError as error:
        return {"trouble": str(error)}
    found = replaced_by(str(row.data.get("summary")), history)
    if found is None:
        return {"trouble": GONE}
    summary, gone = found
    if start and start >= len(gone):
        raise HTTPException(404)
    rest = len(gone) - start - SHOWN
    return {
        "trouble": "",
        "summary": "" if start else render_markdown(summary.text),
        "items": left_out(gone, label, start, SHOWN),
        "start": start,
        "count": len(gone),
        "next": f"{organised_address(row)}?from={start + SHOWN}" if rest > 0 else "",
        "next_count": min(rest, SHOWN),
    }


def _notice(room: Room, message_id: str) -> MessageRow:
    row = room.find_message(message_id)
    if row is None or row.conversation != room.id or not organised_address(row):
        raise HTTPException(404)
    return row


def start_of(request: Request) -> int:
    """How many messages are passed over. Raises ``HTTPException`` for what is no number."""
    text = request.query_params.get("from", "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise HTTPException(400)
    return int(text)
