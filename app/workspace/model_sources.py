"""The model sources of the user, in the order in which they are preferred. Keys stand here by name only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.models.tables import ModelSource
from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.source_checks import checked
from app.workspace.store import Store

_COLUMNS = (
    "name",
    "kind",
    "base_url",
    "models",
    "context",
    "max_output",
    "price_in",
    "price_out",
    "keys",
)


def list_sources(store: Store) -> tuple[SourceConfig, ...]:
    return tuple(store.database.rows(_config, ModelSource.select().order_by(ModelSource.position)))


def find_source(store: Store, name: str) -> SourceConfig | None:
    return next((source for source in list_sources(store) if source.name == name), None)


def load_source(store: Store, name: str) -> SourceConfig:
    """As ``find_source``. Raises ``NotFound`` with the names there are."""
    source = find_source(store, name)
    if source is None:
        known = ", ".join(each.name for each in list_sources(store)) or "none yet"
        raise NotFound(f'There is no model source "{name}". There are: {known}.')
    return source


def add_source(store: Store, source: SourceConfig, *, plain_http_confirmed: bool = False) -> SourceConfig:
    """Add it as the last one, tidied up. Raises ``InvalidSource``; ``source_checks`` says what is refused.

    ``plain_http_confirmed``: the user knows that the key and all texts travel unencrypted.
    """
    tidy = checked(source, plain_http_confirmed=plain_http_confirmed)
    with store.database.transaction():
        known = list_sources(store)
        if any(each.name == tidy.name for each in known):
            raise InvalidSource(
                f'There is a model source "{tidy.name}" already. Choose another name, or remove that one first '
                f"with `plancia provider remove {tidy.name}`."
            )
        store.database.run(ModelSource.insert(_values(tidy), position=len(known) + 1))
    return tidy


def change_source(store: Store, source: SourceConfig, *, plain_http_confirmed: bool = False) -> SourceConfig:
    """Replace the one of the same name, in its place. Raises ``NotFound``, ``InvalidSource``."""
    tidy = checked(source, plain_http_confirmed=plain_http_confirmed)
    with store.database.transaction():
        load_source(store, tidy.name)
        store.database.run(ModelSource.update(_values(tidy)).where(ModelSource.name == tidy.name))
    return tidy


def remove_source(store: Store, name: str) -> SourceConfig:
    """Returns what it was, so that the caller can forget its stored keys. Raises ``NotFound``."""
    with store.database.transaction():
        source = load_source(store, name)
        store.database.run(ModelSource.delete().where(ModelSource.name == name))
        _write_order(store, list_sources(store))
    return source


def order_models(store: Store, labels: Sequence[str]) -> tuple[SourceConfig, ...]:
    """Prefer these ``provider/model`` in this order; whatever is not named follows in the order it had.

    Sources stand in the order of their first mention, the models of one source in that of theirs. A label
    without a model moves the source alone. Raises ``NotFound`` for a source or a model nobody has.
    """
    with store.database.transaction():
        sources = {source.name: source for source in list_sources(store)}
        named: dict[str, list[str]] = {}
        for label in labels:
            name, _, model = label.partition("/")
            _require_known(store, name, model)
            named.setdefault(name, []).extend([model] if model else [])
        rest = [name for name in sources if name not in named]
        _write_order(store, [_preferring(sources[name], named.get(name, [])) for name in (*named, *rest)])
        return list_sources(store)


def _require_known(store: Store, name: str, model: str) -> None:
    source = load_source(store, name)
    if model and source.models and model not in source.models:
        raise NotFound(f'"{name}" does not list the model "{model}". It lists: {", ".join(source.models)}.')


def _preferring(source: SourceConfig, models: Sequence[str]) -> SourceConfig:
    return replace(source, models=tuple(dict.fromkeys((*models, *source.models))))


def _write_order(store: Store, sources: Sequence[SourceConfig]) -> None:
    for position, source in enumerate(sources, start=1):
        change = ModelSource.update(_values(source), position=position)
        store.database.run(change.where(ModelSource.name == source.name))


def _values(source: SourceConfig) -> dict[str, object]:
    return {name: getattr(source, name) for name in _COLUMNS}


def _config(*row: Any) -> SourceConfig:
    values = dict(zip(_COLUMNS, row[: len(_COLUMNS)], strict=True))
    return SourceConfig(**{**values, "models": tuple(values["models"]), "keys": tuple(values["keys"])})
