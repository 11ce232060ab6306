"""Handlers of what waits for the user: a decision, and how much is done without asking for one."""

from __future__ import annotations

from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.hands.permissions.access import AccessMode
from app.web.forms import read_form
from app.web.site import done, site_of
from app.workspace import conversations


async def decide(request: Request) -> Response:
    """Allow or deny a call that waits; one that has ended says so."""
    room = site_of(request).bus.room(request.path_params["id"])
    form = await read_form(request)
    await room.decide(
        request.path_params["approval"], form.text("decision"), form.text("reason"), form.number("rule")
    )
    return done(request, f"/conversations/{room.id}")


async def choose_access(request: Request) -> Response:
    """How much the members of a conversation do without asking, from the next turn on."""
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    wanted = (await read_form(request)).text("access")
    access = next((mode for mode in get_args(AccessMode) if mode == wanted), None)
    if access is None:
        raise HTTPException(400)
    conversations.choose_access(site.store, room.id, access)
    room.tell_conversation()
    return done(request, f"/conversations/{room.id}")
