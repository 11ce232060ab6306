"""Playbooks: a list, and for each one a form that runs it, its file to be changed, and the way to take it along."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.group_chat.plan_check import PlanRefused, check_plan
from app.group_chat.plan_forms import wrong_fields
from app.web.conversations import href, usual_workspace
from app.web.forms import read_form
from app.web.page_views import UNTITLED
from app.web.plain import one_line, plain
from app.web.site import Site, site_of
from app.web.toasts import saved
from app.workspace import conversations, plans, playbooks
from app.workspace.agents import list_agents
from app.workspace.errors import InvalidPlaybook, WorkspaceError
from app.workspace.playbooks import LARGEST, Playbook

NEWEST = 20
"""Conversations that a playbook can be run in."""


@dataclass(frozen=True, slots=True)
class PlaybookView:
    id: str
    name: str
    steps: tuple[tuple[str, str], ...]
    """Titles, and who has them."""
    holes: tuple[str, ...]

    @property
    def href(self) -> str:
        return f"/playbooks/{self.id}"


async def page(request: Request) -> Response:
    return _list(request)


async def take(request: Request) -> Response:
    """A new one: from a plan of a conversation, or from a file."""
    site = site_of(request)
    form = await request.form(max_files=1, max_fields=10, max_part_size=LARGEST)
    try:
        if plan := form.get("plan"):
            row = plans.load_plan(site.store, str(plan))
            name = " ".join(str(form.get("name") or "").split()) or "Playbook"
            playbook = Playbook(
                "", name[: playbooks.LONGEST_NAME], playbooks.kept_steps(row.content["steps"])
            )
        else:
            file = form.get("file")
            data = await file.read(LARGEST + 1) if isinstance(file, UploadFile) else b""
            if not data or len(data) > LARGEST:
                raise InvalidPlaybook("Choose the file of a playbook; it has 256 kB at most.")
            playbook = _checked(site, playbooks.read_playbook(data.decode(errors="replace")))
    except InvalidPlaybook as refused:
        return _list(request, refused=str(refused))
    kept = playbooks.save_playbook(site.folder, playbook)
    return RedirectResponse(f"/playbooks/{kept.id}?saved", status_code=303)


async def one(request: Request) -> Response:
    text = playbooks.load_text(site_of(request).folder, request.path_params["playbook"])
    return _one(request, text, {})


async def file(request: Request) -> Response:
    id = request.path_params["playbook"]
    text = playbooks.load_text(site_of(request).folder, id)
    headers = {"Content-Disposition": f'attachment; filename="{id}.json"'}
    return Response(text, media_type="application/json", headers=headers)


async def act(request: Request) -> Response:
    """Run it, change its file, or remove it."""
    site, id, form = site_of(request), request.path_params["playbook"], await read_form(request)
    match request.path_params["act"]:
        case "save":
            try:
                playbooks.save_playbook(
                    site.folder, _checked(site, playbooks.read_playbook(form.raw("text"), id))
                )
            except InvalidPlaybook as refused:
                return _one(request, form.raw("text"), {"text": str(refused)})
            return RedirectResponse(f"/playbooks/{id}?saved", status_code=303)
        case "remove":
            playbooks.remove_playbook(site.folder, id)
            return RedirectResponse("/playbooks?saved", status_code=303)
        case "run":
            playbook = playbooks.load_playbook(site.folder, id)
            values = {hole: form.text(f"hole-{hole}") for hole in playbook.holes}
            if not all(values.values()):
                wrong = {"run": "Fill in all of what it asks for."}
                return _one(request, playbook.written(), wrong, values)
            return await _run(site, playbook, values, form.text("conversation"))
        case _:
            raise HTTPException(404)


async def _run(site: Site, playbook: Playbook, values: dict[str, str], conversation: str) -> Response:
    if not conversation:
        row = conversations.create_conversation(site.store, workspace=str(usual_workspace(site)))
        conversation = row.id
        site.bus.changed(row.id)
    lines = [f"Run the playbook “{playbook.name}”.", *(f"{name}: {value}" for name, value in values.items())]
    room = site.bus.room(conversation)
    await room.planning.run(playbook.filled(values), playbook.name, "\n".join(lines))
    return RedirectResponse(f"{href(conversation)}?tab=plan", status_code=303)


def _checked(site: Site, playbook: Playbook) -> Playbook:
    """Raises ``InvalidPlaybook`` with all that keeps it from being a plan."""
    checked = check_plan(playbook.steps, [agent.id for agent in list_agents(site.folder)])
    if isinstance(checked, PlanRefused):
        raise InvalidPlaybook(checked.sentence)
    if wrong := wrong_fields(checked.steps):
        raise InvalidPlaybook(wrong)
    return playbook


def _list(request: Request, refused: str = "") -> Response:
    site = site_of(request)
    return site.page(
        "playbooks/page.html",
        status=422 if refused else 200,
        toast=saved(request),
        playbooks=[_view(each) for each in playbooks.list_playbooks(site.folder)],
        refused=refused,
        **site.scenes.shell(screen="playbooks"),
    )


def _one(
    request: Request, text: str, wrong: dict[str, str], values: dict[str, str] | None = None
) -> Response:
    site, id = site_of(request), request.path_params["playbook"]
    try:
        view = _view(playbooks.load_playbook(site.folder, id))
    except WorkspaceError as error:
        view, wrong = PlaybookView(id, id, (), ()), {"text": str(error), **wrong}
    places = [
        (row.id, one_line(row.title) or UNTITLED)
        for row in conversations.list_recent(site.store, limit=NEWEST)
    ]
    return site.page(
        "playbooks/one.html",
        status=422 if wrong else 200,
        toast=saved(request),
        playbook=view,
        text=plain(text),
        wrong=wrong,
        values=values or {},
        places=places,
        **site.scenes.shell(screen="playbooks"),
    )


def _view(playbook: Playbook) -> PlaybookView:
    steps = tuple(
        (one_line(str(step.get("title"))), one_line(str(step.get("assignee")))) for step in playbook.steps
    )
    return PlaybookView(playbook.id, one_line(playbook.name), steps, playbook.holes)
