"""Which model answers: a model string, the configured sources and the keys of the environment, resolved.

``provider/model``: the configured source of that name, else one that lists the whole string, else the known
host with a key in the environment, else a usual server of this machine, else any host that litellm knows.
A bare name: the first configured source that lists it, else the host whose models begin like it.
None: the default that was set, else the first configured model, else the first key of the environment, and only
where nothing real is configured the demo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.engine.errors import ProviderError
from app.engine.provider import Provider, ResolvedModel
from app.infra.errors import SecretsError
from app.providers import demo, refusals
from app.providers.catalogue import Catalogue
from app.providers.detection import local_source
from app.providers.sources import SourceConfig, from_environment
from app.providers.vendors import KEYLESS, VENDORS, find_vendor, vendor_of
from app.providers.wires import DEMO, Wire, places_of, wire_of

_LOADED_WINDOW = 32_768
"""Tokens, for a server that loads its models with the window it is asked for."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One line of a model picker; ``label`` is ``provider/model``."""

    label: str
    origin: Literal["configured", "environment", "demo"]
    variable: str | None = None
    """The environment variable that holds its key."""


class Sources:
    """The registry of models. Configuration is read anew at every question, so an edit counts at once.

    ``stored_key`` gives a secret by name, ``connect`` the provider for a wire (``Wiring.connect``).
    """

    def __init__(
        self,
        *,
        configured: Callable[[], Sequence[SourceConfig]],
        default: Callable[[], str | None],
        stored_key: Callable[[str], str | None],
        environment: Mapping[str, str],
        connect: Callable[[Wire], Provider],
        catalogue: Catalogue,
    ) -> None:
        self._configured = configured
        self._default = default
        self._stored_key = stored_key
        self._environment = environment
        self._connect = connect
        self._catalogue = catalogue

    def resolve(self, name: str | None) -> ResolvedModel:
        """Raises ``ProviderError``: unknown_model, auth (a missing key), local (a setting that cannot work)."""
        asked = (name or "").strip()
        if not asked:
            return self._default_model()
        provider, slash, model = asked.partition("/")
        return self._pair(provider, model) if slash and provider and model else self._bare(asked)

    def choices(self) -> tuple[ModelChoice, ...]:
        """Every model that is known without asking a server, the preferred one first; the demo only alone."""
        listed = tuple(
            ModelChoice(f"{source.name}/{model}", source.origin, _variable(source))
            for source in self._all()
            for model in source.usual_models
        )
        return listed or (ModelChoice(demo.MODEL, "demo"),)

    def default_label(self) -> str | None:
        """``provider/model`` that ``resolve(None)`` would take, named without reaching for it."""
        chosen, offered = self._default(), self.choices()
        if chosen and not (chosen == demo.MODEL and offered[0].origin != "demo"):
            return chosen
        return offered[0].label if offered else None

    def try_out(self, source: SourceConfig, key: str | None) -> Provider:
        """The provider of a source that is not kept yet, with the key it would have. Raises as ``resolve``."""
        return self._connect(wire_of(source, key or self._key(source), self._litellm_hosts(source)))

    def places(self, source: SourceConfig) -> frozenset[str]:
        """Where the key of a source is sent; a key may not go elsewhere unasked. Raises ``ProviderError`` (local)."""
        return places_of(source, self._litellm_hosts(source))

    def _default_model(self) -> ResolvedModel:
        sources = self._all()
        chosen = self._default()
        if chosen and not (sources and chosen == demo.MODEL):
            return self.resolve(chosen)
        for source in sources:
            if source.usual_models:
                return self._model(source, source.usual_models[0])
        if sources:
            raise refusals.no_model_chosen(sources[0].name)
        return self._demo()

    def _pair(self, provider: str, model: str) -> ResolvedModel:
        sources = self._all()
        asked = f"{provider}/{model}"
        if asked.lower() == demo.MODEL:
            return self._demo()
        for source in sources:
            if source.name.lower() == provider.lower() and source.origin == "configured":
                return self._offered(source, model)
        for source in sources:
            if asked in source.models:
                return self._model(source, asked)
        return self._host(provider, model)

    def _host(self, provider: str, model: str) -> ResolvedModel:
        """A host that nobody configured: by a key of the environment, or as litellm reaches it."""
        vendor = find_vendor(provider)
        if vendor is not None:
            for source in self._all():
                if source.vendor == vendor:
                    return self._offered(source, model)
            raise refusals.no_key(vendor.title, vendor.name, vendor.wire, vendor.keys[0])
        local = local_source(provider, self._environment)
        if local is not None:
            return self._model(local, model)
        if provider in self._catalogue.vendors:
            return self._model(SourceConfig(provider, "litellm", origin="environment"), model)
        if provider.lower() == "demo":
            raise refusals.not_offered("demo", model, ("tour",))
        known = (*(source.name for source in self._all()), *(vendor.name for vendor in VENDORS))
        raise refusals.unknown_provider(provider, known)

    def _bare(self, name: str) -> ResolvedModel:
        for source in self._all():
            if name in source.models:
                return self._model(source, name)
        vendor = vendor_of(name)
        if vendor is None:
            raise refusals.unknown_name(name, [choice.label for choice in self.choices()])
        return self._host(vendor.name, name)

    def _offered(self, source: SourceConfig, model: str) -> ResolvedModel:
        if source.models and model not in source.models:
            raise refusals.not_offered(source.name, model, source.models)
        return self._model(source, model)

    def _model(self, source: SourceConfig, model: str) -> ResolvedModel:
        wire = wire_of(source, self._key(source), self._litellm_hosts(source))
        facts = self._catalogue.facts(source.host_name, model)
        window = source.context or facts.context_window
        if source.kind == "ollama":
            # It loads a model with the window it is asked for, and most machines cannot hold what a model could.
            window = source.context or min(window, _LOADED_WINDOW)
            wire = replace(wire, context=window)
        return ResolvedModel(
            provider=self._connect(wire),
            model=model,
            endpoint=wire.base_url,
            context_window=window,
            max_output=source.max_output or facts.max_output,
            price_in=facts.price_in if source.price_in is None else source.price_in,
            price_out=facts.price_out if source.price_out is None else source.price_out,
        )

    def _key(self, source: SourceConfig) -> str | None:
        """A key of the environment goes to its own host only, never to an address given for another."""
        try:
            for name in source.keys:
                if key := self._stored_key(name) or self._environment.get(name):
                    return key
        except SecretsError as error:
            raise ProviderError("auth", str(error)) from error
        if source.keys:
            raise refusals.key_missing(source.name, source.keys)
        host = source.host
        if host is None:
            self._require_key(source)
            return None
        for name in host.keys:
            if key := self._environment.get(name):
                return key
        raise refusals.no_key(host.title, host.name, host.wire, host.keys[0])

    def _require_key(self, source: SourceConfig) -> None:
        """litellm looks for the key of a host we do not know; where it could find none, that is said before."""
        host = source.name
        if source.base_url or host not in self._litellm_hosts(source) or host.startswith(KEYLESS):
            return
        stem = re.split(r"[^a-z0-9]", host)[0].upper()
        if not any(stem in name.upper() for name in self._environment):
            raise refusals.no_key(host, host, "litellm", f"{host.upper().replace('-', '_')}_API_KEY")

    def _demo(self) -> ResolvedModel:
        provider = self._connect(DEMO)
        return ResolvedModel(provider, demo.NAME, None, demo.CONTEXT_WINDOW, None, 0.0, 0.0)

    def _all(self) -> tuple[SourceConfig, ...]:
        """What the user configured, then what the environment offers besides."""
        configured = tuple(self._configured())
        taken = {source.name.lower() for source in configured}
        found = from_environment(self._environment)
        return (*configured, *(source for source in found if source.name not in taken))

    def _litellm_hosts(self, source: SourceConfig) -> frozenset[str]:
        return self._catalogue.vendors if source.kind == "litellm" else frozenset()


def _variable(source: SourceConfig) -> str | None:
    return source.keys[0] if source.keys and source.origin == "environment" else None
