"""The commands' errors, as a map. Each text is one sentence for the terminal that says what to do.

CommandError      The command was understood and could not do it; exit code 1.
└── UsageError    What was typed asks for something that cannot be; exit code 2.

Errors of the rooms below come up as they are; ``sentences.py`` knows their exit codes.
"""

from __future__ import annotations


class CommandError(Exception):
    """The command was understood and could not do it."""


class UsageError(CommandError):
    """What was typed asks for something that cannot be."""
