"""A model source as a value: configured by the user or found as a key in the environment, one shape for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.providers.vendors import VENDORS, Vendor, find_vendor

SourceKind = Literal["openai", "anthropic", "ollama", "litellm", "gateway"]


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """Where models come from. Sizes in tokens, prices in US dollars per million tokens; None = look it up."""

    name: str
    kind: SourceKind
    base_url: str | None = None
    models: tuple[str, ...] = ()
    """What it offers, the preferred one first; empty = whatever it is asked for."""
    context: int | None = None
    max_output: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    keys: tuple[str, ...] = ()
    """Names of stored secrets, else of environment variables; never a key itself."""
    origin: Literal["configured", "environment"] = "configured"

    @property
    def vendor(self) -> Vendor | None:
        """The known host that bears its name."""
        return find_vendor(self.name)

    @property
    def host(self) -> Vendor | None:
        """The known host that an empty address means. A key goes there, so nothing but kind or name may say it."""
        if self.base_url or self.kind in ("ollama", "gateway"):
            return None
        if self.kind == "anthropic":
            return find_vendor("anthropic")
        speaks_otherwise = (
            self.kind == "openai" and self.vendor is not None and self.vendor.wire == "anthropic"
        )
        return None if speaks_otherwise else self.vendor

    @property
    def host_name(self) -> str:
        """litellm's name of the host behind it; empty where the address is the user's own."""
        if self.host is not None:
            return self.host.litellm_name
        return self.name if self.kind == "litellm" and not self.base_url else ""

    @property
    def usual_models(self) -> tuple[str, ...]:
        """What it offers, else the model its host is known for."""
        if self.models or self.vendor is None or self.vendor.default_model is None:
            return self.models
        return (self.vendor.default_model,)


def from_environment(environment: Mapping[str, str]) -> tuple[SourceConfig, ...]:
    """One source for each known host with a key, or a moved address, in the environment."""
    found = (_found(vendor, environment) for vendor in VENDORS)
    return tuple(source for source in found if source is not None)


def _found(vendor: Vendor, environment: Mapping[str, str]) -> SourceConfig | None:
    keys = tuple(name for name in vendor.keys if environment.get(name))
    moved = next((environment[name] for name in vendor.base_variables if environment.get(name)), None)
    if not keys and moved is None:
        return None
    return SourceConfig(vendor.name, vendor.wire, base_url=moved, keys=keys, origin="environment")
