"""Settings, permissions: access of new conversations, confinement, rules of the user, and folders that are granted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import get_args

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.hands.permissions.access import Answer
from app.hands.permissions.rules import FOLDERS
from app.web.forms import read_form
from app.web.plain import one_line
from app.web.setting_form import stored_settings, submit_settings
from app.web.settings_views import Chosen, RuleView
from app.web.site import is_htmx, site_of
from app.web.times import local
from app.web.toasts import saved
from app.workspace import grants, rules
from app.workspace.errors import InvalidRule
from app.workspace.rows import RuleRow

KEYS = ("access.mode",)
_DONE = "/settings/permissions?saved"


@dataclass(frozen=True, slots=True)
class Typed:
    """A form that was not taken: what was typed in it, and why."""

    text: str
    choice: str
    error: str


async def page(request: Request) -> Response:
    return await _page(request, stored_settings(site_of(request), KEYS))


async def change(request: Request) -> Response:
    """Where a value is not taken, nothing is stored and the field says why."""
    refused = await submit_settings(request, KEYS, ())
    if refused:
        return await _page(request, refused, status=422)
    return RedirectResponse(_DONE, status_code=303)


async def add_rule(request: Request) -> Response:
    """A rule about commands, written by hand."""
    site, form = site_of(request), await read_form(request)
    typed = form.text("command")
    answer = next((each for each in get_args(Answer) if each == form.text("answer")), None)
    if answer is None:
        raise HTTPException(400)
    try:
        grants.rule_commands(site.store, typed, answer)
    except InvalidRule as error:
        wrong = Typed(typed, answer, str(error))
        return await _page(request, stored_settings(site, KEYS), new_rule=wrong, status=422)
    return RedirectResponse(_DONE, status_code=303)


async def grant(request: Request) -> Response:
    """Open a folder to the tools of every conversation."""
    site, form = site_of(request), await read_form(request)
    typed, use = form.text("folder"), form.text("use")
    if use not in ("read", "write"):
        raise HTTPException(400)
    try:
        await run_sync(partial(grants.grant_folder, site.store, site.folder, typed, writing=use == "write"))
    except InvalidRule as error:
        wrong = Typed(typed, use, str(error))
        return await _page(request, stored_settings(site, KEYS), new_grant=wrong, status=422)
    return RedirectResponse(_DONE, status_code=303)


async def revoke(request: Request) -> Response:
    """A rule decides nothing any more, from the next question on."""
    site = site_of(request)
    rules.revoke_rule(site.store, request.path_params["rule"])
    if is_htmx(request):
        return await _page(request, stored_settings(site, KEYS))
    return RedirectResponse("/settings/permissions", status_code=303)


async def _page(
    request: Request,
    chosen: Chosen,
    *,
    new_rule: Typed | None = None,
    new_grant: Typed | None = None,
    status: int = 200,
) -> Response:
    site = site_of(request)
    confinement = await site.machine.confinement.get()
    rows = rules.list_rules(site.store)
    return site.page(
        "settings/permissions.html",
        status=status,
        toast=saved(request),
        chosen=chosen,
        badge=confinement.badge,
        refused=confinement.refused,
        rules=[_view(row) for row in rows if row.tool != FOLDERS],
        folders=[_view(row) for row in rows if row.tool == FOLDERS],
        new_rule=new_rule,
        new_grant=new_grant,
        **site.scenes.shell(screen="settings"),
    )


def _view(row: RuleRow) -> RuleView:
    rule = rules.rule_of(row)
    return RuleView(row.id, one_line(rule.text), rule.answer, one_line(row.workspace), local(row.created))
