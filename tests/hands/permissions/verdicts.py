"""What the gate thinks of a command in an invented workspace; nothing is run, and no path here exists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.facts import Facts
from app.hands.permissions.risk import judge
from app.hands.permissions.verdict import Category, Verdict

HOME = "/home/ada"
WORKSPACE = f"{HOME}/projects/app"
OWN = f"{HOME}/.local/share/plancia"
FACTS = Facts(WORKSPACE, HOME, ClosedPlaces(Path(HOME), own=(Path(OWN),)), temporary="/tmp/plancia-1")


def seen(command: str, facts: Facts = FACTS) -> Verdict:
    return judge(command, facts)


def category(command: str, facts: Facts = FACTS) -> Category:
    return seen(command, facts).category


def with_made(*names: str) -> Facts:
    """The facts where this conversation made some files or folders of the workspace."""
    made = [f"{WORKSPACE}/{name}" for name in names]
    return replace(
        FACTS, made=lambda path: any(path == place or path.startswith(f"{place}/") for place in made)
    )
