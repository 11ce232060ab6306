"""What the user does to a plan on its board."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.group_chat.roles import USER
from app.group_chat.room import Room
from app.web.forms import Form, read_form
from app.web.site import done, site_of
from app.web.step_forms import named_steps


async def act(request: Request) -> Response:
    """Let it begin or go on, stop it, or set how many of its steps are done at the same time."""
    room = _room(request)
    match request.path_params["act"]:
        case "go-on":
            await room.planning.go_on()
        case "stop":
            await room.planning.stop()
        case "parallel":
            await room.planning.set_parallel((await read_form(request)).number("steps"))
        case _:
            raise HTTPException(404)
    return done(request, _board(room))


async def act_on_step(request: Request) -> Response:
    """Retry, skip or change one step."""
    room, step = _room(request), _number(request.path_params["step"])
    match request.path_params["act"]:
        case "retry":
            await room.planning.retry(step)
        case "skip":
            await room.planning.skip(step)
        case "edit":
            await room.planning.edit(step, _changes(await read_form(request)))
        case _:
            raise HTTPException(404)
    return done(request, _board(room))


def _changes(form: Form) -> dict[str, Any]:
    """As they were typed: whether they make sense is the plan's to say."""
    changes = {name: form.text(name) for name in ("title", "assignee", "input", "on_failure")}
    own = {} if changes["assignee"] == USER else {"fields": ()}
    return {**changes, **own, "wait_for": named_steps(form.text("after"))}


def _number(text: str) -> int:
    """Raises ``HTTPException`` for what is none."""
    if not (text.isascii() and text.isdecimal() and len(text) < 5):
        raise HTTPException(404)
    return int(text)


def _room(request: Request) -> Room:
    return site_of(request).bus.room(request.path_params["id"])


def _board(room: Room) -> str:
    return f"/conversations/{room.id}?tab=plan"
