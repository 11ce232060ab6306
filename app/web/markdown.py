"""Model text becomes HTML here and nowhere else: parser, writer, then the sanitiser as the very last step."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markupsafe import Markup
from pyromark import Options, events_with_range

from app.web.highlight import LONGEST
from app.web.markdown_writer import Block, Writer
from app.web.plain import plain

_OPTIONS = Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH | Options.ENABLE_TASKLISTS

_BLOCKS = {"blockquote", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul"}
_INLINE = {"a", "br", "code", "em", "s", "span", "strong"}
_TABLE = {"table", "tbody", "td", "th", "thead", "tr"}

TAGS = frozenset(_BLOCKS | _INLINE | _TABLE)
ATTRIBUTES = {
    "a": {"href", "target"},
    "div": {"aria-label", "data-lang", "role", "tabindex"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "th": {"scope"},
}
CLASSES = {
    "div": {"code", "scroll-x"},
    "p": {"raw"},
    "span": {"host", "picture", "tk-c", "tk-f", "tk-k", "tk-s"},
    "table": {"table"},
    "td": {"end", "middle"},
    "th": {"end", "middle"},
}
SCHEMES = frozenset({"http", "https", "mailto"})

_CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes=CLASSES,
    url_schemes=SCHEMES,
    link_rel="noopener noreferrer nofollow",
)


@lru_cache(maxsize=128)
def render_markdown(text: str) -> Markup:
    """Safe HTML of a whole text. Raw HTML in it is shown as text; of a picture, what it shows and its host."""
    return Markup("").join(clean(block.html) for block in read_blocks(plain(text)))


def read_blocks(text: str, coloured: int = LONGEST) -> list[Block]:
    """The top-level blocks of a text that has gone through ``plain``, in order; their HTML is not yet clean.

    Code of more than ``coloured`` characters stays without colours.
    """
    writer = Writer(text, coloured)
    for event, span in events_with_range(text, options=_OPTIONS, merge_text=True):
        writer.write(event, span["start"])
    return writer.blocks


def clean(html: str) -> Markup:
    """What the allow-list leaves of it. Nothing may change the result afterwards."""
    return Markup(_CLEANER.clean(html))
