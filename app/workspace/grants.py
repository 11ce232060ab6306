"""What the user decides by hand, before anything asks: folders beside the workspaces, and commands.

Each says in words what it cannot be.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from app.hands.permissions import risk
from app.hands.permissions.access import Answer
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.facts import Facts
from app.hands.permissions.rules import FOLDERS, LASTING, READING, WRITING, Rule
from app.hands.permissions.verdict import Category
from app.infra.paths import DataFolder
from app.workspace.errors import InvalidRule
from app.workspace.rows import RuleRow
from app.workspace.rules import EVERYWHERE, add_rule
from app.workspace.store import Store


def grant_folder(store: Store, folder: DataFolder, typed: str, *, writing: bool) -> RuleRow:
    """Open a folder in every conversation. Raises ``InvalidRule``."""
    place = _grantable(typed, folder)
    rule = Rule("allow", (str(place),), exact=True, categories=WRITING if writing else READING, tool=FOLDERS)
    return add_rule(store, rule, EVERYWHERE)


def rule_commands(store: Store, typed: str, answer: Answer) -> RuleRow:
    """Decide about every command that begins with these words, everywhere. Raises ``InvalidRule``."""
    try:
        words = tuple(shlex.split(typed))
    except ValueError as error:
        raise InvalidRule("A quote is not closed. Write the beginning of one command.") from error
    if not words:
        raise InvalidRule("Write the beginning of a command, such as git push.")
    if any(sign in word for word in words for sign in "|&;<>()$`*?[\n"):
        raise InvalidRule(
            "A rule is about one command: write its first words only, without signs of the shell."
        )
    if answer == "allow" and (wrong := _never_allowed(words)):
        raise InvalidRule(f"No rule can allow this: {wrong} It asks each time.")
    covered = LASTING if answer == "allow" else frozenset[Category]()
    return add_rule(store, Rule(answer, words, exact=False, categories=covered), EVERYWHERE)


def _never_allowed(words: tuple[str, ...]) -> str:
    """What is found about a command that no rule covers, in a sentence; nothing where a rule can allow it."""
    facts = Facts("/workspace", str(Path.home()), ClosedPlaces(Path.home()))
    found = risk.judge(shlex.join(words), facts).findings
    return next((finding.sentence for finding in found if finding.category not in LASTING), "")


def _grantable(typed: str, folder: DataFolder) -> Path:
    try:
        place = Path(typed).expanduser()
        if not typed or not place.is_absolute():
            raise InvalidRule("Write the whole path of a folder, from / or ~ on.")
        place = place.resolve()
        if not place.is_dir():
            raise InvalidRule(f"There is no folder {place}. Check the path.")
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidRule(f"{typed} cannot be opened. Check the path.") from error
    if not ClosedPlaces(Path.home(), own=(folder.root,)).may_be_granted(place):
        raise InvalidRule(
            f"{place} can be granted by nobody: keys, system folders, Plancia’s own data and what holds them stay "
            "closed. Choose a folder of your own work."
        )
    return place
