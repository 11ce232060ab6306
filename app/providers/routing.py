"""Which model answers: a model string, the configured sources and the keys of the environment, resolved.

``provider/model``: the configured source of that name, else one that lists the whole string, else the known
host with a key in the environment, else a usual server of this machine, else any host that litellm knows.
A bare name: the first configured source that lists it, else the host whose models begin like it.
None: the default that was set, else the first group of the user's order, and only where nothing real is configured
the demo. Behind such a model stand the other groups of the order; behind one that was asked for by name nobody does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from app.engine.errors import ProviderError
from app.engine.provider import EFFORTS, Effort, Provider, ResolvedModel, nobody
from app.providers import demo, refusals
from app.providers.catalogue import Catalogue, ModelFacts
from app.providers.cooldown import Answered, Cooldowns, Rest
from app.providers.detection import local_source
from app.providers.keys import KEYLESS_KEY, Keys, NamedKey
from app.providers.model_facts import NOTHING_SAID, Said, facts_in_force, known_facts
from app.providers.order import Group, groups
from app.providers.rotation import Candidate, Pool, Refused
from app.providers.sources import SourceConfig, from_environment
from app.providers.vendors import VENDORS, find_vendor, vendor_of
from app.providers.wires import DEMO, Wire, places_of, wire_of

Fallback = Callable[[], ResolvedModel | None]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One line of a model picker; ``label`` is ``provider/model``."""

    label: str
    origin: Literal["configured", "environment", "demo"]
    variable: str | None = None
    """The environment variable that holds its key."""


@dataclass(frozen=True, slots=True)
class KeyStanding:
    """A key as a settings page shows it: by name, whether it rests and why, and what it answered last."""

    name: str
    """Of the stored secret or of the variable; empty where the server wants no key."""
    rest: Rest | None
    answered: Answered | None


class Sources:
    """The registry of models. Configuration is read anew at every question, so an edit counts at once.

    ``order`` are the ``provider/model`` that the user put into an order, ``said`` is what was said of single models,
    ``reasoning`` how much thinking is asked of those that reason,
    ``stored_key`` gives a secret by name, ``connect`` the provider for a wire (``Wiring.connect``).
    """

    def __init__(
        self,
        *,
        configured: Callable[[], Sequence[SourceConfig]],
        default: Callable[[], str | None],
        order: Callable[[], Sequence[str]] = tuple,
        said: Callable[[], Said] = dict,
        reasoning: Callable[[], str] = lambda: "off",
        stored_key: Callable[[str], str | None],
        environment: Mapping[str, str],
        connect: Callable[[Wire], Provider],
        catalogue: Catalogue,
        cooldowns: Cooldowns,
    ) -> None:
        self._configured = configured
        self._default = default
        self._order = order
        self._said = said
        self._reasoning = reasoning
        self._keys = Keys(stored_key, environment)
        self._environment = environment
        self._connect = connect
        self._catalogue = catalogue
        self._cooldowns = cooldowns

    def resolve(self, name: str | None) -> ResolvedModel:
        """Raises ``ProviderError``: unknown_model, auth (a missing key), local (a setting that cannot work)."""
        asked = (name or "").strip()
        if not asked:
            return self._default_model()
        found = self._find(asked)
        return self._model(found) if found else self._demo()

    def for_pictures(self) -> Sources:
        """The same sources and keys, asked for pictures: their lists are of models that chat, so others count too."""
        other, configured = copy(self), self._configured
        other._configured = lambda: [replace(source, models=()) for source in configured()]
        return other

    def groups(self) -> tuple[Group, ...]:
        """The default that was set, the order of the user, then what the environment offers besides. Never the demo."""
        first = self.preferred()
        return groups(self._all(), (*((first,) if first else ()), *self._order()))

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
        chosen, ordered = self._default(), self.groups()
        if chosen and not (chosen == demo.MODEL and ordered):
            return chosen
        return ordered[0].label if ordered else self.choices()[0].label

    def facts(self, source: SourceConfig, model: str) -> ModelFacts:
        """What counts for one of its models: the user's word first."""
        return facts_in_force(source, model, self._said(), self._catalogue)

    def known_facts(self, source: SourceConfig, model: str) -> ModelFacts:
        """What would count if the user had said nothing of that model."""
        return known_facts(source, model, self._catalogue)

    def standing(self, source: SourceConfig) -> tuple[KeyStanding, ...]:
        """Each key of a source, in its order, without reading one."""
        names = self._keys.names(source) or (KEYLESS_KEY.name,)
        return tuple(KeyStanding(name, *self._cooldowns.standing(source.name, name)) for name in names)

    def try_out(self, source: SourceConfig, key: str | None) -> Pool:
        """A source that need not be kept yet, with the key it would have, else its own. Raises as ``resolve``."""
        hosts = self._litellm_hosts(source)
        keys = (NamedKey("", key),) if key else self._keys.of(source, hosts)
        return self._pool(source.name, wire_of(source, None, hosts), keys)

    def places(self, source: SourceConfig) -> frozenset[str]:
        """Where the key of a source is sent; a key may not go elsewhere unasked. Raises ``ProviderError`` (local)."""
        return places_of(source, self._litellm_hosts(source))

    def _default_model(self) -> ResolvedModel:
        chosen, ordered = self._default(), self.groups()
        if chosen and chosen != demo.MODEL:
            default = self._find(chosen)
            if default is None:
                return self._demo()
            ordered = (default, *(group for group in ordered if group.label != default.label))
        if ordered:
            return self._in_order(ordered)
        if sources := self._all():
            raise refusals.no_model_chosen(sources[0].name)
        return self._demo()

    def preferred(self) -> str | None:
        """The label of the default that was set, where it can be told whose it is.

        It speaks for its source, whose usual model nobody asked for then.
        """
        chosen = self._default()
        try:
            default = self._find(chosen) if chosen else None
        except ProviderError:
            return None
        return default.label if default else None

    def _in_order(self, ordered: Sequence[Group]) -> ResolvedModel:
        """The first group. One that cannot be asked stands there too, so that the next one is seen to take over."""
        first = ordered[0]
        following = partial(self._next, frozenset((first.label,)))
        try:
            return self._model(first, following)
        except ProviderError as error:
            if len(ordered) == 1:
                raise
            refused = Refused(first.source.name, error)
            return ResolvedModel(refused, first.model, price_in=0.0, price_out=0.0, fallback=following)

    def _next(self, tried: frozenset[str]) -> ResolvedModel | None:
        """The first group of the order that was not tried, can be asked, and has a key that does not rest."""
        for group in self.groups():
            if group.label not in tried:
                tried |= {group.label}
                try:
                    model = self._model(group, partial(self._next, tried))
                except ProviderError:
                    continue
                if not (isinstance(model.provider, Pool) and model.provider.rests):
                    return model
        return None

    def _find(self, asked: str) -> Group | None:
        """Who is meant by a model string; None = the demo. Raises ``ProviderError``."""
        if asked.lower() == demo.MODEL:
            return None
        provider, slash, model = asked.partition("/")
        return self._pair(provider, model) if slash and provider and model else self._bare(asked)

    def _pair(self, provider: str, model: str) -> Group:
        sources = self._all()
        asked = f"{provider}/{model}"
        for source in sources:
            if source.name.lower() == provider.lower() and source.origin == "configured":
                return _offered(source, model)
        for source in sources:
            if asked in source.models:
                return Group(source, asked)
        return self._host(provider, model)

    def _host(self, provider: str, model: str) -> Group:
        """A host that nobody configured: by a key of the environment, or as litellm reaches it."""
        vendor = find_vendor(provider)
        if vendor is not None:
            for source in self._all():
                if source.vendor == vendor:
                    return _offered(source, model)
            raise refusals.no_key(vendor.title, vendor.name, vendor.wire, vendor.keys[0])
        local = local_source(provider, self._environment)
        if local is not None:
            return Group(local, model)
        if provider in self._catalogue.vendors:
            return Group(SourceConfig(provider, "litellm", origin="environment"), model)
        if provider.lower() == "demo":
            raise refusals.not_offered("demo", model, ("tour",))
        known = (*(source.name for source in self._all()), *(vendor.name for vendor in VENDORS))
        raise refusals.unknown_provider(provider, known)

    def _bare(self, name: str) -> Group:
        for source in self._all():
            if name in source.models:
                return Group(source, name)
        vendor = vendor_of(name)
        if vendor is None:
            raise refusals.unknown_name(name, [choice.label for choice in self.choices()])
        return self._host(vendor.name, name)

    def _model(self, group: Group, fallback: Fallback = nobody) -> ResolvedModel:
        source, hosts = group.source, self._litellm_hosts(group.source)
        keys, wire = self._keys.of(source, hosts), wire_of(source, None, hosts)
        own = self._said().get((source.name, group.model), NOTHING_SAID)
        facts = self.facts(source, group.model)
        if source.kind == "ollama":
            wire = replace(wire, context=facts.context_window)
        return ResolvedModel(
            provider=self._pool(source.name, wire, keys, fallback),
            model=group.model,
            endpoint=wire.base_url,
            context_window=facts.context_window,
            max_output=facts.max_output,
            price_in=facts.price_in,
            price_out=facts.price_out,
            allowed_output=own.max_output or source.max_output,
            sees_pictures=facts.images is not False,
            takes_tools=own.tools is not False,
            reasoning=self._effort() if facts.reasoning else "off",
            fallback=fallback,
        )

    def _effort(self) -> Effort:
        wanted = self._reasoning()
        return next((effort for effort in EFFORTS if effort == wanted), "off")

    def _pool(self, name: str, wire: Wire, keys: Sequence[NamedKey], fallback: Fallback = nobody) -> Pool:
        """One candidate for each key, all on the same wire."""
        place = wire.base_url or wire.prefix
        candidates = [
            Candidate(
                self._cooldowns.credential(name, key.name, place, key.value),
                self._connect(replace(wire, key=key.value)),
            )
            for key in keys
        ]
        return Pool(name, candidates, self._cooldowns, fallback)

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


def _offered(source: SourceConfig, model: str) -> Group:
    if source.models and model not in source.models:
        raise refusals.not_offered(source.name, model, source.models)
    return Group(source, model)


def _variable(source: SourceConfig) -> str | None:
    return source.keys[0] if source.keys and source.origin == "environment" else None
