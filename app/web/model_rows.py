"""The rows of the settings of models: the order in which they answer, and the sources with their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from app.infra.errors import SecretsError
from app.infra.ids import made_at
from app.providers.logins import is_login
from app.providers.model_facts import NOTHING_SAID
from app.providers.routing import KeyStanding
from app.providers.sources import SourceConfig, from_environment
from app.providers.wires import loads_litellm
from app.web.model_words import (
    asleep,
    facts_in_words,
    key_in_words,
    margin_of,
    rest_view,
    shortest_rest,
)
from app.web.settings_views import KINDS, KeyView, PlaceView, SourceView, Tested
from app.web.site import Site
from app.workspace.model_facts import list_facts
from app.workspace.model_sources import list_sources

_Answer = tuple[datetime, str, str]
"""When which source answered with which model."""

_ENDING = 4
_LONG_ENOUGH = 20
"""Characters of a key of which the last few give nothing away."""


def all_sources(site: Site) -> tuple[SourceConfig, ...]:
    """Those of the user, then those that the environment offers besides."""
    own = list_sources(site.store)
    names = {source.name for source in own}
    return (*own, *(source for source in from_environment(site.environment) if source.name not in names))


def source_views(
    site: Site,
    endings: Mapping[str, str],
    tested: Mapping[str, Tested] = {},
    errors: Mapping[str, str] = {},
) -> list[SourceView]:
    """``endings`` are those of ``read_endings``; ``tested`` and ``errors`` of this very request, by source."""
    sources = all_sources(site)
    standings = {source.name: site.sources.standing(source) for source in sources}
    newest = _newest(standings)
    return [
        SourceView(
            rank=place,
            name=source.name,
            kind=dict(KINDS)[source.kind],
            address=source.base_url or "",
            margin=margin_of(source, _names(standings[source.name])),
            keys=tuple(
                _key(site, source, number, key, endings, newest)
                for number, key in enumerate(standings[source.name], start=1)
                if key.name
            ),
            models=source.models or source.usual_models,
            own=source.origin == "configured",
            loads=loads_litellm(source.kind),
            logs_in=source.kind == "gateway",
            tested=tested.get(source.name),
            error=errors.get(source.name, ""),
        )
        for place, source in enumerate(sources, start=1)
    ]


def place_views(site: Site, tested: Mapping[str, Tested] = {}) -> list[PlaceView]:
    """The order as it counts. ``tested`` is of this very request, by ``provider/model``."""
    groups = site.sources.groups()
    count = Counter(group.source.name for group in groups)
    standings = {group.source.name: site.sources.standing(group.source) for group in groups}
    newest = _newest(standings)
    now, said, views = site.store.clock.now(), list_facts(site.store), []
    for rank, group in enumerate(groups, start=1):
        source, keys = group.source, standings[group.source.name]
        facts, rest = site.sources.facts(source, group.model), shortest_rest(keys)
        own = said.get((source.name, group.model), NOTHING_SAID)
        assumed = not facts.known and source.context is None and own.context is None
        views.append(
            PlaceView(
                rank=rank,
                label=group.label,
                model=group.model,
                source=source.name,
                key=key_in_words(source, _names(keys)),
                known=facts_in_words(facts, assumed=assumed),
                rest=rest_view(rest, now) if rest else None,
                asleep=asleep(keys),
                newest=newest is not None and newest[1:] == (source.name, group.model),
                loads=loads_litellm(source.kind),
                spare=source.origin == "configured" and count[source.name] > 1,
                tested=tested.get(group.label),
            )
        )
    return views


def thinkers(site: Site) -> list[str]:
    """``provider/model`` of those in the order that are asked to think: they are known to reason."""
    return [
        group.label
        for group in site.sources.groups()
        if site.sources.facts(group.source, group.model).reasoning
    ]


def _key(
    site: Site,
    source: SourceConfig,
    number: int,
    key: KeyStanding,
    endings: Mapping[str, str],
    newest: _Answer | None,
) -> KeyView:
    stored = key.name in source.keys and "/" in key.name
    return KeyView(
        name=key.name,
        title="login" if is_login(key.name) else f"key {number}" if stored else key.name,
        ending=endings.get(key.name, ""),
        added=_added(key.name),
        rest=rest_view(key.rest, site.store.clock.now()) if key.rest else None,
        answered=key.answered.at.astimezone() if key.answered else None,
        newest=newest is not None and _answer(source.name, key) == newest,
    )


def _added(name: str) -> datetime | None:
    made = made_at(name.rpartition("/")[2])
    return made.astimezone() if made else None


def read_endings(site: Site) -> dict[str, str]:
    """By what their owner knows stored keys again, by name; nothing of short ones. In a thread: a keyring may ask."""
    names = [name for source in list_sources(site.store) for name in source.keys if not is_login(name)]
    try:
        keys = {name: site.secrets.get(name) or "" for name in names}
    except SecretsError:
        return {}
    return {name: key[-_ENDING:] for name, key in keys.items() if len(key) >= _LONG_ENOUGH}


def _names(keys: Sequence[KeyStanding]) -> list[str]:
    return [key.name for key in keys if key.name]


def _newest(standings: Mapping[str, Sequence[KeyStanding]]) -> _Answer | None:
    answers = [_answer(source, key) for source, keys in standings.items() for key in keys]
    return max((answer for answer in answers if answer), default=None)


def _answer(source: str, key: KeyStanding) -> _Answer | None:
    return (key.answered.at, source, key.answered.model) if key.answered else None
