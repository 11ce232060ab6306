"""Handlers of what turns did to files: a page for each, the diff of a file, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.group_chat.deeds import Deed
from app.group_chat.errors import CannotUndo
from app.group_chat.restoring import CHOSEN_ALONE
from app.group_chat.room import Room
from app.group_chat.undoing import Looked, Part, Undone
from app.hands.undo.values import Choice
from app.web.deed_views import (
    DeedView,
    StepView,
    all_lines,
    conflict_views,
    deed_views,
    diff_view,
    preview_view,
    step_views,
)
from app.web.forms import Form, read_form
from app.web.page_views import Toast, conversation_view
from app.web.site import Site, is_htmx, site_of
from app.workspace import conversations, messages
from app.workspace.errors import NotFound

FILES_LISTED = 500
"""On the page of a deed."""

LEFT_OUT_LISTED = 100

CHOICE = "choice-"
"""Before the key of a path: the field that answers a conflict."""


async def page(request: Request) -> Response:
    """A whole page; for a link in the panel only the diff of its file."""
    site, room = _place(request)
    part = _part(request, request.query_params)
    if not is_htmx(request):
        return await _show(site, room, part, toast=_done(room, request), asks="now" in request.query_params)
    change, diff = await room.undoing.diff(part)
    values = {"deed": _view(site, room, part.deed), "diff": diff_view(change, diff)}
    return HTMLResponse(site.templates.render("changes/file.html", **values))


async def restore(request: Request) -> Response:
    """Take it back; where the user changed the same, they are asked first."""
    site, room = _place(request)
    form = await read_form(request)
    part = _part(request, {name: form.text(name) for name in ("step", "file")})
    done = await room.undoing.restore(part, _choices(form))
    if not done.deed:
        return await _ask(request, site, room, part, done)
    if not is_htmx(request):
        return RedirectResponse(f"{_href(room, part.deed)}?undone={done.deed}", status_code=303)
    deed, back = _view(site, room, part.deed), _view(site, room, done.deed)
    left = preview_view(done.outcome).left
    return HTMLResponse(site.templates.render("changes/done.html", deed=deed, back=back, left=left))


async def _ask(request: Request, site: Site, room: Room, part: Part, asked: Undone) -> Response:
    conflicts = conflict_views(asked)
    if not is_htmx(request):
        return await _show(site, room, part, conflicts=conflicts)
    values = {
        "deed": _view(site, room, part.deed),
        "part": part,
        "conflicts": conflicts,
        "alone": CHOSEN_ALONE,
    }
    return HTMLResponse(site.templates.render("changes/conflicts.html", **values))


async def _show(
    site: Site, room: Room, part: Part, *, toast: Toast | None = None, asks: bool = False, conflicts: Any = ()
) -> Response:
    """The page of a deed. What has been given up is listed all the same, without the way back."""
    deed = room.undoing.deed(part.deed)
    values: dict[str, Any] = {"trouble": "", "diff": None, "preview": None}
    looked = Looked((), ())
    try:
        looked = await room.undoing.look(Part(part.deed))
        if part.file and not conflicts:
            values["diff"] = diff_view(*await room.undoing.diff(part))
        if asks:
            values["preview"] = preview_view(await room.undoing.preview(part))
    except CannotUndo as trouble:
        values["trouble"] = str(trouble)
    row = conversations.load_conversation(site.store, room.id)
    return site.page(
        "changes/page.html",
        toast=toast,
        conversation=conversation_view(row),
        deed=_view(site, room, part.deed),
        part=part,
        conflicts=conflicts,
        alone=CHOSEN_ALONE,
        files=all_lines(deed.tally, looked.changes)[:FILES_LISTED],
        steps=_steps(site, deed),
        left_out=looked.left_out[:LEFT_OUT_LISTED],
        left_out_more=max(0, len(looked.left_out) - LEFT_OUT_LISTED),
        **values,
        **site.scenes.shell(room.id),
    )


def _steps(site: Site, deed: Deed) -> tuple[StepView, ...]:
    return step_views(deed, messages.list_of_turn(site.store, deed.id))


def _view(site: Site, room: Room, id: str) -> DeedView:
    room.undoing.deed(id)
    views = deed_views(room.id, room.undoing.deeds(), site.scenes.abouts(room), limit=None)
    return next(view for view in views if view.id == id)


def _choices(form: Form) -> dict[str, Choice]:
    given = {name.removeprefix(CHOICE): form.text(name) for name in form.data if name.startswith(CHOICE)}
    return {key: choice for key, text in given.items() for choice in get_args(Choice) if choice == text}


def _done(room: Room, request: Request) -> Toast | None:
    """Says what was just taken back, and brings it back."""
    try:
        done = room.undoing.deed(request.query_params.get("undone", ""))
    except NotFound:
        return None
    return Toast("Undone. What you changed since is kept.", undo=f"{_href(room, done.id)}/restore")


def _part(request: Request, given: Mapping[str, str]) -> Part:
    return Part(request.path_params["deed"], given.get("step", ""), given.get("file", ""))


def _href(room: Room, deed: str) -> str:
    return f"/conversations/{room.id}/changes/{deed}"


def _place(request: Request) -> tuple[Site, Room]:
    site = site_of(request)
    return site, site.bus.room(request.path_params["id"])
