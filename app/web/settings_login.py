"""Settings, models: the login of one gateway, begun here and ended wherever the user has a browser.

The page asks every two seconds how it stands, and nothing else drives the login; without script it reloads itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from app.engine.errors import ProviderError
from app.infra.errors import SecretsError
from app.providers.logins import login_name
from app.providers.oauth import Grant
from app.providers.oauth_login import Attempt, LoginWish
from app.web.forms import read_form
from app.web.site import Site, is_htmx, onward, site_of
from app.web.source_form import with_models
from app.workspace.errors import InvalidSource
from app.workspace.model_sources import change_source
from app.workspace.source_logins import keep_login, load_gateway

HERE = "/settings/models"
FIELDS = ("issuer", "client_id", "scope")


@dataclass(frozen=True, slots=True)
class LoginView:
    """What the page of a login shows: the way to begin one, or what to do now."""

    source: str
    action: str
    is_logged_in: bool = False
    url: str = ""
    """To open; empty while no login is under way."""
    user_code: str = ""
    full_url: str = ""
    until: datetime | None = None
    error: str = ""
    values: Mapping[str, str] | None = None

    def value(self, name: str) -> str:
        return (self.values or {}).get(name, "")


async def page(request: Request) -> Response:
    """How the login stands; done, it leads back to the models. For a page with script nothing where nothing is new."""
    site, name = site_of(request), request.path_params["name"]
    load_gateway(site.store, name)
    attempt = site.attempts.find(name)
    if attempt is None:
        return onward(request, request.url.path) if is_htmx(request) else _show(request, site)
    try:
        grant = await site.attempts.poll(attempt)
        if grant is None:
            return Response(status_code=204) if is_htmx(request) else _show(request, site, attempt)
        await _keep(site, name, grant)
    except (ProviderError, SecretsError) as error:
        return _show(request, site, error=str(error))
    site.settings_changed()
    return onward(request, f"{HERE}?saved")


async def begin(request: Request) -> Response:
    """The first step of a new login, or why there is none."""
    site, sent = site_of(request), await read_form(request)
    source = load_gateway(site.store, request.path_params["name"])
    values = {name: sent.text(name) for name in FIELDS}
    try:
        wish = LoginWish(issuer=values["issuer"], client_id=values["client_id"], scope=values["scope"])
        await site.attempts.begin(source, wish)
    except ProviderError as error:
        return _show(request, site, error=error.message, values=values)
    return onward(request, request.url.path)


async def _keep(site: Site, name: str, grant: Grant) -> None:
    """With the models that the gateway lists, where none was named before."""
    source = await keep_login(site.store, site.secrets, site.logins, name, grant)
    try:
        named = await with_models(site, source, None)
    except InvalidSource:
        return
    if named != source:
        change_source(site.store, named, plain_http_confirmed=True)


def _show(
    request: Request,
    site: Site,
    attempt: Attempt | None = None,
    *,
    error: str = "",
    values: Mapping[str, str] | None = None,
) -> Response:
    name = request.path_params["name"]
    step = attempt.step if attempt else None
    view = LoginView(
        source=name,
        action=request.url.path,
        is_logged_in=login_name(name) in load_gateway(site.store, name).keys,
        url=step.url if step else "",
        user_code=step.user_code if step else "",
        full_url=step.full_url if step else "",
        until=step.expires.astimezone() if step else None,
        error=error,
        values=values,
    )
    template = "settings/login_state.html" if is_htmx(request) else "settings/login.html"
    status = 422 if error and request.method == "POST" else 200
    return site.page(template, status=status, login=view, **site.scenes.shell(screen="settings"))
