"""Changing files: ``write_file``, ``edit_file``, ``delete_file``. Nothing is changed that the run has not seen as is.

Reading, comparing and replacing a file happen under its lock, so that of two runs that read the same state the
later one is told, and nothing is silently lost.
"""

from __future__ import annotations

from functools import partial

from app.engine.tools import Tool
from app.hands.errors import Refused
from app.hands.ledger import SHOWN_HASH, ReadLedger, content_hash, write_lock
from app.hands.limits import DOCUMENT_BYTES, WHOLE_FILE_BYTES
from app.hands.permissions.closed_places import asks
from app.hands.permissions.paths import PathGate
from app.hands.permissions.places import Place, read_whole
from app.hands.replace import find_like, replace
from app.hands.terminal_text import Redact, as_it_is
from app.hands.text import Decoded, decode, line_count, line_ends, number_of, printable
from app.hands.threads import CheckStop
from app.hands.tool import PATH, Arguments, HandTool, schema, threaded
from app.hands.view import cut_to_bytes
from app.infra.redaction import MASK

_EXCERPT_BYTES = 2_000


def changing_tools(gate: PathGate, ledger: ReadLedger, redact: Redact = as_it_is) -> tuple[Tool, ...]:
    """``redact`` is what masks the keys in what these files were read as."""
    return (
        HandTool(
            "write_file",
            "Write a whole file; folders above it are made. A file that exists must have been read before and be "
            "unchanged since. To change a part of a file use edit_file.",
            schema({"path": PATH, "content": {"type": "string", "description": "All of the new content."}}),
            False,
            threaded(partial(write_file, gate, ledger, redact)),
        ),
        HandTool(
            "edit_file",
            "Replace a piece of text in a file that you have read. old_string must stand in the file exactly as "
            "quoted, indentation included, and only once, unless replace_all is set; only blanks at the ends of "
            "lines are forgiven. The encoding and line ends of the file are kept.",
            schema(
                {
                    "path": PATH,
                    "old_string": {
                        "type": "string",
                        "description": "The text to replace, with enough around it.",
                    },
                    "new_string": {
                        "type": "string",
                        "description": "What stands there afterwards; may be empty.",
                    },
                },
                {
                    "replace_all": {
                        "type": "boolean",
                        "default": False,
                        "description": "Replace every place.",
                    },
                    "expected_hash": {
                        "type": "string",
                        "description": "The hash the file must have, as shown.",
                    },
                },
            ),
            False,
            threaded(partial(edit_file, gate, ledger, redact)),
        ),
    )


def deleting_tool(gate: PathGate, ledger: ReadLedger) -> Tool:
    return HandTool(
        "delete_file",
        "Delete one file, or a link and not what it points to. A file that is not empty must have been read before "
        "and be unchanged since. Folders are not deleted.",
        schema({"path": PATH}),
        False,
        threaded(partial(delete_file, gate, ledger)),
    )


def write_file(
    gate: PathGate, ledger: ReadLedger, redact: Redact, arguments: Arguments, check_stop: CheckStop
) -> str:
    content = _sound(arguments["content"], "content")
    with gate.find(arguments["path"], "write") as place, write_lock(place.path):
        _look_again(ledger, place)
        before = _content(place) if place.status is not None else None
        if before:
            _refuse_masks(redact, place.label, _text_of(before, place.label).text, content)
        data, note = _as_before(content, before)
        if len(data) > WHOLE_FILE_BYTES:
            raise Refused(
                "E_TOO_LARGE", f"That is more than {WHOLE_FILE_BYTES:,} bytes. Write it in several files."
            )
        if before is not None and data != before:
            _refuse_unread(ledger, place)
            if ledger.find(place.path) != content_hash(before):
                state = _state(place, before, decode(before), "")
                raise Refused(
                    "E_STALE", f"{state}\nRead all of it again, then write what should stand there."
                )
        check_stop()
        if data != before:
            place.replace(data)
        ledger.note(place.path, content_hash(data))
    if data == before:
        return f"{place.label} holds exactly that already. Nothing was changed."
    done = "Created" if before is None else "Wrote"
    return f"{done} {place.label} ({number_of(line_count(content), 'line')}, {number_of(len(data), 'byte')}).{note}"


def edit_file(
    gate: PathGate, ledger: ReadLedger, redact: Redact, arguments: Arguments, check_stop: CheckStop
) -> str:
    old = _sound(arguments["old_string"], "old_string")
    new = _sound(arguments["new_string"], "new_string")
    with gate.find(arguments["path"], "edit") as place, write_lock(place.path):
        _look_again(ledger, place)
        before = _content(place)
        decoded = _text_of(before, place.label)
        _refuse_unread(ledger, place)
        _refuse_stale(ledger, place, before, decoded, old, arguments.get("expected_hash"))
        done = replace(decoded.text, old, new, everywhere=arguments.get("replace_all", False))
        _refuse_masks(redact, place.label, decoded.text, done.text)
        data = decoded.encode(done.text)
        check_stop()
        place.replace(data)
        ledger.note(place.path, content_hash(data))
    times = "1 replacement" if done.count == 1 else f"{done.count:,} replacements, the first"
    forgiven = ", relaxed match: blanks at line ends differed" if done.match == "relaxed" else ""
    return (
        f"Edited {place.label}: {times} in line {done.line:,}{forgiven}. "
        f"It has {len(data):,} bytes now, hash {content_hash(data)[:SHOWN_HASH]}."
    )


def delete_file(gate: PathGate, ledger: ReadLedger, arguments: Arguments, check_stop: CheckStop) -> str:
    with gate.find(arguments["path"], "delete") as place, write_lock(place.path):
        _look_again(ledger, place)
        was_link = place.is_link
        if place.is_file:
            _refuse_unseen(ledger, place)
        elif place.status is not None and not place.is_folder and not was_link:
            raise Refused(
                "E_DENIED", f"{place.label} is a pipe, socket or device. Leave it, or ask the user."
            )
        check_stop()
        place.delete()
        ledger.forget(place.path)
    return f"Deleted {'the link ' if was_link else ''}{place.label}."


def _look_again(ledger: ReadLedger, place: Place) -> None:
    """Now that nobody else of ours changes it. That it is gone is said once to a run that has read it."""
    place.look_again()
    if place.status is None and ledger.find(place.path) is not None:
        ledger.forget(place.path)
        raise Refused(
            "E_STALE",
            f"{place.label} has been deleted since it was read. Make it anew with write_file if it should exist.",
        )


def _content(place: Place, most: int = WHOLE_FILE_BYTES) -> bytes:
    with place.open_file() as file:
        return read_whole(file, place.label, most)


def _text_of(data: bytes, label: str) -> Decoded:
    decoded = decode(data)
    if decoded is None:
        raise Refused(
            "E_NOT_EDITABLE",
            f"{label} is no text and would be broken by one. Leave it, or write a new file under another name.",
        )
    return decoded


def _refuse_masks(redact: Redact, label: str, before: str, after: str) -> None:
    """A key that was read as a mask is not written back as one."""
    if after.count(MASK) > before.count(MASK) and _keys(redact, after) < _keys(redact, before):
        raise Refused(
            "E_DENIED",
            f"{label} holds a key that you were shown as {MASK}, and this would write that over it. Change other lines "
            "with edit_file, and leave the line with the key to the user.",
        )


def _keys(redact: Redact, text: str) -> int:
    """How many keys are masked in a text."""
    return redact(text).count(MASK) - text.count(MASK)


def _sound(text: str, argument: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused("E_BAD_INPUT", f"{argument} holds half a character. Write that place anew.") from error
    return text


def _refuse_unread(ledger: ReadLedger, place: Place) -> None:
    if ledger.find(place.path) is None:
        raise Refused(
            "E_NOT_READ",
            f"{place.label} has not been read in this run. Read it with read_file, then change it.",
        )


def _refuse_unseen(ledger: ReadLedger, place: Place) -> None:
    """For a file that is to be deleted: it has to be as the run has read it, unless it is empty."""
    assert place.status is not None, "it is a file"
    known, size = ledger.find(place.path), place.status.st_size
    if known is None and asks(place.path.name):
        raise Refused(
            "E_DENIED", f"{place.label} may hold secrets, so no tool deletes it. Ask the user to do it."
        )
    if known is None and size > WHOLE_FILE_BYTES:
        raise Refused(
            "E_TOO_LARGE",
            f"{place.label} is too large to be read whole, so it is not deleted. Ask the user to do it.",
        )
    if size == 0:
        return
    _refuse_unread(ledger, place)
    now = _content(place, DOCUMENT_BYTES)
    if content_hash(now) != known:
        state = _state(place, now, decode(now), "")
        raise Refused("E_STALE", f"{state}\nRead it again, then delete it if it should still go.")


def _refuse_stale(
    ledger: ReadLedger, place: Place, data: bytes, decoded: Decoded, old: str, expected: str | None
) -> None:
    """The refusal shows what stands there now, which then counts as read."""
    now = content_hash(data)
    wanted = (expected or now).removeprefix("sha256:").lower()
    if ledger.find(place.path) == now and len(wanted) * 2 >= SHOWN_HASH and now.startswith(wanted):
        return
    ledger.note(place.path, now)
    state = _state(place, data, decoded, old)
    raise Refused("E_STALE", f"{state}\nSend the edit again if it still fits this text.")


def _state(place: Place, data: bytes, decoded: Decoded | None, near: str) -> str:
    """What a file is by now, and its text from about where ``near`` stands."""
    now = f"{number_of(len(data), 'byte')} now, hash {content_hash(data)[:SHOWN_HASH]}"
    about = f"{place.label} is not what was read: it has {now}."
    if decoded is None:
        return about
    lines = decoded.text.replace("\r\n", "\n").split("\n")
    first = max((find_like(lines, near) or 1) - 3, 1)
    excerpt = cut_to_bytes(printable("\n".join(lines[first - 1 :])), _EXCERPT_BYTES)
    return f"{about} From line {first:,} on it reads:\n{excerpt}"


def _as_before(content: str, before: bytes | None) -> tuple[bytes, str]:
    """The new bytes, in the encoding and with the line ends of what they replace, and a word on both."""
    decoded = decode(before) if before else None
    if decoded is None:
        return content.encode(), ""
    notes = []
    if line_ends(decoded.text) == "CRLF" and "\r" not in content:
        content = content.replace("\n", "\r\n")
        notes.append("CRLF line ends")
    try:
        data = decoded.encode(content)
    except Refused:
        return content.encode(), f" It was {decoded.name} and is UTF-8 now."
    if decoded.name != "UTF-8":
        notes.append(decoded.name)
    return data, f" Kept as before: {' and '.join(notes)}." if notes else ""
