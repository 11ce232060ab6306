"""What the settings pages and the guide of the first run receive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.providers.wires import loads_litellm

SourceKindName = Literal["openai", "anthropic", "ollama", "litellm", "gateway"]

KINDS: tuple[tuple[SourceKindName, str], ...] = (
    ("openai", "OpenAI-compatible address"),
    ("anthropic", "Anthropic, or an address that speaks like it"),
    ("ollama", "Ollama"),
    ("litellm", "A provider that litellm knows"),
    ("gateway", "Company gateway"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One choice of the form; ``loads``: the first question to such a source takes long."""

    value: SourceKindName
    label: str
    loads: bool


def kinds() -> tuple[Kind, ...]:
    return tuple(Kind(value, label, loads_litellm(value)) for value, label in KINDS)


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of a test, as a sentence."""

    ok: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class SourceView:
    """One source of models, in the order in which they are asked."""

    rank: int
    name: str
    kind: str
    """As a person says it."""
    address: str
    key: str
    """Where its key is: ``key from ANTHROPIC_API_KEY``; empty where it has none."""
    models: tuple[str, ...]
    own: bool
    """Added by the user, so it can be edited, moved and removed; the others come from the environment."""
    last: bool = False
    """Of those that the user added."""
    loads: bool = False
    """Its first test takes long."""
    tested: Tested | None = None


@dataclass(frozen=True, slots=True)
class FoundView:
    """A server or a key that was found on this computer and is not in use yet; ``fields`` add it as a source."""

    title: str
    sentence: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SourceForm:
    """The form that adds or edits a source, with what was typed and what is wrong with it, by field."""

    action: str
    """Where it is sent; the page stays where it stands."""
    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    """Keys are fields (``name``, ``kind``, ``base_url``, ``models``, ``key``, ``key_env``) or empty for the whole."""
    tested: Tested | None = None
    edited: str = ""
    """The name of the source that is edited; empty for a new one."""
    stored_keys: int = 0
    """How many keys of it are kept; one that is left empty changes nothing of them."""
    held: str = ""
    """The ticket of a key that was typed and that a page without script cannot keep."""

    @property
    def status(self) -> int:
        return 422 if self.errors else 200

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    def error(self, name: str) -> str:
        return self.errors.get(name, "")
