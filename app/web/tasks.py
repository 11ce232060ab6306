"""One task: what was asked, how it stands, what came of it, and all that its member heard, said and did for it."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.engine.errors import SessionError
from app.engine.messages import Message
from app.group_chat.outcomes import for_reader
from app.group_chat.room import Room
from app.web.forms import read_form
from app.web.left_out import left_out
from app.web.organised import SHOWN, start_of
from app.web.page_views import conversation_view
from app.web.plain import plain
from app.web.site import Site, done, is_htmx, site_of
from app.web.task_views import task_view
from app.workspace import conversations, tasks, turns, usage
from app.workspace.rows import TaskRow, TurnRow


async def page(request: Request) -> Response:
    site, room, row = _place(request)
    turn = turns.find_turn(site.store, row.turn) if row.turn else None
    values = await _transcript(site, room, row, turn, start_of(request))
    if is_htmx(request):
        return HTMLResponse(site.templates.render("organised/items.html", **values))
    spent = usage.spent_by_turn(site.store, room.id).get(row.turn or "")
    return site.page(
        "tasks/page.html",
        conversation=conversation_view(conversations.load_conversation(site.store, room.id)),
        task=task_view(row, turn, site.scenes.agents, spent),
        job=plain(row.job),
        outcome=plain(for_reader(row.outcome or "")),
        models=site.scenes.models(),
        **values,
        **site.scenes.shell(room.id),
    )


async def retry(request: Request) -> Response:
    """Begin the job anew, by the model that was picked where one was; the answer comes in the chat."""
    _, room, row = _place(request)
    await room.retry_task(row.id, (await read_form(request)).text("model") or None)
    return done(request, f"/conversations/{room.id}")


async def _transcript(
    site: Site, room: Room, row: TaskRow, turn: TurnRow | None, start: int
) -> dict[str, Any]:
    """What ``organised/items.html`` needs; ``trouble`` is a sentence where there is nothing to show."""
    here = f"/conversations/{room.id}/tasks/{row.id}"
    label, trouble = task_view(row, turn, site.scenes.agents).who.label, ""
    said: list[Message] = []
    try:
        said = [each for each in await room.read_history(turn.id) if _belongs(each, turn)] if turn else []
    except SessionError as error:
        trouble = str(error)
    if start and start >= len(said):
        raise HTTPException(404)
    rest = len(said) - start - SHOWN
    return {
        "trouble": trouble,
        "items": left_out(said, label, start, SHOWN, asker="What it was told"),
        "start": start,
        "count": len(said),
        "next": f"{here}?from={start + SHOWN}" if rest > 0 else "",
        "next_count": min(rest, SHOWN),
    }


def _belongs(message: Message, turn: TurnRow) -> bool:
    """A member with a name has one history for all of its turns."""
    return turn.started <= message.time and (turn.ended is None or message.time <= turn.ended)


def _place(request: Request) -> tuple[Site, Room, TaskRow]:
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    row = tasks.load_task(site.store, request.path_params["task"])
    if row.conversation != room.id:
        raise HTTPException(404)
    return site, room, row
