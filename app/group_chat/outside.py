"""What members reach beyond this machine, besides the models that answer: who searches the web, and who draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.errors import ProviderError
from app.engine.provider import ModelSource
from app.hands.generate_image import Draw
from app.providers.drawing import Destination, destination

if TYPE_CHECKING:
    from app.hands.search_engines import SearchEngine


def nobody_searches() -> None:
    """Then it is who needs no key."""


@dataclass(frozen=True, slots=True)
class Outside:
    """One for the whole process."""

    images: ModelSource | None = None
    """The models as they are asked for pictures; None where nobody draws."""
    find_engine: Callable[[], SearchEngine | None] = nobody_searches
    """Who searches the web, as it is chosen now. It may block."""


NOTHING_OUTSIDE = Outside()


@dataclass(frozen=True, slots=True)
class Artist:
    """Who draws for one turn, and where that goes."""

    draw: Draw
    goes_to: Destination


def goes_to(images: ModelSource, name: str) -> Destination:
    """Where pictures of that model come from; where it cannot be found, drawing will say why."""
    try:
        return destination(images.resolve(name))
    except ProviderError:
        return Destination(name, name.partition("/")[0], is_here=False)
