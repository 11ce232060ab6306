"""Looking at files: ``read_file``, ``list_files``, ``stat_file``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.documents.extract import Documents, may_be_document, view_document
from app.hands.errors import Refused
from app.hands.large import view_large
from app.hands.ledger import SHOWN_HASH, ReadLedger, content_hash
from app.hands.limits import DOCUMENT_BYTES, LISTED_ENTRIES, SNIFFED_BYTES, WHOLE_FILE_BYTES
from app.hands.permissions.closed_places import asks
from app.hands.permissions.names import shown
from app.hands.permissions.paths import PathGate
from app.hands.permissions.places import Place, read_whole
from app.hands.picture_child import LONGEST_SIDE
from app.hands.pictures import KeepPicture, make_small
from app.hands.text import decode, find_kind, line_count, line_ends, looks_binary, number_of
from app.hands.threads import CheckStop, in_thread
from app.hands.tool import PATH, Arguments, HandTool, schema, threaded
from app.hands.view import Range, view
from app.infra.threads import to_the_end

_RANGE = {
    "type": "object",
    "description": "What to read; the whole file without it. Lines count from 1 and both ends are included; "
    "characters count from 0 and the end is not included.",
    "properties": {
        "unit": {"type": "string", "enum": ["line", "char"]},
        "start": {"type": "integer", "minimum": 0},
        "end": {"type": "integer", "minimum": 1},
    },
    "required": ["unit", "start", "end"],
    "additionalProperties": False,
}
_FOLDER = {
    "type": "string",
    "description": "Path of the folder, from the workspace; . is the workspace itself.",
}


def looking_tools(
    gate: PathGate, ledger: ReadLedger, keep_picture: KeepPicture | None = None
) -> tuple[Tool, ...]:
    """Without ``keep_picture`` no picture is shown."""
    return (
        HandTool(
            "read_file",
            "Read a text file. The first line of the answer, in brackets, says which lines these are, of how many, "
            "and anything unusual; below it stands the text exactly as it is, without line numbers, so that you can "
            "quote it in edit_file. Long files come in pieces: the last line in brackets then says how to ask for "
            "the next one. A file must be read before it is changed. A picture is shown to you as one; of a PDF, Word, "
            "Excel or PowerPoint file you get the text, which edit_file cannot change.",
            schema({"path": PATH}, {"range": _RANGE}),
            True,
            partial(read_file, gate, ledger, Documents(), keep_picture),
        ),
        HandTool(
            "list_files",
            "List what lies in one folder, with sizes; folders end with /. For whole trees use search_files.",
            schema({"path": _FOLDER}),
            True,
            threaded(partial(list_files, gate)),
        ),
        HandTool(
            "stat_file",
            "Say what a path is without reading it: file or folder, size, number of lines, encoding, time of the "
            "last change, hash.",
            schema({"path": PATH}),
            True,
            threaded(partial(stat_file, gate)),
        ),
    )


async def read_file(
    gate: PathGate,
    ledger: ReadLedger,
    documents: Documents,
    keep_picture: KeepPicture | None,
    arguments: Arguments,
    context: ToolContext,
) -> str | ToolOutput:
    read = await in_thread(partial(_read, gate, ledger, arguments))
    if isinstance(read, str):
        return read
    if keep_picture is not None and (find_kind(read.data) or "").endswith("image"):
        return await _picture(read, keep_picture)
    found = await documents.read(read.data, read.label) if may_be_document(read.data) else None
    if found is None:
        return _no_text(read.label, len(read.data), read.data[:SNIFFED_BYTES])
    wanted = Range.of(arguments.get("range"))
    return await in_thread(lambda check_stop: view_document(read.label, read.data, found, wanted))


@dataclass(frozen=True, slots=True)
class _NoText:
    label: str
    data: bytes


def _read(gate: PathGate, ledger: ReadLedger, arguments: Arguments, check_stop: CheckStop) -> str | _NoText:
    wanted = Range.of(arguments.get("range"))
    with gate.find(arguments["path"], "read") as place, place.open_file() as file:
        size = os.fstat(file.fileno()).st_size
        head = os.pread(file.fileno(), SNIFFED_BYTES, 0)
        most = DOCUMENT_BYTES if may_be_document(head) else WHOLE_FILE_BYTES
        if size > most:
            if looks_binary(head):
                return _no_text(place.label, size, head)
            return view_large(place.label, size, file, wanted, check_stop)
        data = read_whole(file, place.label, most)
    ledger.note(place.path, content_hash(data))
    decoded = decode(data)
    if decoded is None:
        return _NoText(place.label, data)
    return view(place.label, len(data), content_hash(data), decoded, wanted)


def _no_text(label: str, size: int, head: bytes) -> str:
    kind = find_kind(head) or "binary data"
    looked = "" if size <= len(head) else f" Cut: only the first {len(head):,} bytes were looked at."
    return f"[{label}: {kind}, {size:,} bytes. It is no text, so nothing of it is shown.{looked}]"


async def _picture(read: _NoText, keep: KeepPicture) -> ToolOutput:
    small = await make_small(read.data, read.label)
    try:
        image = await to_the_end(partial(keep, small))
    except OSError as error:
        raise Refused(
            "E_FAILED", f"{read.label} cannot be shown: {error.strerror or error}.", transient=True
        ) from error
    size = f"{small.was[0]:,} × {small.was[1]:,} pixels"
    scaled = "" if max(small.was) <= LONGEST_SIDE else f", scaled to {small.width:,} × {small.height:,}"
    return ToolOutput(
        f"[{read.label}: {find_kind(read.data)}, {size}{scaled}. It is shown after the results.]", (image,)
    )


def list_files(gate: PathGate, arguments: Arguments, check_stop: CheckStop) -> str:
    with gate.find(arguments["path"], "list") as place:
        folder = place.open_folder()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name.casefold())
            allowed = [entry for entry in found if place.standing.enter(entry.name)]
            check_stop()
            lines = [_entry(entry, folder) for entry in allowed[:LISTED_ENTRIES]]
        finally:
            os.close(folder)
    notes = [f"{len(allowed):,} in it" if allowed else "empty"]
    if len(allowed) < len(found):
        notes.append(f"{len(found) - len(allowed)} left out, closed to tools")
    if len(allowed) > len(lines):
        notes.append(f"cut: the first {len(lines)} are shown, find others with search_files")
    return "\n".join((f"[{place.label}: {'; '.join(notes)}]", *lines))


def _entry(entry: os.DirEntry[str], folder: int) -> str:
    name = shown(entry.name)
    if entry.is_symlink():
        return f"{name} (link)"
    if entry.is_dir(follow_symlinks=False):
        return f"{name}/"
    try:
        size = os.stat(entry.name, dir_fd=folder, follow_symlinks=False).st_size
    except OSError:
        return name  # gone since it was listed, or not to be looked at
    return f"{name}  {number_of(size, 'byte')}" + (
        ", may hold secrets: closed to tools" if asks(entry.name) else ""
    )


def stat_file(gate: PathGate, arguments: Arguments, check_stop: CheckStop) -> str:
    with gate.find(arguments["path"], "stat") as place:
        status = place.status
        assert status is not None, "only a change may find nothing"
        changed = datetime.fromtimestamp(status.st_mtime, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        if place.is_folder:
            return f"[{place.label}: folder, changed {changed}]"
        if not place.is_file:
            return f"[{place.label}: pipe, socket or device, not to be read]"
        facts = [number_of(status.st_size, "byte"), *_facts(place), f"changed {changed}"]
        check_stop()
    return f"[{place.label}: {', '.join(facts)}]"


def _facts(place: Place) -> list[str]:
    """What only the content tells."""
    if asks(place.path.name):
        return ["may hold secrets: closed to tools"]
    with place.open_file() as file:
        head = os.pread(file.fileno(), SNIFFED_BYTES, 0)
        if looks_binary(head):
            return [find_kind(head) or "binary data"]
        if os.fstat(file.fileno()).st_size > WHOLE_FILE_BYTES:
            return ["text, too large to be edited"]
        data = read_whole(file, place.label, WHOLE_FILE_BYTES)
    decoded = decode(data)
    if decoded is None:
        return ["binary data"]
    ends = line_ends(decoded.text)
    lines = number_of(line_count(decoded.text), "line") + (f" ({ends})" if ends else "")
    return [lines, decoded.name, f"hash {content_hash(data)[:SHOWN_HASH]}"]
