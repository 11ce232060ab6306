"""From a source to the object that talks: which wire, which address, which key. Built on first use, then kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, assert_never
from urllib.parse import urlsplit

from app.engine.pictures import LoadImage, load_nothing
from app.engine.provider import Provider
from app.infra.clock import Clock
from app.providers import refusals
from app.providers.demo import Demo
from app.providers.logins import Login, is_handle, nobody_logged_in
from app.providers.sources import SourceConfig

if TYPE_CHECKING:
    import httpx

    from app.providers.direct import DirectWire

OLLAMA_URL = "http://127.0.0.1:11434"

CHECK_SECONDS = 10.0
"""For each question of a test or a list of models: somebody waits for the answer."""

_KEPT = 64


@dataclass(frozen=True, slots=True)
class Wire:
    """All that tells one provider object from another."""

    id: str
    dialect: Literal["openai", "anthropic", "ollama", "litellm", "gateway", "demo"]
    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    """Of a gateway that the user logged in to: what stands for that login."""
    prefix: str = ""
    """litellm's name of the host, put before the model's name."""
    context: int | None = None
    """The window in tokens that a server of one's own is asked to load its models with."""


DEMO = Wire("demo", "demo")


def wire_of(source: SourceConfig, key: str | None, litellm_hosts: Collection[str]) -> Wire:
    """Raises ``ProviderError`` of kind local where the address is missing or not one."""
    url = checked_url(source.name, source.base_url) if source.base_url else None
    vendor = source.vendor
    match source.kind:
        case "ollama":
            return Wire(source.name, "ollama", url or OLLAMA_URL, key)
        case "openai" | "anthropic" | "gateway":
            own = source.host.base_url if source.host else None
            if url is None and own is None:
                raise refusals.no_address(source.name)
            return Wire(source.name, source.kind, url or own, key)
        case "litellm":
            host = vendor.litellm_name if vendor else source.name
            return Wire(source.name, "litellm", url, key, host if vendor or host in litellm_hosts else "")
    assert_never(source.kind)


def loads_litellm(kind: str) -> bool:
    """Whether the first question to a source of this kind imports litellm, which can take half a minute."""
    return kind == "litellm" and "litellm" not in sys.modules


def places_of(source: SourceConfig, litellm_hosts: Collection[str]) -> frozenset[str]:
    """Where its key is sent: scheme, host and port, else litellm's names of hosts. Raises as ``wire_of``."""
    wire = wire_of(source, None, litellm_hosts)
    if wire.base_url:
        parts = urlsplit(wire.base_url)
        return frozenset((f"{parts.scheme}://{parts.netloc}".lower(),))
    return frozenset((wire.prefix,) if wire.prefix else (model.partition("/")[0] for model in source.models))


def checked_url(source: str, url: str) -> str:
    """``url`` without a final slash. Raises ``ProviderError`` (local) for anything but http(s) with a host."""
    address = url.strip()
    if not _is_address(address):
        raise refusals.bad_address(source, url)
    return address.rstrip("/")


class Wiring:
    """Builds providers. The HTTP client and litellm are only touched when a source needs them."""

    def __init__(
        self,
        *,
        client: Callable[[], httpx.AsyncClient],
        clock: Clock,
        load_image: LoadImage = load_nothing,
        login: Callable[[str], Login] = nobody_logged_in,
        litellm_installed: Callable[[], bool] = lambda: find_spec("litellm") is not None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._load_image = load_image
        self._login = login
        self._litellm_installed = litellm_installed
        self._built: dict[Wire, Provider] = {}

    def connect(self, wire: Wire) -> Provider:
        """The same object for the same wire. Raises ``ProviderError`` where the extra is not installed."""
        if wire not in self._built:
            if len(self._built) >= _KEPT:
                self._built.clear()
            self._built[wire] = self._build(wire)
        return self._built[wire]

    def _build(self, wire: Wire) -> Provider:
        match wire.dialect:
            case "demo":
                return Demo(self._clock)
            case "gateway" if is_handle(wire.key):
                from app.providers.gateway import Gateway

                return Gateway(
                    wire.id, self._login(wire.id), lambda token: self._direct(replace(wire, key=token))
                )
            case "openai" | "anthropic" | "ollama" | "gateway":
                return self._direct(wire)
            case "litellm":
                if not self._litellm_installed():
                    raise refusals.extra_missing(wire.id)
                from app.providers.litellm import LiteLLM

                return LiteLLM(
                    wire.id,
                    prefix=wire.prefix,
                    key=wire.key,
                    base_url=wire.base_url,
                    clock=self._clock,
                    load_image=self._load_image,
                )
        assert_never(wire.dialect)

    def _direct(self, wire: Wire) -> DirectWire:
        """Imported on use: a start without a question to a model needs none of them."""
        from app.providers.anthropic_compatible import AnthropicCompatible
        from app.providers.direct import Surroundings
        from app.providers.ollama import Ollama
        from app.providers.openai_compatible import OpenAICompatible

        server = wire.id, wire.base_url or "", wire.key, self._client()
        given: Surroundings = {"clock": self._clock, "load_image": self._load_image}
        match wire.dialect:
            case "anthropic":
                return AnthropicCompatible(*server, **given)
            case "ollama":
                return Ollama(*server, context=wire.context, **given)
            case _:
                return OpenAICompatible(*server, **given)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    whole = not (parts.query or parts.fragment or re.search(r"\s", url))
    return parts.scheme in ("http", "https") and named and whole
