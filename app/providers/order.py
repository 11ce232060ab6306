"""The user's order of models: who answers where nobody chose, and who goes on where that one cannot. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.providers.sources import SourceConfig


@dataclass(frozen=True, slots=True)
class Group:
    """One line of the order: a model, and the source whose keys take turns for it."""

    source: SourceConfig
    model: str

    @property
    def label(self) -> str:
        """``provider/model``."""
        return f"{self.source.name}/{self.model}"


def groups(sources: Sequence[SourceConfig], ordered: Sequence[str]) -> tuple[Group, ...]:
    """Each once: what ``ordered`` names and still is there, then every other source.

    A source named without a model, or not at all, stands with the model it prefers.
    """
    by_name = {source.name: source for source in sources}
    named = tuple(_named(by_name, ordered))
    mentioned = {group.source.name for group in named}
    others = _named(by_name, [name for name in by_name if name not in mentioned])
    return tuple({group.label: group for group in (*named, *others)}.values())


def _named(sources: Mapping[str, SourceConfig], labels: Iterable[str]) -> Iterator[Group]:
    for label in labels:
        name, _, model = label.partition("/")
        source = sources.get(name)
        if source is None:
            continue
        model = model or next(iter(source.usual_models), "")
        if model and (not source.models or model in source.models):
            yield Group(source, model)
