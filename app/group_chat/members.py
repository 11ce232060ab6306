"""Who can hold the floor, and what each one is given for a turn: prompt, tools, model, session."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.engine.agent import Agent
from app.engine.events import Done
from app.engine.runner import Harness
from app.engine.session import JsonlSession, Session
from app.hands.files import file_tools
from app.hands.permissions.paths import PathGate
from app.infra.paths import DataFolder
from app.workspace import sessions
from app.workspace.rows import ConversationRow, SessionRow
from app.workspace.store import Store

COMMANDER = "commander"
COMMANDER_STEPS = 120
"""Steps a turn of Commander may take."""
