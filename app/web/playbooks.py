"""Playbooks: a list, and for each one a form that runs it, a form that changes it, and the way to take it along."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.group_chat.errors import CannotPlan
from app.web.conversations import href, usual_workspace
from app.web.forms import read_form
from app.web.page_views import UNTITLED, Toast
from app.web.plain import one_line
from app.web.playbook_drafts import Draft
from app.web.playbook_views import Errors, PlaybookForm, playbook_form, playbook_view, wrong_in
from app.web.site import Site, site_of
from app.web.toasts import saved
from app.workspace import conversations, plans, playbooks
from app.workspace.agents import list_agents
from app.workspace.errors import InvalidPlaybook
from app.workspace.playbooks import LARGEST, Playbook, version_of

NEWEST = 20
"""Conversations that a playbook can be run in."""

_ON_A_STEP = re.compile(r"(up|down|remove)-([0-9]{1,3})")


async def page(request: Request) -> Response:
    return _list(request)


async def take(request: Request) -> Response:
    """A new one: from a plan of a conversation, or from a file.

    A file of a Plancia with other agents is right but for them: it is put right in the form before it is saved.
    """
    site = site_of(request)
    async with request.form(max_files=1, max_fields=10, max_part_size=LARGEST) as form:
        plan, name, file = form.get("plan"), str(form.get("name") or ""), form.get("file")
        data = await file.read(LARGEST + 1) if isinstance(file, UploadFile) else b""
    try:
        if plan:
            row = plans.load_plan(site.store, str(plan))
            called = (" ".join(name.split()) or "Playbook")[: playbooks.LONGEST_NAME]
            playbook = Playbook("", called, playbooks.kept_steps(row.content["steps"]))
        else:
            playbook = _read(data)
            wrong = wrong_in(playbook, _team(site))
            if (0, "") in wrong:
                raise InvalidPlaybook(wrong[0, ""])
            if wrong:
                return _page(site, None, _form(site, Draft.of(playbook, ""), wrong), status=422)
    except InvalidPlaybook as refused:
        return _list(request, refused=str(refused))
    kept = playbooks.save_playbook(site.folder, playbook)
    return RedirectResponse(f"/playbooks/{kept.id}?saved", status_code=303)


def _read(data: bytes) -> Playbook:
    """From a file that was sent. Raises ``InvalidPlaybook``."""
    if not data or len(data) > LARGEST:
        raise InvalidPlaybook("Choose the file of a playbook; it has 256 kB at most.")
    return playbooks.read_playbook(data.decode(errors="replace"))


async def one(request: Request) -> Response:
    """One whose file cannot be read says what is wrong with it."""
    site, id = site_of(request), request.path_params["playbook"]
    try:
        text = playbooks.load_text(site.folder, id)
        playbook = playbooks.read_playbook(text, id)
    except InvalidPlaybook as broken:
        return _page(site, Playbook(id, id), None, problem=str(broken))
    return _page(site, playbook, _form(site, Draft.of(playbook, version_of(text))), request=request)


async def new(request: Request) -> Response:
    return _page(site_of(request), None, _form(site_of(request), Draft()))


async def create(request: Request) -> Response:
    return await _edited(request, None)


async def file(request: Request) -> Response:
    id = request.path_params["playbook"]
    text = playbooks.load_text(site_of(request).folder, id)
    headers = {"Content-Disposition": f'attachment; filename="{id}.json"'}
    return Response(text, media_type="application/json", headers=headers)


async def act(request: Request) -> Response:
    """Run it, change it, remove it, or bring it back."""
    site, id = site_of(request), request.path_params["playbook"]
    match request.path_params["act"]:
        case "edit":
            return await _edited(request, playbooks.load_playbook(site.folder, id))
        case "remove":
            playbooks.remove_playbook(site.folder, id)
            return RedirectResponse(f"/playbooks?removed={id}", status_code=303)
        case "restore":
            playbooks.restore_playbook(site.folder, id)
            return RedirectResponse(f"/playbooks/{id}?saved", status_code=303)
        case "run":
            return await _run(request, playbooks.load_playbook(site.folder, id))
        case _:
            raise HTTPException(404)


async def _edited(request: Request, before: Playbook | None) -> Response:
    """Save the form, or show it again with a step more, less or in another place: nothing is stored by that."""
    site, form = site_of(request), await read_form(request)
    draft, do = Draft.typed(form), form.text("do")
    if do == "add":
        draft, focus = draft.add()
    elif on_step := _ON_A_STEP.fullmatch(do):
        step = int(on_step[2])
        draft, focus = draft.remove(step) if on_step[1] == "remove" else draft.move(step, _BY[on_step[1]])
    elif do == "save":
        return _saved(site, before, draft)
    else:
        raise HTTPException(404)
    return _page(site, before, _form(site, draft, focus=focus))


_BY = {"up": -1, "down": 1}


def _saved(site: Site, before: Playbook | None, draft: Draft) -> Response:
    playbook = draft.playbook(before.id if before else "")
    if wrong := wrong_in(playbook, _team(site)):
        return _page(site, before, _form(site, draft, wrong), status=422)
    now = version_of(playbooks.load_text(site.folder, before.id)) if before else ""
    if draft.seen != now:
        return _page(site, before, _form(site, draft.over(now), stale=True), status=409)
    kept = playbooks.save_playbook(site.folder, playbook)
    return RedirectResponse(f"/playbooks/{kept.id}?saved", status_code=303)


async def _run(request: Request, playbook: Playbook) -> Response:
    site, form = site_of(request), await read_form(request)
    values = {each.name: form.text(f"hole-{each.name}") for each in playbook.parameters}
    steps = playbook.filled(values)
    wrong = wrong_in(Playbook("", playbook.name, tuple(steps)), _team(site))
    if not all(values.values()):
        refused = "Fill in all of what it asks for."
    elif wrong:
        refused = f"It cannot run as it is. {' '.join(wrong.values())}"
    else:
        conversation = form.text("conversation") or _new_conversation(site)
        lines = [
            f"Run the playbook “{playbook.name}”.",
            *(f"{name}: {value}" for name, value in values.items()),
        ]
        try:
            await site.bus.room(conversation).planning.run(steps, playbook.name, "\n".join(lines))
            return RedirectResponse(f"{href(conversation)}?tab=plan", status_code=303)
        except CannotPlan as busy:
            refused = str(busy)
    text = playbooks.load_text(site.folder, playbook.id)
    shown = _form(site, Draft.of(playbook, version_of(text)))
    return _page(site, playbook, shown, refused=refused, values=values, status=422)


def _new_conversation(site: Site) -> str:
    row = conversations.create_conversation(site.store, workspace=str(usual_workspace(site)))
    site.bus.changed(row.id)
    return row.id


def _team(site: Site) -> list[str]:
    return [agent.id for agent in list_agents(site.folder)]


def _form(
    site: Site, draft: Draft, wrong: Errors | None = None, *, stale: bool = False, focus: int = 0
) -> PlaybookForm:
    return playbook_form(draft, _team(site), site.scenes.agents, wrong, stale=stale, focus=focus)


def _list(request: Request, refused: str = "") -> Response:
    site = site_of(request)
    return site.page(
        "playbooks/page.html",
        status=422 if refused else 200,
        toast=saved(request) or _way_back(request),
        playbooks=[playbook_view(each) for each in playbooks.list_playbooks(site.folder)],
        refused=refused,
        **site.scenes.shell(screen="playbooks"),
    )


def _way_back(request: Request) -> Toast | None:
    """Says what was removed right before this page, and brings it back."""
    id = request.query_params.get("removed", "")
    if not playbooks.is_removed(site_of(request).folder, id):
        return None
    return Toast(f"Removed “{id}”.", undo=f"/playbooks/{id}/restore")


def _page(
    site: Site,
    playbook: Playbook | None,
    form: PlaybookForm | None,
    *,
    problem: str = "",
    refused: str = "",
    values: Mapping[str, str] | None = None,
    status: int = 200,
    request: Request | None = None,
) -> Response:
    """``problem``: why it has no form; ``refused``: why it does not run, with the ``values`` that were typed."""
    places = [
        (row.id, one_line(row.title) or UNTITLED)
        for row in conversations.list_recent(site.store, limit=NEWEST)
    ]
    return site.page(
        "playbooks/one.html",
        status=422 if problem else status,
        toast=saved(request) if request else None,
        playbook=playbook_view(playbook) if playbook else None,
        form=form,
        problem=problem,
        refused=refused,
        values=values or {},
        places=places,
        **site.scenes.shell(screen="playbooks"),
    )
