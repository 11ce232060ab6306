"""The keys of a model source: kept encrypted under names of their own, forgotten with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from app.infra.secrets import SecretStore
from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.model_sources import add_source, change_source, find_source, load_source, remove_source
from app.workspace.source_checks import checked
from app.workspace.store import Store


def add_source_with_keys(
    store: Store,
    secrets: SecretStore,
    source: SourceConfig,
    keys: Sequence[str],
    *,
    in_order: Sequence[str] | None = None,
    plain_http_confirmed: bool = False,
) -> SourceConfig:
    """As ``add_source``, with keys that are not stored yet; together or not at all.

    Raises ``InvalidSource``, ``SecretsError``.
    """
    tidy = checked(source, plain_http_confirmed=plain_http_confirmed)
    refuse_known(store, tidy.name)
    with _stored(store, secrets, tidy.name, keys) as names:
        keyed = replace(tidy, keys=(*tidy.keys, *names))
        return add_source(store, keyed, in_order=in_order, plain_http_confirmed=plain_http_confirmed)


def change_source_with_keys(
    store: Store,
    secrets: SecretStore,
    source: SourceConfig,
    keys: Sequence[str] | None,
    *,
    plain_http_confirmed: bool = False,
) -> SourceConfig:
    """As ``change_source``; ``keys`` take the place of the stored ones, None leaves those as they are.

    Raises ``NotFound``, ``InvalidSource``, ``SecretsError``.
    """
    old = load_source(store, source.name)
    if keys is None:
        return change_source(store, replace(source, keys=old.keys), plain_http_confirmed=plain_http_confirmed)
    with _stored(store, secrets, source.name, keys) as names:
        changed = change_source(store, replace(source, keys=names), plain_http_confirmed=plain_http_confirmed)
    for key in old.keys:
        secrets.delete(key)
    return changed


@contextmanager
def _stored(
    store: Store, secrets: SecretStore, source: str, keys: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """The names that the keys are stored under; where the block fails none of them is."""
    names: list[str] = []
    try:
        for key in map(checked_key, keys):
            name = f"provider/{source}/{store.new_id('key')}"
            secrets.set(name, key)
            names.append(name)
        yield tuple(names)
    except BaseException:
        for name in names:
            secrets.delete(name)
        raise


def add_key(store: Store, secrets: SecretStore, source: str, key: str) -> SourceConfig:
    """One more key of a source, asked in turn with the others.

    Raises ``NotFound``, ``InvalidSource``, ``SecretsError``.
    """
    old = load_source(store, source)
    if checked_key(key) in {secrets.get(name) for name in old.keys}:
        raise InvalidSource(f"{source} has this key already.", "key")
    with _stored(store, secrets, source, [key]) as names:
        return change_source(store, replace(old, keys=(*old.keys, *names)), plain_http_confirmed=True)


def remove_key(store: Store, secrets: SecretStore, source: str, name: str) -> SourceConfig:
    """Forget one key of a source, by the name it is kept under. Raises ``NotFound``, ``SecretsError``."""
    old = load_source(store, source)
    if name not in old.keys:
        raise NotFound(f"{source} has no such key any more.")
    others = tuple(each for each in old.keys if each != name)
    changed = change_source(store, replace(old, keys=others), plain_http_confirmed=True)
    secrets.delete(name)
    return changed


def remove_source_with_keys(store: Store, secrets: SecretStore, name: str) -> SourceConfig:
    """As ``remove_source``, and its stored keys are gone too. Raises ``NotFound``, ``SecretsError``."""
    source = remove_source(store, name)
    for key in source.keys:
        secrets.delete(key)
    return source


def refuse_known(store: Store, name: str) -> None:
    """Raises ``InvalidSource`` where there is a source of that name already."""
    if find_source(store, name) is not None:
        raise InvalidSource(
            f'There is a model source "{name}" already. Choose another name; that one is changed under '
            f"Settings, Models, and removed with `plancia provider remove {name}`.",
            "name",
        )


def checked_key(key: str) -> str:
    """A key as servers take it, without what a copy put around it. Raises ``InvalidSource``; the text has no key."""
    tidy = key.strip()
    if not tidy or len(tidy) > 4000 or not tidy.isascii() or not tidy.isprintable() or " " in tidy:
        raise InvalidSource(
            "This cannot be a key: it is empty, or has spaces or characters that no key has. Copy it again.",
            "key",
        )
    return tidy
