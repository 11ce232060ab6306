"""Handlers of what waits for the user: a decision, and how much is done without asking for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.group_chat.forms import Form
from app.hands.permissions.access import AccessMode
from app.web import attachments
from app.web.conversations import show
from app.web.entries import FormView, MessageView
from app.web.form_words import file_fields, refused_view, typed_in
from app.web.forms import read_form
from app.web.site import done, is_htmx, site_of
from app.workspace import conversations, messages
from app.workspace.rows import MessageRow


async def decide(request: Request) -> Response:
    """Allow or deny a call that waits; one that has ended says so."""
    room = site_of(request).bus.room(request.path_params["id"])
    form = await read_form(request)
    await room.decide(
        request.path_params["approval"],
        form.text("decision"),
        form.text("reason"),
        form.number("rule"),
        network=form.text("network") == "on",
    )
    return done(request, f"/conversations/{room.id}")


async def answer_form(request: Request) -> Response:
    """Send or decline a form; one whose answers do not fit comes back with what was typed, and why."""
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    form_id = request.path_params["form"]
    asked = messages.find_message(site.store, form_id)
    names = file_fields(Form.of(asked.data)) if asked is not None and asked.kind == "form" else {}
    form = await read_form(request, files_in=names)
    sent = form.all()
    sends = sent.get("action") == ["send"]
    brought = await attachments.answer_with(form, names if sends else {}, attachments.files_of(site, room.id))
    typed = {**typed_in(sent), **{field: [path] for field, path in brought.paths.items()}}
    errors: Mapping[str, str]
    match sent.get("action"):
        case ["send"]:
            errors = brought.refused or await room.forms.answer(form_id, typed)
        case ["decline"]:
            await room.forms.decline(form_id)
            errors = {}
        case _:
            raise HTTPException(400)
    if not errors:
        return done(request, f"/conversations/{room.id}")

    def view(row: MessageRow) -> MessageView:
        drawn = site.feed(room).view(row)
        if isinstance(drawn, FormView) and row.id == form_id:
            return refused_view(drawn, Form.of(row.data), typed, errors)
        return drawn

    if not is_htmx(request):
        return await show(request, view, status=422)
    row = messages.load_message(site.store, form_id)
    return HTMLResponse(site.templates.render_message(view(row)), status_code=422)


async def choose_access(request: Request) -> Response:
    """How much the members of a conversation do without asking, from the next call on."""
    site = site_of(request)
    room = site.bus.room(request.path_params["id"])
    wanted = (await read_form(request)).text("access")
    access = next((mode for mode in get_args(AccessMode) if mode == wanted), None)
    if access is None:
        raise HTTPException(400)
    conversations.choose_access(site.store, room.id, access)
    room.tell_conversation()
    return done(request, f"/conversations/{room.id}")
