"""Who searches the web: the engine that the user chose, with its key or its address.

Keys lie encrypted beside those of model sources, under names of their own, and are in no setting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.infra.errors import SecretsError
from app.infra.secrets import SecretStore
from app.workspace.settings import get_setting
from app.workspace.source_keys import checked_key
from app.workspace.store import Store

if TYPE_CHECKING:
    from app.hands.search_engines import SearchEngine

WHERE = "Settings, Web"


@dataclass(frozen=True, slots=True)
class Keyed:
    """An engine that wants a key."""

    title: str
    variable: str
    """Of the environment, which may hold the key."""


KEYED: Mapping[str, Keyed] = {
    "brave": Keyed("Brave", "BRAVE_API_KEY"),
    "tavily": Keyed("Tavily", "TAVILY_API_KEY"),
}
"""By the value of the setting ``web.search``."""

KeyPlace = Literal["stored", "environment", "nowhere"]


def search_engine(store: Store, secrets: SecretStore, environment: Mapping[str, str]) -> SearchEngine:
    """The engine of ``web.search``, as it stands now; where it lacks something, one that says so at each question.

    A question never goes to an engine that was not chosen. May block: a keyring may ask its user first.
    """
    # They bring in httpx, which costs as much as the rest of a start.
    from app.hands.search_engines import Brave, DuckDuckGo, SearXNG, Tavily

    match get_setting(store, "web.search"):
        case "searxng":
            url = str(get_setting(store, "web.searxng_url"))
            return SearXNG(url) if url else _lacks("SearXNG", "the address of its server is not set")
        case "brave":
            return _with_key("brave", Brave, secrets, environment)
        case "tavily":
            return _with_key("tavily", Tavily, secrets, environment)
        case _:
            return DuckDuckGo()


def key_place(secrets: SecretStore, environment: Mapping[str, str], engine: str) -> KeyPlace:
    """Where the key of an engine lies; a stored one goes before. Raises ``SecretsError``."""
    if _secret(engine) in secrets.names():
        return "stored"
    return "environment" if key_of_environment(engine, environment) else "nowhere"


def store_key(secrets: SecretStore, engine: str, key: str) -> None:
    """In the place of the one before. Raises ``InvalidSource`` for what cannot be a key, ``SecretsError``."""
    secrets.set(_secret(engine), checked_key(key))


def forget_key(secrets: SecretStore, engine: str) -> None:
    """Raises ``SecretsError``."""
    secrets.delete(_secret(engine))


def key_of_environment(engine: str, environment: Mapping[str, str]) -> str:
    """Empty where there is none."""
    found = environment.get("BRAVE_API_KEY") if engine == "brave" else environment.get("TAVILY_API_KEY")
    return (found or "").strip()


def _with_key(
    engine: str, make: Callable[[str], SearchEngine], secrets: SecretStore, environment: Mapping[str, str]
) -> SearchEngine:
    title = KEYED[engine].title
    try:
        key = secrets.get(_secret(engine)) or key_of_environment(engine, environment)
    except SecretsError:
        return _lacks(title, "its key cannot be read")
    return make(key) if key else _lacks(title, "its key is not set")


def _secret(engine: str) -> str:
    return f"web/{engine}"


def _lacks(name: str, what: str) -> SearchEngine:
    from app.hands.search_engines import NotReady

    return NotReady(
        name, f"{name} cannot search: {what}.", f"enter it under {WHERE}, or choose another engine"
    )
