"""What a search came to, as text for a model: bounded, with an honest word on what is missing. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.hands.errors import Refused
from app.hands.grep import Hit, Search
from app.hands.limits import RESULT_BYTES
from app.hands.scan import Found
from app.hands.text import number_of
from app.hands.view import cut_to_bytes

_NARROWER = "Narrow it down with root, glob or a longer pattern"


def report_lines(search: Search, hits: Sequence[Hit], *, out_of_time: bool) -> str:
    """Raises ``Refused`` where a search failed without finding anything."""
    found = [(hit.path, hit.found) for hit in hits if hit.found]
    slow = [hit.path for hit in hits if not hit.found]
    if not found and (slow or out_of_time):
        raise Refused("E_TIMEOUT", _too_slow(slow) if slow else f"The search took too long. {_NARROWER}.")
    notes = []
    if sum(hit.cost(search.mode) for hit in hits) >= search.most:
        notes.append(f"Stopped at max_results, there may be more. {_NARROWER}, or raise max_results.")
    if out_of_time:
        notes.append(f"Stopped because it took too long, there may be more. {_NARROWER}.")
    if slow:
        notes.append(_too_slow(slow))
    return bounded([_head(search, found), *_body(search, found)], notes)


def report_files(glob: str, paths: Sequence[str], *, most: int, out_of_time: bool) -> str:
    """``paths`` may hold one more than ``most``, which says that there are more."""
    if not paths and out_of_time:
        raise Refused("E_TIMEOUT", "The search took too long. Give a root further down.")
    shown = paths[:most]
    head = f"[{number_of(len(shown), 'file')} for {glob}]" if shown else f"[No file for {glob}.]"
    notes = (
        ["There are more. Give a root, a narrower glob, or a larger max_results."]
        if len(paths) > most
        else []
    )
    if out_of_time:
        notes.append("Stopped because it took too long, there may be more. Give a root further down.")
    return bounded([head, *shown], notes)


def bounded(lines: Sequence[str], notes: Sequence[str]) -> str:
    """As many lines as fit into a result, and the notes below them in brackets."""
    text = "\n".join(lines)
    kept = cut_to_bytes(text, RESULT_BYTES)
    if len(kept) < len(text):
        kept = kept[: kept.rfind("\n")]
        notes = (*notes, f"Cut: this is all that fits. {_NARROWER}.")
    return "\n".join((kept, *(f"[{note}]" for note in notes)))


def _head(search: Search, found: Sequence[tuple[str, Found]]) -> str:
    if not found:
        return "[Nothing found.]"
    files = number_of(len(found), "file")
    match search.mode:
        case "files":
            return f"[{files}]"
        case "count":
            return f"[{number_of(sum(one.count for _, one in found), 'matching line')} in {files}]"
        case "content":
            lines = sum(line.matches for _, one in found for line in one.lines)
            return f"[{number_of(lines, 'matching line')} in {files}]"


def _body(search: Search, found: Sequence[tuple[str, Found]]) -> Iterator[str]:
    for path, one in found:
        if search.mode == "files":
            yield path
        elif search.mode == "count":
            yield f"{path}: {one.count}"
        else:
            yield path
            yield from _lines(one)


def _lines(found: Found) -> Iterator[str]:
    """``12: text`` for a match, ``11- text`` for a line near one, ``…`` where lines are left out between them."""
    before = found.lines[0].number - 1
    near = any(not line.matches for line in found.lines)
    for line in found.lines:
        if near and line.number > before + 1:
            yield "…"
        yield f"{line.number}{':' if line.matches else '-'} {line.text}"
        before = line.number


def _too_slow(paths: Sequence[str]) -> str:
    return (
        f"The pattern takes too long in {', '.join(paths)}, which was left out. "
        "Write it without repetition inside repetition."
    )
