"""What is already there: keys in the environment, model servers on this machine. Asked for, never on its own.

httpx is imported where it is used: it costs as much as the rest of a start, and most starts ask nothing here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from app.providers.sources import SourceConfig, SourceKind
from app.providers.vendors import VENDORS

if TYPE_CHECKING:
    import httpx

_PATIENCE = 0.3
_MOST_BYTES = 2_000_000
_MOST_MODELS = 200


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A variable that holds a key; the key itself is not looked at."""

    variable: str
    provider: str
    title: str


@dataclass(frozen=True, slots=True)
class Place:
    """A port of this machine where a known model server usually listens."""

    name: str
    title: str
    kind: SourceKind
    port: int
    path: str = "/v1/models"


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answered, as a source that can be added as it is."""

    title: str
    source: SourceConfig


PLACES: tuple[Place, ...] = (
    Place("ollama", "Ollama", "ollama", 11434, "/api/tags"),
    Place("lmstudio", "LM Studio", "openai", 1234),
    Place("llamacpp", "llama.cpp", "openai", 8080),
    Place("vllm", "vLLM", "openai", 8000),
    Place("jan", "Jan", "openai", 1337),
)


def local_source(name: str, environment: Mapping[str, str]) -> SourceConfig | None:
    """The usual server of that name on this machine, whether it runs or not; None for any other name."""
    for place in PLACES:
        address = _address(place, environment)
        if place.name == name.lower() and address is not None:
            return _source(place, address)
    return None


def find_keys(environment: Mapping[str, str]) -> tuple[FoundKey, ...]:
    """Which known variables are set, in the order of ``VENDORS``."""
    return tuple(
        FoundKey(variable, vendor.name, vendor.title)
        for vendor in VENDORS
        for variable in vendor.keys
        if environment.get(variable)
    )


async def find_servers(
    environment: Mapping[str, str], places: Sequence[Place] = PLACES, patience: float = _PATIENCE
) -> tuple[FoundServer, ...]:
    """Ask each place once, all at the same time, for at most ``patience`` seconds; silence means no server.

    Only loopback addresses are ever asked: no proxy, no redirect, and an ``OLLAMA_HOST`` elsewhere is left alone.
    """
    import httpx

    found: dict[str, FoundServer] = {}
    async with (
        httpx.AsyncClient(trust_env=False, follow_redirects=False) as client,
        anyio.create_task_group() as group,
    ):
        for place in places:
            address = _address(place, environment)
            if address is not None:
                group.start_soon(_ask, client, place, address, patience, found)
    return tuple(found[place.name] for place in places if place.name in found)


async def _ask(
    client: httpx.AsyncClient, place: Place, address: str, patience: float, found: dict[str, FoundServer]
) -> None:
    import httpx

    with anyio.move_on_after(patience):
        try:
            models = _models(json.loads(await _fetch(client, address + place.path)))
        except (httpx.HTTPError, ValueError, RecursionError):
            return
        if models is not None:
            found[place.name] = FoundServer(place.title, replace(_source(place, address), models=models))


async def _fetch(client: httpx.AsyncClient, url: str) -> bytes:
    """The body of a 200, as far as it is reasonable. Raises ``ValueError`` for anything else."""
    async with client.stream("GET", url) as response:
        if response.status_code != 200:
            raise ValueError(response.status_code)
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _MOST_BYTES:
                raise ValueError("too long for a list of models")
        return bytes(body)


def _source(place: Place, address: str) -> SourceConfig:
    return SourceConfig(place.name, place.kind, address if place.kind == "ollama" else f"{address}/v1")


def _models(answer: Any) -> tuple[str, ...] | None:
    """Names from either shape of list, those that only embed last; None where it is no list of models."""
    rows = answer.get("models", answer.get("data")) if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return None
    names = [row.get("id") or row.get("name") for row in rows[:_MOST_MODELS] if isinstance(row, dict)]
    good = dict.fromkeys(
        name for name in names if isinstance(name, str) and name.isprintable() and len(name) <= 200
    )
    return tuple(sorted(good, key=lambda name: "embed" in name.lower()))


def _address(place: Place, environment: Mapping[str, str]) -> str | None:
    moved = environment.get("OLLAMA_HOST", "").strip() if place.kind == "ollama" else ""
    return _loopback(moved, place.port) if moved else f"http://127.0.0.1:{place.port}"


def _loopback(text: str, port: int) -> str | None:
    """The address behind ``OLLAMA_HOST`` if it is on this machine; where a server listens everywhere, here too."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname or "127.0.0.1", parts.port or port
        here = ip_address("127.0.0.1" if host in ("localhost", "0.0.0.0", "::") else host)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not here.is_loopback:
        return None
    return f"{parts.scheme}://{f'[{here}]' if here.version == 6 else here}:{port}"
