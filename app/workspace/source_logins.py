"""The login of a gateway takes the place of its keys: kept encrypted, forgotten with the source."""

from __future__ import annotations

from dataclasses import replace

from app.infra.secrets import SecretStore
from app.providers.logins import Logins, login_name
from app.providers.oauth import Grant
from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource
from app.workspace.model_sources import change_source, load_source
from app.workspace.store import Store


def load_gateway(store: Store, name: str) -> SourceConfig:
    """A source that can be logged in to. Raises ``NotFound``, ``InvalidSource``."""
    source = load_source(store, name)
    if source.kind != "gateway":
        raise InvalidSource(
            f'"{name}" is of the kind {source.kind}, which takes a key. A login is for the kind gateway: add it as '
            f"one with `plancia provider add NAME --kind gateway --base-url {source.base_url or 'URL'} --login`.",
            "kind",
        )
    return source


async def keep_login(
    store: Store, secrets: SecretStore, logins: Logins, name: str, grant: Grant
) -> SourceConfig:
    """From now on the gateway is asked with this login; keys that it had are forgotten.

    Raises ``NotFound``, ``InvalidSource``, ``SecretsError``.
    """
    load_gateway(store, name)
    await logins.keep(name, grant)
    source = load_gateway(store, name)
    kept = login_name(name)
    # Whoever stored it knew that it is plain http, where it is.
    changed = change_source(store, replace(source, keys=(kept,)), plain_http_confirmed=True)
    for key in source.keys:
        if key != kept:
            secrets.delete(key)
    return changed
