"""Every command, flag, setting, event and environment variable stands in docs/commands.md, and nothing else does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from app.commands.event_lines import Told, fields_of
from app.commands.grammar import GRAMMAR, parser_of
from app.engine import events as engine
from app.group_chat.events import FormShown, PlanChanged, TaskChanged
from app.infra.settings import SETTINGS, written
from app.providers.vendors import VENDORS
from app.workspace.rows import PlanRow, TaskRow

ROOT = Path(__file__).resolve().parents[1]

ALWAYS = {"--data-dir", "--help"}
"""Flags of every command, said once."""

BY_LIBRARIES = {
    "ALL_PROXY",
    "BROWSER",
    "DISPLAY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "WAYLAND_DISPLAY",
}
"""Variables that httpx and the standard library read for us."""

EXAMPLES: tuple[Told, ...] = (
    engine.TextDelta("", ""),
    engine.ReasoningDelta("", ""),
    engine.ToolDelta("", "", ""),
    engine.ToolStart("", "", {}),
    engine.Approval("", "", "", {}),
    FormShown("", "", ()),
    TaskChanged(TaskRow("", "", 0, "worker", "", "", "", "", "", None, "queued", None, "", None)),
    PlanChanged(PlanRow("", "", 0, "", "", None, "", {}, "", None, None)),
    engine.ToolProgress("", "", 0, 0),
    engine.ToolEnd("", "", "", True, "E_X", 0),
    engine.Compaction(0, 0, ""),
    engine.Retry(0, 0, ""),
    engine.Fallback("", "", ""),
    engine.Omission("", (), ""),
    engine.Steer("", ""),
    engine.LoopWarning("", 0),
    engine.Usage("", ""),
    engine.Done("failed", reason="", error=engine.Failure("", "")),
)
"""One of each kind, with everything that it can say."""


@cache
def sections() -> dict[str, str]:
    """The text below each heading of level 2 or 3, by its heading."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    parts = re.split(r"^#{2,3} (.*)$", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def quoted(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


def table(text: str) -> Iterator[list[str]]:
    """The cells of each row but for rulers."""
    for line in text.splitlines():
        if line.startswith("|") and set(line) - set("|- "):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_every_command_has_its_heading_and_every_heading_its_command() -> None:
    headings = {
        heading.strip("`").removeprefix("plancia ") for heading in sections() if "`plancia" in heading
    }
    assert headings == set(GRAMMAR)


@pytest.mark.parametrize("name", GRAMMAR)
def test_every_flag_of_a_command_is_described_and_no_other(name: str) -> None:
    actions = parser_of(name)._actions  # argparse has no public list of them
    flags = {flag for action in actions for flag in action.option_strings if flag.startswith("--")}
    described = set(re.findall(r"--[a-z-]+", " ".join(quoted(sections()[f"`plancia {name}`"]))))
    assert described == flags - ALWAYS


def test_the_flags_of_every_command_are_said_once() -> None:
    assert {word.split()[0] for word in quoted(sections()[""])} >= ALWAYS


def test_every_setting_is_described_with_its_default() -> None:
    rows = {row[0].strip("`"): row[1].strip("`") for row in table(sections()["`plancia settings set`"])}
    rows.pop("setting")
    assert rows == {key: written(setting.default) for key, setting in SETTINGS.items()}


def test_every_event_is_described_with_its_fields() -> None:
    assert {type(event) for event in EXAMPLES} == set(get_args(Told))
    rows = {row[0].strip("`"): quoted(row[1]) for row in table(sections()["Events of `run --json`"])}
    rows.pop("type")
    assert rows == {event.type: set(fields_of(event)) for event in EXAMPLES}


def test_every_environment_variable_is_described_and_every_described_one_is_read() -> None:
    described = {word for word in quoted(sections()["Environment"]) if word.isupper()}
    hosts = {name for vendor in VENDORS for name in (*vendor.keys, *vendor.base_variables)}
    assert described == set(read_by_us()) | BY_LIBRARIES | hosts


def read_by_us() -> Iterator[str]:
    """Names that any module asks an environment for, by ``get`` or by index."""
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=place, attr="get"), args=[ast.Constant(str(name)), *_]
                ):
                    pass
                case ast.Subscript(value=place, slice=ast.Constant(str(name)), ctx=ast.Load()):
                    pass
                case _:
                    continue
            if ast.unparse(place).endswith(("environment", "environ")):
                yield name
