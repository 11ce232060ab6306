"""Turns a prompt file of this room and its values into text. A value that is missing is an error, not a gap."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_ROOM = Path(__file__).parent


def compose(name: str, /, **values: object) -> str:
    """The text of ``name``.md with its values put in as they are: nothing in a value is read as a template.

    Raises ``jinja2.UndefinedError`` for a value that the prompt names and nobody gave, ``jinja2.TemplateNotFound``
    for a prompt that does not exist.
    """
    return _environment().get_template(f"{name}.md").render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_ROOM),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
