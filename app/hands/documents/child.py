"""Taking the text out of a document as a program of its own: whatever that costs, it can be ended.

Takes the document on standard input. Gives one JSON line, and behind it the text in UTF-8. Knows nothing but the
standard library, pypdf and openpyxl.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from app.hands.documents.document import Document, OutOfTime, Unreadable, is_marker
from app.hands.documents.office_file import OfficeFile
from app.hands.documents.pdf import read_pdf
from app.hands.documents.sheets import read_sheets
from app.hands.documents.slides import read_slides
from app.hands.documents.word import read_word
from app.hands.limits import DOCUMENT_CHARACTERS, DOCUMENT_PROCESSOR_SECONDS
from app.hands.opening_child import Answer, answer, in_words

_AGAIN = 0.05
"""Seconds of processor time."""

_GRACE = 5
"""Seconds of processor time until the system ends what did not end by itself."""


def main() -> None:
    answer(extract, DOCUMENT_PROCESSOR_SECONDS + _GRACE)


def extract(
    data: bytes, seconds: float = DOCUMENT_PROCESSOR_SECONDS, most: int = DOCUMENT_CHARACTERS
) -> Answer:
    """The text, as far as ``seconds`` of processor time and ``most`` characters go, and what is missing of it.

    Only for the main thread of a process. Raises what the libraries like.
    """
    try:
        with _processor_time(seconds):
            document = _open(data)
            return _text(document, most) if document is not None else ({"unknown": True}, b"")
    except OutOfTime:
        return {"failed": "it takes too long"}, b""
    except Unreadable as error:
        return {"unreadable": str(error)}, b""
    except ModuleNotFoundError as error:
        return {"missing": error.name}, b""


def _open(data: bytes) -> Document | None:
    if data.startswith(b"%PDF-"):
        return read_pdf(data)
    file = OfficeFile(data)
    main = file.main()
    match file.root_name(main) if main and main.endswith(".xml") else None:
        case "document":
            document = read_word(file, main or "")
        case "presentation":
            document = read_slides(file, main or "")
        case "workbook":
            document = read_sheets(data)
        case _:
            return None
    if file.has_macros:
        document.notes.append("its macros are left out and were not run")
    return document


def _text(document: Document, most: int) -> Answer:
    """What can be had: after a beginning was read, trouble only ends it."""
    texts: list[str] = []
    cut = None
    try:
        for text in document.sections:
            texts.append(text[:most])
            most -= len(text) + 1
            if most < 0:
                cut = "the text is cut here: it is too long"
                break
    except OutOfTime:
        _stop_clock()
        cut = "the text is cut here: the rest takes too long"
    except MemoryError:
        cut = "the text is cut here: the rest takes too much memory"
    except Exception as error:  # a decoder meets any bytes, and raises what it likes
        if not texts:
            raise
        cut = f"the text breaks off here: {in_words(error)}"
    text = "" if all(map(is_marker, texts)) else "\n".join(texts)
    notes = [*dict.fromkeys(document.notes), *([cut] if cut else [])]
    told = {"kind": document.kind, "size": document.size, "notes": notes}
    return told, text.encode(errors="replace")


@contextmanager
def _processor_time(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTime`` after so many seconds, and again until it is heard: Python swallows it in a finalizer."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        _stop_clock()
        signal.signal(signal.SIGPROF, before)


def _stop_clock() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
