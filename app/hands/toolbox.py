"""What an agent holds in its hands: the file tools by name."""

from __future__ import annotations

from app.engine.tools import Tool
from app.hands.changes import changing_tools, deleting_tool
from app.hands.files import looking_tools
from app.hands.ledger import ReadLedger
from app.hands.permissions.paths import PathGate
from app.hands.pictures import KeepPicture
from app.hands.ripgrep import find_ripgrep
from app.hands.search import searching_tools
from app.hands.terminal_text import Redact, as_it_is
from app.hands.wrapped import MaskedTool


def file_tools(
    gate: PathGate,
    ledger: ReadLedger,
    keep_picture: KeepPicture | None = None,
    redact: Redact = as_it_is,
    *,
    deleting: bool = False,
) -> dict[str, Tool]:
    """The tools of one run: its folders and closed places, what it has read so far, where its pictures go.

    ``redact`` masks the keys in all that they tell. ``deleting``: also what deletes files; only for those whose
    changes can be undone.
    """
    searching = searching_tools(gate, find_ripgrep(gate.workspace))
    changing = (*changing_tools(gate, ledger, redact), *([deleting_tool(gate, ledger)] if deleting else []))
    tools = (*looking_tools(gate, ledger, keep_picture), *searching, *changing)
    return {tool.name: MaskedTool(tool, redact) for tool in tools}
