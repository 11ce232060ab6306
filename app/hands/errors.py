"""The hands' errors, as a map. A tool turns its own into a result for the model; trouble with undo goes further up.

HandsError
├── Refused              The call cannot be done; the sentence ends with the next valid step.
├── SnapshotTrouble      What undo needs cannot be kept or read; the sentence is for the user.
└── Stopped              Nobody waits for the result any more.

The codes, each for one kind of next step:

    E_BAD_INPUT          say it otherwise              E_NOT_READ           read the file first
    E_NOT_FOUND          another path                  E_STALE              look at what it is now
    E_OUTSIDE            a path inside                 E_NO_MATCH           quote the file exactly
    E_DENIED             nothing, or ask the user      E_MULTIPLE_MATCHES   quote more of it
    E_IS_FOLDER          a path of a file              E_NOT_EDITABLE       another way than a text edit
    E_NOT_FOLDER         a path of a folder            E_TOO_LARGE          a smaller piece
    E_FAILED             what the system said          E_TIMEOUT            a smaller search, a longer limit
    E_UNCONFINED         nothing, or ask the user      E_TOO_MANY           stop one first
"""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "E_BAD_INPUT",
    "E_NOT_FOUND",
    "E_OUTSIDE",
    "E_DENIED",
    "E_IS_FOLDER",
    "E_NOT_FOLDER",
    "E_NOT_READ",
    "E_STALE",
    "E_NO_MATCH",
    "E_MULTIPLE_MATCHES",
    "E_NOT_EDITABLE",
    "E_TOO_LARGE",
    "E_TIMEOUT",
    "E_FAILED",
    "E_UNCONFINED",
    "E_TOO_MANY",
]


class HandsError(Exception):
    """Anything that ends a tool's work before its result."""


class Refused(HandsError):
    """A call that cannot be done, said to the model."""

    def __init__(self, code: Code, sentence: str, *, transient: bool = False) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code: Code = code
        self.sentence = sentence
        self.transient = transient
        """True where the very same call may work later."""


class SnapshotTrouble(HandsError):
    """What the workspace holds cannot be kept, or what was kept cannot be read; said to the user."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Stopped(HandsError):
    """Nobody waits for the result any more."""
