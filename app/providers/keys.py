"""The keys of a source: stored ones, those of the environment, or none where its server wants none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from app.engine.errors import ProviderError
from app.infra.errors import SecretsError
from app.providers import refusals
from app.providers.sources import SourceConfig
from app.providers.vendors import KEYLESS


@dataclass(frozen=True, slots=True)
class NamedKey:
    """``value`` None: the server is asked without a key; then ``name`` is empty."""

    name: str
    value: str | None = field(repr=False)


KEYLESS_KEY = NamedKey("", None)


class Keys:
    """``stored`` gives a secret by its name. Everything is looked up anew, so an edit counts at once."""

    def __init__(self, stored: Callable[[str], str | None], environment: Mapping[str, str]) -> None:
        self._stored = stored
        self._environment = environment

    def of(self, source: SourceConfig, litellm_hosts: Collection[str]) -> tuple[NamedKey, ...]:
        """At least one, each value once. A key of the environment goes to its own host only, never to an address
        given for another.

        Raises ``ProviderError`` (auth): there should be one and there is none, or they cannot be read.
        """
        if not (source.keys or source.host):
            self._require_key(source, litellm_hosts)
            return (KEYLESS_KEY,)
        found: dict[str, NamedKey] = {}
        try:
            for name in self.names(source):
                if value := self._value(source, name):
                    found.setdefault(value, NamedKey(name, value))
        except SecretsError as error:
            raise ProviderError("auth", str(error)) from error
        if not found:
            raise _missing(source)
        return tuple(found.values())

    def names(self, source: SourceConfig) -> tuple[str, ...]:
        """What its keys are called, without reading one; empty where it has none of its own."""
        if source.keys or source.host is None:
            return source.keys
        return tuple(name for name in source.host.keys if self._environment.get(name))

    def _value(self, source: SourceConfig, name: str) -> str | None:
        stored = self._stored(name) if source.keys else None
        return stored or self._environment.get(name)

    def _require_key(self, source: SourceConfig, litellm_hosts: Collection[str]) -> None:
        """litellm looks for the key of a host we do not know; where it could find none, that is said before."""
        host = source.name
        if source.base_url or host not in litellm_hosts or host.startswith(KEYLESS):
            return
        stem = re.split(r"[^a-z0-9]", host)[0].upper()
        if not any(stem in name.upper() for name in self._environment):
            raise refusals.no_key(host, host, "litellm", f"{host.upper().replace('-', '_')}_API_KEY")


def _missing(source: SourceConfig) -> ProviderError:
    host = source.host
    if source.keys or host is None:
        return refusals.key_missing(source.name, source.keys)
    return refusals.no_key(host.title, host.name, host.wire, host.keys[0])
