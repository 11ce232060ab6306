"""How much is enough: the defaults of the hands, each in one place."""

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

DOCUMENT_BYTES = 64 * 1024 * 1024
"""The largest document whose text is taken out."""

DOCUMENT_PROCESSOR_SECONDS = 30
"""Processor time after which what was read of a document is all that is shown."""

DOCUMENT_SECONDS = 60.0
"""After which reading a document is given up."""

DOCUMENT_CHARACTERS = 4_000_000
"""Text of one document, kept for the run that reads it range by range."""

DOCUMENTS_KEPT = 2
"""Documents whose text is kept at once."""

SEARCH_SECONDS = 30.0
"""After which a search gives what it has."""

SLOW_PATTERN_SECONDS = 1.0
"""Processor time that a pattern may take for one piece of a file."""

COMMAND_SECONDS = 120.0
COMMAND_SECONDS_MOST = 25 * 60.0
"""Default and most time that a command may show nothing new; less than any tool may without being ended."""

COMMAND_SECONDS_IN_ALL = 2 * 60 * 60.0
"""After which a command is ended whatever it shows: longer work is a background job."""

COMMAND_BYTES = 100_000
"""Of the text of one command: the system takes no more than 128 KB in one argument."""

COMMAND_GRACE = 0.5
"""Seconds between asking what is left of a command to end and forcing it: a stop has to be over within one."""

OUTPUT_WHOLE = 131_072
"""Characters of output that are held in memory; of more than that both ends, and the whole goes to disk."""

OUTPUT_BYTES = 16 * 1024 * 1024
"""Of one command, kept from its beginning; of what comes after them the last ``OUTPUT_ENDING``."""

OUTPUT_ENDING = 65_536

LIVE_CHARACTERS = 4_000
"""Of one piece of output that is shown while the command runs."""

JOBS_AT_ONCE = 8
"""Background jobs of one conversation that run at the same time."""

JOBS_KEPT = 50
"""Ended jobs whose output is kept."""

JOB_GRACE = 3.0
"""Seconds that a background job has to put its things in order when it is stopped."""

JOB_SEGMENT = 4 * 1024 * 1024
"""Bytes of one file of a job's output; the newest two are kept."""

JOB_INPUT = 16_384
"""Characters that a job is sent at once."""

WEB_SECONDS = 45.0
"""For a page or a search, redirects included."""

WEB_CONNECT_SECONDS = 8.0
"""Until a web server takes a connection."""

WEB_BYTES = 8 * 1024 * 1024
"""Of a page, unpacked; what comes after them is left out."""

WEB_REDIRECTS = 5

PAGE_SECONDS = 15.0
"""After which the making of text from a page is given up."""

FOUND_PAGES = 8
FOUND_PAGES_MOST = 20
"""Default and most results of ``web_search``."""

PROMPT_CHARACTERS = 16_000
"""Of the description of a picture."""

REFERENCES = 4
"""Pictures that go along with it."""
