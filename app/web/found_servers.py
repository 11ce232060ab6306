"""Model servers that answer on this computer, as pages offer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.providers.detection import FoundServer
from app.providers.sources import SourceConfig
from app.web.settings_views import FoundView
from app.web.site import Site
from app.workspace.model_sources import list_sources


def found_views(site: Site, servers: Iterable[FoundServer]) -> tuple[FoundView, ...]:
    """Servers that answered and are not in use yet, each with the form that adds it."""
    known = {source.base_url for source in list_sources(site.store)}
    return tuple(
        FoundView(server.title, _what_it_has(server.source), _as_fields(server.source))
        for server in servers
        if server.source.base_url not in known
    )


def _what_it_has(source: SourceConfig) -> str:
    count = len(source.models)
    models = "no model loaded" if count == 0 else "1 model" if count == 1 else f"{count} models"
    return f"answers on {source.base_url}, {models}."


def _as_fields(source: SourceConfig) -> Mapping[str, str]:
    return {
        "kind": source.kind,
        "name": source.name,
        "base_url": source.base_url or "",
        "models": ",".join(source.models),
    }
