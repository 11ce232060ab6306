"""The agents: a list, and a form for each that changes its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.web.agent_views import AgentForm, ReportView, agent_view
from app.web.forms import Form, read_form
from app.web.page_views import ModelOption, Toast
from app.web.plain import one_line
from app.web.scene import model_label
from app.web.site import Site, site_of
from app.web.toasts import saved
from app.workspace import agents, turns
from app.workspace.agent_files import HUES, AgentFile, id_for
from app.workspace.agent_tools import OFFERED, known_tools
from app.workspace.errors import AgentChanged, InvalidAgent

TEXTS = ("name", "description", "model", "color", "prompt", "seen")


async def page(request: Request) -> Response:
    return show_list(request)


def show_list(
    request: Request,
    *,
    report: Sequence[ReportView] = (),
    path: str = "",
    refused: str = "",
) -> Response:
    """``report``: what became of files that were to be taken over from ``path``; ``refused``: why that failed."""
    site = site_of(request)
    taken = turns.count_by_member(site.store)
    everybody = [
        (agent, agent_view(agent, taken.get(agent.id, 0))) for agent in agents.list_agents(site.folder)
    ]
    return site.page(
        "agents/page.html",
        status=422 if refused else 200,
        toast=saved(request) or _way_back(request),
        commander=taken.get("commander", 0),
        team=[view for agent, view in everybody if agent.is_shipped],
        own=[view for agent, view in everybody if not agent.is_shipped],
        place=one_line(str(site.folder.agents)),
        report=report,
        path=path,
        refused=refused,
        **site.scenes.shell(screen="agents"),
    )


async def new(request: Request) -> Response:
    color = f"a{len(agents.list_agents(site_of(request).folder)) % len(HUES) + 1}"
    return _form(site_of(request), None, AgentForm({"tools": "all", "color": color}))


async def create(request: Request) -> Response:
    """Make the file of a new one, called after its name."""
    site, form = site_of(request), await read_form(request)
    taken = [agent.id for agent in agents.list_agents(site.folder)]
    agent = _typed(form, AgentFile(id_for(form.text("name"), taken), ""))
    return _saved(site, None, agent, form)


async def edit(request: Request) -> Response:
    site = site_of(request)
    agent = agents.load_agent(site.folder, request.path_params["agent"])
    return _form(site, agent, _stored(agent), toast=saved(request))


async def save(request: Request) -> Response:
    """Change its file where nothing else did since the form was shown."""
    site, form = site_of(request), await read_form(request)
    agent = agents.load_agent(site.folder, request.path_params["agent"])
    return _saved(site, agent, _typed(form, agent), form)


async def act(request: Request) -> Response:
    """Switch one on or off, remove it, or bring it back."""
    site, id, word = site_of(request), request.path_params["agent"], request.path_params["act"]
    match word:
        case "on" | "off":
            agents.set_disabled(site.folder, id, disabled=word == "off")
            site.settings_changed()
            return RedirectResponse("/agents?saved", status_code=303)
        case "remove":
            agents.remove_agent(site.folder, id)
            site.settings_changed()
            return RedirectResponse(f"/agents?removed={id}", status_code=303)
        case "restore":
            agents.restore_agent(site.folder, id)
            site.settings_changed()
            return RedirectResponse(f"/agents/{id}?saved", status_code=303)
        case _:
            raise HTTPException(404)


def _saved(site: Site, before: AgentFile | None, agent: AgentFile, form: Form) -> Response:
    try:
        agents.save_agent(site.folder, agent, seen=form.text("seen"))
    except InvalidAgent as refused:
        return _form(site, before, _again(form, errors={refused.field: str(refused)}))
    except AgentChanged as changed:
        return _form(site, before, _again(form, stale=str(changed), seen=before.version if before else ""))
    site.settings_changed()
    return RedirectResponse(f"/agents/{agent.id}?saved", status_code=303)


def _form(site: Site, agent: AgentFile | None, form: AgentForm, toast: Toast | None = None) -> Response:
    everybody = agents.list_agents(site.folder)
    return site.page(
        "agents/edit.html",
        status=form.status,
        toast=toast,
        form=form,
        agent=agent_view(agent) if agent else None,
        file=agent,
        place=one_line(str(site.folder.agents / f"{agent.id}.md")) if agent else "",
        team=[agent_view(each) for each in everybody if each.is_shipped],
        own=[view for each in everybody if not each.is_shipped and (view := agent_view(each)).href],
        models=_models(site, form.value("model")),
        hues=HUES,
        groups=OFFERED,
        **site.scenes.shell(screen="agents"),
    )


def _stored(agent: AgentFile) -> AgentForm:
    values = {
        "name": agent.name,
        "description": agent.description,
        "model": agent.model or "",
        "color": agent.color,
        "prompt": agent.prompt,
        "seen": agent.version,
        "tools": "all" if agent.tools is None else "some",
        "interactive": "yes" if agent.interactive else "",
    }
    return AgentForm(values, frozenset(agent.tools or ()))


def _again(form: Form, *, errors: dict[str, str] | None = None, stale: str = "", **now: str) -> AgentForm:
    """The form as it was typed; ``now`` are values that do not come from it."""
    values = {name: form.raw(name) for name in (*TEXTS, "tools", "interactive")}
    return AgentForm(values | now, frozenset(_tools(form)), errors or {}, stale)


def _typed(form: Form, agent: AgentFile) -> AgentFile:
    """``agent`` as the form says it; what the form does not ask stays."""
    return replace(
        agent,
        name=form.text("name"),
        description=form.text("description"),
        model=form.text("model") or None,
        color=form.text("color") if form.text("color") in HUES else agent.color,
        prompt=form.text("prompt"),
        tools=known_tools([*_tools(form), *_unoffered(agent)]) if form.text("tools") == "some" else None,
        interactive=bool(form.text("interactive")),
    )


def _unoffered(agent: AgentFile) -> list[str]:
    offered = {name for names in OFFERED.values() for name in names}
    return [name for name in agent.tools or () if name not in offered]


def _tools(form: Form) -> list[str]:
    return [str(name) for name in form.data.getlist("tool")]


def _models(site: Site, chosen: str) -> list[ModelOption]:
    """Every model on offer; one that was chosen and is gone stays visible."""
    labels = [choice.label for choice in site.sources.choices()]
    options = [ModelOption(label, model_label(label), label == chosen) for label in labels]
    gone = chosen and chosen not in labels
    return (
        [*options, ModelOption(chosen, f"{one_line(chosen)} (not on offer now)", True)] if gone else options
    )


def _way_back(request: Request) -> Toast | None:
    """Says who was removed right before this page, and brings it back."""
    id = request.query_params.get("removed", "")
    if not agents.is_removed(site_of(request).folder, id):
        return None
    return Toast(f"Removed “{id}”.", undo=f"/agents/{id}/restore")
