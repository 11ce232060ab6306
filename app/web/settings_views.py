"""What the settings pages and the guide of the first run receive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SourceKindName = Literal["openai", "anthropic", "ollama", "litellm", "gateway"]

KINDS: tuple[tuple[SourceKindName, str], ...] = (
    ("openai", "OpenAI-compatible address"),
    ("anthropic", "Anthropic-compatible address"),
    ("ollama", "Ollama"),
    ("litellm", "A provider that litellm knows"),
    ("gateway", "Company gateway"),
)


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of a test, as a sentence."""

    ok: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class SourceView:
    """One source of models, in the order in which they are asked."""

    name: str
    kind: str
    """As a person says it."""
    where: str
    """Address, or where its key is: ``key from ANTHROPIC_API_KEY``."""
    models: tuple[str, ...]
    own: bool
    """Added by the user, so it can be moved and removed; the others come from the environment."""
    first: bool = False
    last: bool = False
    tested: Tested | None = None


@dataclass(frozen=True, slots=True)
class FoundView:
    """A server or a key that was found on this computer and is not in use yet; ``fields`` add it as a source."""

    title: str
    sentence: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SourceForm:
    """The form that adds a source, with what was typed and what is wrong with it, by field."""

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    """Keys are fields (``name``, ``kind``, ``base_url``, ``models``, ``key``, ``key_env``) or empty for the whole."""
    tested: Tested | None = None
    back: str = ""
    """The page that the form stands on, where that is not the settings' own."""

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    def error(self, name: str) -> str:
        return self.errors.get(name, "")
