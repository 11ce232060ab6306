"""Files of the user: uploaded as they are chosen or with their message, and given back as files, never as pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from app.web.attachment_views import Chosen, attachment_views
from app.web.forms import Form, read_form
from app.web.site import Site, site_of
from app.workspace.attached import Attachment
from app.workspace.attachments import Attachments
from app.workspace.errors import CannotAttach

FIELD = "attachments"
"""Of a message: files, or the ids of files that were uploaded before it."""

_SAFE = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Received:
    """What came with a request: files that are stored and wait, and why others are not."""

    files: tuple[Attachment, ...]
    refused: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.files)

    def chosen(self, conversation: str) -> Chosen:
        return Chosen(attachment_views(conversation, self.files), self.refused)


@dataclass(frozen=True, slots=True)
class Answered:
    """By field: the paths of files, or why one cannot be taken."""

    paths: Mapping[str, str]
    refused: Mapping[str, str]


def files_of(site: Site, conversation: str) -> Attachments:
    return Attachments(site.folder, conversation, site.store.new_id)


async def receive(form: Form, files: Attachments, without: str = "") -> Received:
    """Store what is uploaded in ``FIELD``, and find what was uploaded before, but for the one ``without``."""
    ids, refused = [id for id in form.words(FIELD) if id != without], list[str]()
    try:
        for file in form.files(FIELD):
            try:
                ids.append((await files.keep(file.filename or "", file.file)).id)
            except CannotAttach as refusal:
                refused.append(str(refusal))
    finally:
        await form.close()
    found = tuple(await run_sync(files.find, ids))
    if len(found) < len(set(ids)):
        refused.append("A file is not there any more. Attach it again.")
    return Received(found, tuple(refused))


async def answer_with(form: Form, names: Mapping[str, str], files: Attachments) -> Answered:
    """Files that answer fields of a form, by field; ``names`` are the fields by what they are called on the page.

    They are the conversation's from then on, as a member is told their paths.
    """
    paths, refused = dict[str, str](), dict[str, str]()
    try:
        for name, field in names.items():
            for file in form.files(name)[:1]:
                try:
                    kept = await files.keep(file.filename or "", file.file)
                    [sent] = await run_sync(files.send, [kept.id])
                    paths[field] = str(files.folder.root / sent.path)
                except CannotAttach as refusal:
                    refused[field] = str(refusal)
    finally:
        await form.close()
    return Answered(paths, refused)


async def upload(request: Request) -> Response:
    """Files as they are chosen, before the message is sent; answered by their chips."""
    site, conversation = _place(request)
    form = await read_form(request, files_in=(FIELD,))
    return _chips(site, conversation, await receive(form, files_of(site, conversation)))


async def chosen(request: Request) -> Response:
    """The chips of files that a draft names by their ids; those that are gone are left out."""
    site, conversation = _place(request)
    ids = request.query_params.get("ids", "").split()
    found = await run_sync(files_of(site, conversation).find, ids)
    return _chips(site, conversation, Received(tuple(found)))


async def file(request: Request) -> Response:
    """One to be saved: nothing of it is ever opened as a page of ours."""
    site, conversation = _place(request)
    found = await run_sync(files_of(site, conversation).file_of, request.path_params["attachment"])
    if found is None:
        raise HTTPException(404)
    return FileResponse(found, filename=found.name, media_type="application/octet-stream", headers=_SAFE)


def _chips(site: Site, conversation: str, received: Received) -> Response:
    chosen = received.chosen(conversation)
    return HTMLResponse(site.templates.render("conversation/chips.html", chosen=chosen))


def _place(request: Request) -> tuple[Site, str]:
    """Raises ``NotFound``, also for a conversation that was deleted."""
    site = site_of(request)
    return site, site.bus.room(request.path_params["id"]).id
