"""Where a text shows words instead of saying them: code and quotations.

The page's own parser says what is code. Of a quotation only the lines that begin with ``>`` count: Markdown lets
it run on over the next line without one, but whoever writes there means what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyromark import events_with_range

Span = tuple[int, int]
"""From the first to behind the last character."""

_SHOWN_HTML = (b"<!--", b"<pre")


def asides(text: str) -> list[Span]:
    """The places of code and quotations, in order, none of them overlapping. Takes time as the text is long."""
    source = text.encode(errors="replace")
    return list(_in_characters(source, _merged(_found(source))))


def _found(source: bytes) -> Iterator[Span]:
    quoted_until = 0
    for event, place in events_with_range(source.decode()):
        first, end = place["start"], place["end"]
        match event:
            case {"Code": _} | {"Start": {"CodeBlock": _}}:
                yield first, end
            case {"Start": {"BlockQuote": _}} if first >= quoted_until:
                quoted_until = end
                yield from _quoted_lines(source, first, end)
            case {"Start": "HtmlBlock"} if source[first : first + 4].lower() in _SHOWN_HTML:
                yield first, end


def _quoted_lines(source: bytes, first: int, end: int) -> Iterator[Span]:
    for line in source[first:end].splitlines(keepends=True):
        if line.lstrip().startswith(b">"):
            yield first, first + len(line)
        first += len(line)


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    last: Span | None = None
    for first, end in sorted(spans):
        if last is not None and first <= last[1]:
            last = last[0], max(last[1], end)
            continue
        if last is not None:
            yield last
        last = first, end
    if last is not None:
        yield last


def _in_characters(source: bytes, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans of bytes as spans of characters; the parser counts the one, Python the other."""
    byte = character = 0

    def reach(target: int) -> int:
        nonlocal byte, character
        character += len(source[byte:target].decode())
        byte = target
        return character

    for first, end in spans:
        yield reach(first), reach(end)
