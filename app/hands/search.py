"""Finding files and lines: ``search_files`` by name, ``grep_files`` by content."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import Process

from app.engine.tools import Tool, ToolContext
from app.hands.children import child, of_ours, output_of
from app.hands.errors import Refused
from app.hands.globs import Glob
from app.hands.grep import Hit, Search, grep
from app.hands.grep_child import hit_from, order
from app.hands.limits import (
    CONTEXT_LINES_MOST,
    FOUND_FILES,
    FOUND_FILES_MOST,
    FOUND_LINES,
    FOUND_LINES_MOST,
    SEARCH_SECONDS,
)
from app.hands.patterns import Query, matcher_for
from app.hands.permissions.names import shown
from app.hands.permissions.paths import PathGate
from app.hands.report import report_files, report_lines
from app.hands.ripgrep import name_candidates
from app.hands.threads import CheckStop, in_thread
from app.hands.tool import Arguments, HandTool, schema, threaded
from app.hands.tree import Tree

_LEFT_OUT = (
    "Left out: links, closed files, and folders that programs fill (.git, node_modules, virtual environments, caches) "
    "unless root lies in one."
)
_GLOB = "*.py anywhere, src/**/*.ts from root; ** crosses folders, {a,b} chooses."


def searching_tools(gate: PathGate, ripgrep: Path | None) -> tuple[Tool, ...]:
    root = {"type": "string", "default": ".", "description": "Folder to search in, from the workspace."}

    def most(default: int, most: int) -> dict[str, object]:
        return {"type": "integer", "minimum": 1, "maximum": most, "default": default}

    return (
        HandTool(
            "search_files",
            f"Find files by name. Gives paths sorted by name. {_LEFT_OUT}",
            schema(
                {"glob": {"type": "string", "description": _GLOB}},
                {"root": root, "max_results": most(FOUND_FILES, FOUND_FILES_MOST)},
            ),
            True,
            threaded(partial(search_files, gate)),
        ),
        HandTool(
            "grep_files",
            "Find lines by what stands in them: a piece of text in any case, or with regex a regular expression of "
            "Python's, held against one line at a time. output_mode content gives lines with numbers, files only "
            f"paths, count the number of matching lines of each file. {_LEFT_OUT}",
            schema(
                {"pattern": {"type": "string", "description": "Text, or with regex an expression."}},
                {
                    "root": {**root, "description": "Folder or file to search in, from the workspace."},
                    "regex": {"type": "boolean", "default": False},
                    "glob": {"type": "string", "description": f"Only files of this name: {_GLOB}"},
                    "case_sensitive": {"type": "boolean", "default": False},
                    "context_lines": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": CONTEXT_LINES_MOST,
                        "default": 0,
                    },
                    "output_mode": {
                        "type": "string",
                        "enum": ["content", "files", "count"],
                        "default": "content",
                    },
                    "max_results": most(FOUND_LINES, FOUND_LINES_MOST),
                },
            ),
            True,
            partial(grep_files, gate, ripgrep),
        ),
    )


def search_files(gate: PathGate, arguments: Arguments, check_stop: CheckStop) -> str:
    glob, most = arguments["glob"], arguments.get("max_results", FOUND_FILES)
    keep = Glob.of(glob)
    end = time.monotonic() + SEARCH_SECONDS
    found: list[str] = []
    with gate.find(arguments.get("root", "."), "search") as place, Tree(place) as tree:
        for file in tree.files():
            check_stop()
            if keep.matches(file.path):
                found.append(tree.label(file.path))
            if len(found) > most or time.monotonic() > end:
                break
    return report_files(shown(glob), found, most=most, out_of_time=time.monotonic() > end)


async def grep_files(gate: PathGate, ripgrep: Path | None, arguments: Arguments, context: ToolContext) -> str:
    search = _search_of(arguments)
    matcher = matcher_for(search.query)
    hits: list[Hit] = []

    def look(candidates: list[str], check_stop: CheckStop) -> None:
        hits.extend(grep(gate, search, matcher, candidates, check_stop))

    with anyio.move_on_after(SEARCH_SECONDS) as limit:
        candidates = await _candidates(gate, ripgrep, search)
        if candidates is None or (candidates and search.query.regex):
            await _in_process(gate, search, candidates, hits.append)
        elif candidates:
            # A text is found in linear time, and only as much is looked at as is shown: a thread will do.
            await in_thread(partial(look, candidates))
    return report_lines(search, hits, out_of_time=limit.cancelled_caught)


def _search_of(arguments: Arguments) -> Search:
    query = Query(arguments["pattern"], arguments.get("regex", False), arguments.get("case_sensitive", False))
    return Search(
        query,
        root=arguments.get("root", "."),
        glob=arguments.get("glob"),
        mode=arguments.get("output_mode", "content"),
        context=arguments.get("context_lines", 0),
        most=arguments.get("max_results", FOUND_LINES),
    )


async def _candidates(gate: PathGate, ripgrep: Path | None, search: Search) -> list[str] | None:
    """Paths below the root that are worth a look; None for all of them."""

    def folder_of(check_stop: CheckStop) -> Path | None:
        with gate.find(search.root, "search") as place:
            return place.path if place.is_folder else None

    folder = await in_thread(folder_of) if ripgrep else None
    return await name_candidates(ripgrep, folder, search) if ripgrep and folder else None


async def _in_process(
    gate: PathGate, search: Search, candidates: list[str] | None, take: Callable[[Hit], None]
) -> None:
    """The same search in a process that can be killed, whatever the pattern does there."""
    async with child(
        of_ours("app.hands.grep_child"), folder=gate.workspace, told=order(gate, search, candidates)
    ) as process:
        async for line in _lines(process):
            take(hit_from(line))
        if await process.wait() != 0:
            raise Refused("E_FAILED", "The search broke off. Try a simpler pattern, or a smaller folder.")


async def _lines(process: Process) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in output_of(process):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line
