"""How much is enough: the defaults of the file tools, each in one place."""

from __future__ import annotations

RESULT_BYTES = 32_000
"""Text in one result: under the size above which a result is stored and shown in part, in any script."""

WHOLE_FILE_BYTES = 16 * 1024 * 1024
"""The largest file that is read whole, hashed, edited or written."""

SKIPPED_BYTES = 1024 * 1024 * 1024
"""How far into a larger file a range may begin."""

SNIFFED_BYTES = 65_536
"""The beginning of a larger file, by which text is told from other data."""

LISTED_ENTRIES = 500

FOUND_FILES = 200
FOUND_FILES_MOST = 2_000
"""Default and most results of ``search_files``."""

FOUND_LINES = 100
FOUND_LINES_MOST = 1_000
"""Default and most results of ``grep_files``: lines, or files where files are asked for."""

CONTEXT_LINES_MOST = 10

SHOWN_LINE = 400
"""Characters of one line that a search shows."""

PICTURE_SECONDS = 20.0
"""After which the look at a picture is given up."""

PICTURE_BYTES = 64 * 1024 * 1024
"""More than any picture of a bounded size, however badly it is packed."""

SEARCH_SECONDS = 30.0
"""After which a search gives what it has."""

SLOW_PATTERN_SECONDS = 1.0
"""Processor time that a pattern may take for one piece of a file."""
