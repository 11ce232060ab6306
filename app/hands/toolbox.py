"""What an agent holds in its hands: the file tools by name."""

from __future__ import annotations

from app.engine.tools import Tool
from app.hands.changes import changing_tools
from app.hands.files import looking_tools
from app.hands.ledger import ReadLedger
from app.hands.permissions.paths import PathGate
from app.hands.pictures import KeepPicture
from app.hands.ripgrep import find_ripgrep
from app.hands.search import searching_tools


def file_tools(
    gate: PathGate, ledger: ReadLedger, keep_picture: KeepPicture | None = None
) -> dict[str, Tool]:
    """The tools of one run: its folders and closed places, what it has read so far, where its pictures go."""
    searching = searching_tools(gate, find_ripgrep(gate.workspace))
    tools = (*looking_tools(gate, ledger, keep_picture), *searching, *changing_tools(gate, ledger))
    return {tool.name: tool for tool in tools}
