"""Handlers of one conversation: its page, its stream, and what is said and done in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.group_chat.room import Room
from app.web import attachments, welcome
from app.web.attachment_views import NOTHING_CHOSEN, Chosen
from app.web.forms import read_form
from app.web.frames import streamed
from app.web.page_views import conversation_view
from app.web.scene import View
from app.web.site import Site, done, is_htmx, onward, site_of
from app.web.toasts import way_back
from app.workspace import conversations
from app.workspace.attached import Attachment, attachments_of
from app.workspace.errors import CannotAttach, WorkspaceError
from app.workspace.folders import chosen_folder, usable_folder
from app.workspace.rows import QueueKind

PANEL_TABS = ("tasks", "plan", "files", "usage")


async def home(request: Request) -> Response:
    """The last conversation, or the guide of the first run; what was just deleted can come back there."""
    site = site_of(request)
    recent = conversations.list_recent(site.store, limit=1)
    to = href(recent[0].id) if recent else "/welcome"
    deleted = request.query_params.get("deleted")
    return RedirectResponse(f"{to}?{urlencode({'deleted': deleted})}" if deleted else to, status_code=303)


async def create(request: Request) -> Response:
    """Make a conversation; with a ``text`` it begins at once, a ``draft`` stands in its message box.

    A folder that cannot be used is asked for again.
    """
    site, form = site_of(request), await read_form(request)
    wanted, text = form.text("workspace"), form.text("text")
    try:
        workspace = usual_workspace(site, wanted)
    except WorkspaceError as error:
        task = welcome.FirstTask(wanted, text, str(error))
        return await welcome.show(site, task=task, status=422)
    row = conversations.create_conversation(site.store, workspace=str(workspace))
    site.bus.changed(row.id)
    if text:
        await site.bus.room(row.id).post(text, client_id=form.text("client_id") or row.id)
    draft = form.text("draft")
    to = f"{href(row.id)}?{urlencode({'draft': f'{draft} '})}" if draft else href(row.id)
    return RedirectResponse(to, status_code=303)


def usual_workspace(site: Site, wanted: str = "") -> Path:
    """The folder that was typed, else the usual one, which is made where it is missing. Raises ``WorkspaceError``."""
    try:
        usual = site.workspace()
    except WorkspaceError:
        if not wanted:
            raise
        return chosen_folder(wanted)
    return chosen_folder(wanted) if wanted not in ("", str(usual)) else usable_folder(usual, make=True)


async def page(request: Request) -> Response:
    return await show(request)


async def show(
    request: Request,
    view: View | None = None,
    status: int = 200,
    draft: str | None = None,
    chosen: Chosen = NOTHING_CHOSEN,
) -> Response:
    """The page of a conversation; its articles as ``view`` has them, where they look otherwise than in the stream.

    ``draft`` and ``chosen`` stand in the message box.
    """
    site, room = _place(request)
    await site.machine.confinement.get()
    feed = site.feed(room)
    feed.draw()
    tab = request.query_params.get("tab", "tasks")
    scene = site.scenes.conversation(room)
    return site.page(
        "conversation/page.html",
        status=status,
        cursor=feed.cursor,
        tab=tab if tab in PANEL_TABS else "tasks",
        draft=request.query_params.get("draft", "") if draft is None else draft,
        chosen=chosen,
        toast=way_back(request),
        **scene,
        **site.scenes.shell(room.id),
        **site.scenes.details(room),
        **site.scenes.log(room, view or feed.view),
    )


async def earlier(request: Request) -> Response:
    """The messages before a position, put above those of the page; without script a page of their own."""
    site, room = _place(request)
    feed = site.feed(room)
    feed.draw()
    log = site.scenes.log(room, feed.view, before=_position(request.query_params.get("before", "")))
    if not log["messages"]:
        raise HTTPException(404)
    if is_htmx(request):
        return HTMLResponse(site.templates.render("conversation/earlier.html", **log))
    row = conversations.load_conversation(site.store, room.id)
    view = conversation_view(row)
    return site.page("conversation/history.html", conversation=view, **log, **site.scenes.shell(room.id))


async def stream(request: Request) -> Response:
    """Everything that happens, as frames of HTML, from the reader's cursor on."""
    site, room = _place(request)
    cursor = request.headers.get("last-event-id") or request.query_params.get("after")
    return streamed(site.feed(room).follow(cursor))


async def send(request: Request) -> Response:
    """Say something; while a run is live it waits for the end of the turn."""
    return await _say(request, steer=False)


async def steer(request: Request) -> Response:
    """Say something into the running turn."""
    return await _say(request, steer=True)


async def _say(request: Request, *, steer: bool) -> Response:
    site, room = _place(request)
    form = await read_form(request, files_in=(attachments.FIELD,))
    client_id = form.text("client_id") or site.store.new_id("said")
    if room.knows(client_id):
        await form.close()
        return done(request, href(room.id))
    text, files = form.raw("text"), attachments.files_of(site, room.id)
    received, sent = await attachments.receive(form, files), tuple[Attachment, ...]()
    if not received.refused:
        try:
            sent = await run_sync(files.send, received.ids)
        except CannotAttach as refusal:
            received = replace(received, refused=(str(refusal),))
    if received.refused:
        return await _not_sent(request, text, received)
    kind: QueueKind = "steer" if steer else "queue"
    await room.post(text, client_id=client_id, kind=kind, attachments=sent)
    return done(request, href(room.id))


async def _not_sent(request: Request, text: str, received: attachments.Received) -> Response:
    """Nothing of it is lost: the text stands in the box again, and beside it the files that can be sent."""
    if is_htmx(request):
        raise CannotAttach(" ".join(received.refused))
    chosen = received.chosen(request.path_params["id"])
    return await show(request, status=422, draft=text, chosen=chosen)


async def choose_less(request: Request) -> Response:
    """One file less; without script the page comes back with all else that stood in the message box."""
    site, room = _place(request)
    form, gone = await read_form(request, files_in=(attachments.FIELD,)), request.path_params["attachment"]
    files = attachments.files_of(site, room.id)
    await run_sync(files.discard, gone)
    if is_htmx(request):
        return Response(status_code=204)
    received = await attachments.receive(form, files, without=gone)
    return await show(request, draft=form.raw("text"), chosen=received.chosen(room.id))


async def stop(request: Request) -> Response:
    _, room = _place(request)
    await room.stop()
    return done(request, href(room.id))


async def stop_one(request: Request) -> Response:
    """End the turn of one member; the others go on."""
    _, room = _place(request)
    await room.stop(request.path_params["turn"])
    return done(request, href(room.id))


async def take_back_floor(request: Request) -> Response:
    """Commander answers again. Who holds the floor and is at work goes on to its end."""
    _, room = _place(request)
    await room.take_back_floor()
    return done(request, href(room.id))


async def hurry(request: Request) -> Response:
    """Try now: a wait for a busy model ends. Where nobody waits any more, nothing is left to do."""
    _, room = _place(request)
    room.hurry()
    return done(request, href(room.id))


async def resume(request: Request) -> Response:
    """Continue or Retry: the last turn is taken up where it ended."""
    _, room = _place(request)
    await room.resume()
    return done(request, href(room.id))


async def rename(request: Request) -> Response:
    site, room = _place(request)
    conversations.rename(site.store, room.id, (await read_form(request)).text("title"))
    room.tell_conversation()
    return done(request, href(room.id))


async def choose_model(request: Request) -> Response:
    site, room = _place(request)
    conversations.choose_model(site.store, room.id, (await read_form(request)).text("model") or None)
    room.tell_conversation()
    return done(request, href(room.id))


async def delete(request: Request) -> Response:
    """Out of the list, with a way back; what runs in it is stopped first."""
    site, room = _place(request)
    await room.stop()
    conversations.delete(site.store, room.id)
    site.bus.changed(room.id)
    return onward(request, f"/?deleted={room.id}")


async def undelete(request: Request) -> Response:
    site = site_of(request)
    row = conversations.undelete(site.store, request.path_params["id"])
    site.bus.changed(row.id)
    return RedirectResponse(href(row.id), status_code=303)


async def queued(request: Request) -> Response:
    """One act on one waiting message: send, edit, delete, up, down."""
    site, room = _place(request)
    item, act = request.path_params["item"], request.path_params["act"]
    match act:
        case "send":
            await room.send_now(item)
        case "edit":
            await room.waiting.edit(item, (await read_form(request)).raw("text"))
        case "delete":
            row = await room.waiting.delete(item)
            await run_sync(attachments.files_of(site, room.id).take_back, attachments_of(row.data))
        case "up" | "down":
            await room.waiting.move(item, -1 if act == "up" else 1)
        case _:
            raise HTTPException(404)
    return done(request, href(room.id))


def _position(text: str) -> int:
    """A place in a conversation. Raises ``HTTPException`` for what is none."""
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise HTTPException(400)
    return int(text)


def href(conversation: str) -> str:
    return f"/conversations/{conversation}"


def _place(request: Request) -> tuple[Site, Room]:
    """Raises ``NotFound``, also for a conversation that was deleted."""
    site = site_of(request)
    return site, site.bus.room(request.path_params["id"])
