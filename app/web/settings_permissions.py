"""Settings, permissions: how much new conversations do without asking, and the rules that the user made."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.web.plain import one_line
from app.web.setting_form import stored_settings, submit_settings
from app.web.settings_views import Chosen, RuleView
from app.web.site import Site, is_htmx, site_of
from app.web.times import local
from app.web.toasts import saved
from app.workspace import rules

KEYS = ("access.mode",)


async def page(request: Request) -> Response:
    site = site_of(request)
    return _page(request, stored_settings(site, KEYS))


async def change(request: Request) -> Response:
    """Where a value is not taken, nothing is stored and the field says why."""
    refused = await submit_settings(request, KEYS, ())
    if refused:
        return _page(request, refused, status=422)
    return RedirectResponse("/settings/permissions?saved", status_code=303)


async def revoke(request: Request) -> Response:
    """A rule allows nothing any more, from the next question on."""
    site = site_of(request)
    rules.revoke_rule(site.store, request.path_params["rule"])
    if is_htmx(request):
        return _page(request, stored_settings(site, KEYS))
    return RedirectResponse("/settings/permissions", status_code=303)


def _page(request: Request, chosen: Chosen, *, status: int = 200) -> Response:
    site = site_of(request)
    return site.page(
        "settings/permissions.html",
        status=status,
        toast=saved(request),
        chosen=chosen,
        rules=_rules(site),
        **site.scenes.shell(screen="settings"),
    )


def _rules(site: Site) -> tuple[RuleView, ...]:
    return tuple(
        RuleView(row.id, one_line(rules.rule_of(row).text), one_line(row.workspace), local(row.created))
        for row in rules.list_rules(site.store)
    )
