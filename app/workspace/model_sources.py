"""The model sources of the user, and the order in which models are asked. Keys stand here by name only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from app.models.tables import ModelSource, OrderedModel
from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.model_facts import forget_facts
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


def list_order(store: Store) -> tuple[str, ...]:
    """``provider/model``, or a provider alone, as they are asked; ``providers.order`` says what that means now."""
    return tuple(store.database.rows(_label, OrderedModel.select().order_by(OrderedModel.position)))


def add_source(
    store: Store,
    source: SourceConfig,
    *,
    in_order: Sequence[str] | None = None,
    plain_http_confirmed: bool = False,
) -> SourceConfig:
    """Add it as the last one, tidied up. Raises ``InvalidSource``; ``source_checks`` says what is refused.

    ``in_order``: those of its models that the user named, each with a place of its own in the order; None = all.
    ``plain_http_confirmed``: the user knows that the key and all texts travel unencrypted.
    """
    tidy = checked(source, plain_http_confirmed=plain_http_confirmed)
    models = tidy.models if in_order is None else [model for model in tidy.models if model in in_order]
    with store.database.transaction():
        known = list_sources(store)
        if any(each.name == tidy.name for each in known):
            raise InvalidSource(
                f'There is a model source "{tidy.name}" already. Choose another name, or remove that one first '
                f"with `plancia provider remove {tidy.name}`."
            )
        store.database.run(ModelSource.insert(_values(tidy), position=len(known) + 1))
        _write_order(
            store, (*_places(store, known), *(f"{tidy.name}/{model}" for model in models), tidy.name)
        )
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
        store.database.run(OrderedModel.delete().where(OrderedModel.source == name))
        forget_facts(store, name)
        _write_sources(store, list_sources(store))
    return source


def order_models(
    store: Store, labels: Sequence[str], found: Sequence[SourceConfig] = ()
) -> tuple[SourceConfig, ...]:
    """Ask these ``provider/model`` in this order; whatever is not named follows in the order it had.

    A label without a model moves all that its source has in the order. Sources stand in the order of their first
    mention, the models of one source in that of theirs. ``found`` are those that the environment offers besides:
    each has one place, the last one until it is moved, and keeps its number while its variable is gone.
    Raises ``NotFound`` for a source or a model nobody has.
    """
    with store.database.transaction():
        sources = {source.name: source for source in list_sources(store)}
        beside = {source.name: source for source in found if source.name not in sources}
        named = [_place(store, label, beside) for label in labels]
        places = _places(store, (*sources.values(), *beside.values()))
        order = _with_absent(places, _reordered(places, named), {*sources, *beside})
        _write_order(store, _without_usual_end(order, tuple(beside)))
        names = dict.fromkeys((*(place.partition("/")[0] for place in named), *sources))
        _write_sources(store, [_preferring(sources[name], order) for name in names if name in sources])
        return list_sources(store)


def leave_out(store: Store, label: str) -> None:
    """Take a ``provider/model`` out of the order: it answers only where somebody chose it.

    A source keeps at least one place, that of the model it prefers. Raises ``NotFound``.
    """
    with store.database.transaction():
        name, _, model = label.partition("/")
        _require_known(store, name, model)
        source = load_source(store, name)
        order = [place for place in _places(store, list_sources(store)) if place != label]
        others = tuple(each for each in source.models if each != model)
        _write_order(store, order)
        change_source(store, replace(source, models=(*others, model)), plain_http_confirmed=True)


def _places(store: Store, sources: Iterable[SourceConfig]) -> tuple[str, ...]:
    """The whole order; a source that nobody ordered yet comes last."""
    return tuple(dict.fromkeys((*list_order(store), *(source.name for source in sources))))


def _reordered(places: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    named = (
        [label] if "/" in label else [place for place in places if place.partition("/")[0] == label]
        for label in labels
    )
    return tuple(dict.fromkeys((*chain.from_iterable(named), *places)))


def _with_absent(places: Sequence[str], order: Sequence[str], offered: Collection[str]) -> tuple[str, ...]:
    """``order``, in which sources that are not there now have the numbers that they had in ``places``."""
    absent = {place: number for number, place in enumerate(places) if place.partition("/")[0] not in offered}
    present = [place for place in order if place not in absent]
    for place, number in absent.items():
        present.insert(number, place)
    return tuple(present)


def _without_usual_end(order: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """``order`` without an end that is as it would be anyway, so that a source that is added comes before it."""
    same = 0
    while same < len(usual) and order[-1 - same] == usual[-1 - same]:
        same += 1
    return tuple(order[: len(order) - same])


def _place(store: Store, label: str, beside: Mapping[str, SourceConfig]) -> str:
    """What stands in the order for a label; ``beside`` are the sources of the environment. Raises ``NotFound``."""
    name, _, model = label.partition("/")
    if name not in beside:
        _require_known(store, name, model)
        return label
    if model and model not in beside[name].usual_models:
        raise NotFound(
            f'"{name}" comes from the environment, which gives it one place in the order. Move "{name}", or add it '
            f'as a source of its own to put "{model}" there.'
        )
    return name


def _require_known(store: Store, name: str, model: str) -> None:
    source = load_source(store, name)
    if model and source.models and model not in source.models:
        raise NotFound(f'"{name}" does not list the model "{model}". It lists: {", ".join(source.models)}.')


def _preferring(source: SourceConfig, order: Sequence[str]) -> SourceConfig:
    """With its models as they stand in the order."""
    named = (model for name, _, model in (label.partition("/") for label in order) if name == source.name)
    models = dict.fromkeys(model for model in (*named, *source.models) if model in source.models)
    return replace(source, models=tuple(models))


def _write_order(store: Store, labels: Sequence[str]) -> None:
    store.database.run(OrderedModel.delete())
    for position, label in enumerate(dict.fromkeys(labels), start=1):
        name = label.partition("/")[0]
        store.database.run(OrderedModel.insert(label=label, source=name, position=position))


def _write_sources(store: Store, sources: Sequence[SourceConfig]) -> None:
    for position, source in enumerate(sources, start=1):
        change = ModelSource.update(_values(source), position=position)
        store.database.run(change.where(ModelSource.name == source.name))


def _label(label: str, *_: object) -> str:
    return label


def _values(source: SourceConfig) -> dict[str, object]:
    return {name: getattr(source, name) for name in _COLUMNS}


def _config(*row: Any) -> SourceConfig:
    values = dict(zip(_COLUMNS, row[: len(_COLUMNS)], strict=True))
    return SourceConfig(**{**values, "models": tuple(values["models"]), "keys": tuple(values["keys"])})
