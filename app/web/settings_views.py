"""What the settings pages and the guide of the first run receive."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from app.hands.permissions.access import Answer
from app.providers.wires import loads_litellm
from app.workspace.web_search import KeyPlace

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
    took: str = ""
    """``412 ms``"""


@dataclass(frozen=True, slots=True)
class RuleView:
    """Something that the user decided for good."""

    id: str
    text: str
    answer: Answer
    workspace: str
    """Empty for all of them."""
    since: datetime


@dataclass(frozen=True, slots=True)
class RestView:
    """A key, or all that could answer for a model, is passed over for a while."""

    until: datetime
    """In the zone of this machine."""
    left: str
    """``9:12``"""
    sentence: str
    """What happened."""
    wrong: bool
    """Waiting alone does not help."""


@dataclass(frozen=True, slots=True)
class KeyView:
    """One key of a source; the key itself is in no page."""

    name: str
    """What it is kept under."""
    title: str
    """``key 2`` or the variable that holds it."""
    ending: str
    """Its last characters, by which its owner knows it; empty where it is short or cannot be read."""
    added: datetime | None
    """When it was stored; None where that is not known."""
    rest: RestView | None
    answered: datetime | None
    """When it brought an answer last."""
    newest: bool
    """It brought the newest answer of all."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """One source of models."""

    rank: int
    name: str
    kind: str
    """As a person says it."""
    address: str
    margin: str
    """What its models are asked with, in a word: ``2 keys``, ``env``, ``local``."""
    keys: tuple[KeyView, ...]
    models: tuple[str, ...]
    own: bool
    """Added by the user, so it can be edited and removed; the others come from the environment."""
    loads: bool = False
    """Its first test takes long."""
    logs_in: bool = False
    """It may be given a login in place of a key."""
    tested: Tested | None = None
    error: str = ""
    """Why a key was not taken."""
    took_key: bool = False
    """A key of it was added just now."""


@dataclass(frozen=True, slots=True)
class PlaceView:
    """One line of the order in which models answer."""

    rank: int
    label: str
    """``provider/model``"""
    model: str
    source: str
    key: str
    """``2 keys take turns``, ``key from OPENAI_API_KEY``, ``own key``, ``this computer`` or nothing."""
    known: str
    """What it can do and hold, in words."""
    rest: RestView | None
    """All its keys rest; this one is awake first."""
    asleep: str
    """``1 of 3 keys rests``, where not all of them do."""
    newest: bool
    """It brought the newest answer of all."""
    loads: bool
    spare: bool
    """It can be left out: its source has another place."""
    tested: Tested | None = None

    @property
    def id(self) -> str:
        """The same wherever the line stands, so that focus moves with it."""
        return hashlib.blake2b(self.label.encode(), digest_size=6).hexdigest()


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


@dataclass(frozen=True, slots=True)
class SearchKeyView:
    """The key of a search engine; the key itself is in no page."""

    engine: str
    title: str
    place: KeyPlace
    variable: str
    """Which may hold it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Settings as they are, or as they were typed; ``errors`` by setting."""

    values: Mapping[str, str]
    errors: Mapping[str, str] = field(default_factory=dict)

    def value(self, key: str) -> str:
        return self.values.get(key, "")

    def error(self, key: str) -> str:
        return self.errors.get(key, "")
