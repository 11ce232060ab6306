"""Settings, web: who searches, with which key or at which address, and whether that works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.engine.tools import ToolContext, ToolOutput
from app.infra.errors import SecretsError
from app.web.forms import Form, read_form
from app.web.page_views import Toast
from app.web.plain import first_sentence
from app.web.setting_form import stored_settings, submit_settings
from app.web.settings_views import Chosen, SearchKeyView, Tested
from app.web.site import Site, site_of
from app.web.source_form import unquoted
from app.web.toasts import saved
from app.workspace.errors import InvalidSource
from app.workspace.source_keys import checked_key
from app.workspace.web_search import (
    KEYED,
    forget_key,
    key_of_environment,
    key_place,
    search_engine,
    store_key,
)

if TYPE_CHECKING:
    from app.hands.search_engines import SearchEngine

HERE = "/settings/web"
KEYS = ("web.search", "web.searxng_url")
MAY_BE_EMPTY = ("web.searxng_url",)
ASKED = "weather"
"""What a test searches for: every engine finds something."""


async def page(request: Request) -> Response:
    site = site_of(request)
    return _page(site, stored_settings(site, KEYS), toast=saved(request))


async def change(request: Request) -> Response:
    """Where something is missing or not taken, nothing is stored and the field says why. Keys are not shown again."""
    site, form = site_of(request), await read_form(request)
    try:
        errors = _wrong_keys(form) or _lacking(site, form)
        refused = _typed(site, form, errors) if errors else await submit_settings(request, KEYS, MAY_BE_EMPTY)
        if refused:
            return _page(site, refused, status=422)
        for engine in KEYED:
            if form.text(f"key.{engine}"):
                store_key(site.secrets, engine, unquoted(form.text(f"key.{engine}")))
            elif form.text(f"forget.{engine}") == "yes":
                forget_key(site.secrets, engine)
    except SecretsError as error:
        return _page(site, _typed(site, form, {"": str(error)}), status=422)
    return RedirectResponse(f"{HERE}?saved", status_code=303)


async def test(request: Request) -> Response:
    """Ask the engine as it is stored for one word, as a member would."""
    from app.hands.web import web_tools  # brings in httpx, and no other page needs it

    site = site_of(request)
    engine = await run_sync(search_engine, site.store, site.secrets, site.environment)
    search = web_tools(engine)["web_search"]
    output = await search.execute({"query": ASKED, "count": 3}, ToolContext("test", lambda *_: None))
    return _page(site, stored_settings(site, KEYS), tested=result_of(engine, output))


def result_of(engine: SearchEngine, output: ToolOutput) -> Tested:
    """What came of a test, in words for the user: what a member is told ends with what it could do itself."""
    if output.error is None:
        found = "" if output.text.count("\n") else f", but found nothing for “{ASKED}”"
        return Tested(True, f"{engine.name} answers{found}.")
    what, _ = first_sentence(output.text.removeprefix(f"{output.error}: "))
    return Tested(False, f"{what}. {_way_out(engine, output)}")


def _way_out(engine: SearchEngine, output: ToolOutput) -> str:
    from app.hands.search_engines import NotReady

    if isinstance(engine, NotReady):
        return "Enter it above, or choose another engine."
    match engine.name, output.error, output.transient:
        case "DuckDuckGo", "E_DENIED", _:
            return "Try again later, or choose another engine."
        case "SearXNG", "E_DENIED", _:
            return "Enter the address of a server that gives JSON: search.formats in its settings.yml has to list json."
        case _, "E_DENIED", _:
            return "Enter its key again."
        case "SearXNG", _, _:
            return "Check its address, and that the server runs."
        case _, _, True:
            return "Try again later; check the network if it goes on."
        case _:
            return "Choose another engine if it goes on."


def _wrong_keys(form: Form) -> dict[str, str]:
    """What was typed as a key and cannot be one, by field; the texts hold no key."""
    wrong = {}
    for engine in KEYED:
        if typed := form.text(f"key.{engine}"):
            try:
                checked_key(unquoted(typed))
            except InvalidSource as error:
                wrong[f"key.{engine}"] = str(error)
    return wrong


def _lacking(site: Site, form: Form) -> dict[str, str]:
    """What the chosen engine needs and would not have, by field. Raises ``SecretsError``."""
    chosen = form.text("web.search")
    if chosen == "searxng" and not form.text("web.searxng_url"):
        return {
            "web.searxng_url": "SearXNG needs the address of a server. Enter it, or choose another engine."
        }
    if chosen not in KEYED or form.text(f"key.{chosen}"):
        return {}
    stays = form.text(f"forget.{chosen}") != "yes" and key_place(site.secrets, {}, chosen) == "stored"
    if stays or key_of_environment(chosen, site.environment):
        return {}
    return {f"key.{chosen}": f"{KEYED[chosen].title} needs a key. Enter it, or choose another engine."}


def _typed(site: Site, form: Form, errors: Mapping[str, str]) -> Chosen:
    values = stored_settings(site, KEYS).values
    return Chosen({**values, **{key: form.text(key) for key in KEYS if key in form.data}}, errors)


def _page(
    site: Site, chosen: Chosen, *, tested: Tested | None = None, toast: Toast | None = None, status: int = 200
) -> Response:
    return site.page(
        "settings/web.html",
        status=status,
        toast=toast,
        chosen=chosen,
        keys=[_key_view(site, engine) for engine in KEYED],
        tested=tested,
        **site.scenes.shell(screen="settings"),
    )


def _key_view(site: Site, engine: str) -> SearchKeyView:
    try:
        place = key_place(site.secrets, site.environment, engine)
    except SecretsError:
        place = "nowhere"
    return SearchKeyView(engine, KEYED[engine].title, place, KEYED[engine].variable)
