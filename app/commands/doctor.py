"""``plancia doctor``: what is wrong, in words, and with ``--fix`` the repairs that cannot lose anything."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.commands.checks import (
    Finding,
    check_disk,
    check_environment,
    check_folder,
    check_owner,
    check_port,
    check_versions,
)
from app.commands.content_checks import check_keys, check_models, check_transcripts, check_turns
from app.commands.database_check import check_database
from app.commands.running import find_owner
from app.commands.sockets import chosen_port
from app.commands.terminal import Terminal
from app.infra.errors import InfraError
from app.infra.paths import DataFolder
from app.workbench import open_cabinet

_MARKS = {"ok": "✓", "note": "·", "problem": "✗"}


class Options(argparse.Namespace):
    data_dir: Path | None
    fix: bool
    json: bool


async def run(options: Options, terminal: Terminal) -> int:
    """0 where nothing is wrong, 1 where something is left to be done."""
    folder = DataFolder.at(options.data_dir, terminal.environment)
    findings = await examine(folder, terminal.environment)
    if options.fix:
        findings = [_fixed(each) for each in findings]
    if options.json:
        terminal.say_json([_record(each) for each in findings])
    else:
        for each in findings:
            hint = " `plancia doctor --fix` repairs this." if each.repair else ""
            terminal.say(f"{_MARKS[each.state]} {each.text}{hint}")
    return 1 if any(each.state == "problem" for each in findings) else 0


async def examine(folder: DataFolder, environment: Mapping[str, str]) -> list[Finding]:
    """From the machine inwards; what an earlier finding makes pointless is left out."""
    findings = [*check_versions(), *check_environment(environment), *check_folder(folder)]
    if not folder.root.is_dir() or is_blocked(findings):
        return findings
    findings += [
        *check_disk(folder),
        *check_owner(folder),
        *check_port(chosen_port(None, environment), folder),
    ]
    database = [*check_database(folder)]
    findings += database
    if all(each.state == "ok" for each in database):
        findings += await _content(folder, environment)
    return findings


def is_blocked(findings: Sequence[Finding]) -> bool:
    return any(
        each.state == "problem" and each.about == "folder" and each.repair is None for each in findings
    )


async def _content(folder: DataFolder, environment: Mapping[str, str]) -> list[Finding]:
    is_running = find_owner(folder) is not None
    async with open_cabinet(folder, environment=environment) as cabinet:
        return [
            *check_turns(cabinet, is_running),
            *await check_transcripts(cabinet),
            *check_keys(cabinet),
            *check_models(cabinet),
        ]


def _fixed(finding: Finding) -> Finding:
    if finding.repair is None:
        return finding
    try:
        return Finding(finding.about, "ok", finding.repair())
    except (OSError, InfraError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error).removesuffix(".")
        return Finding(finding.about, "problem", f"{finding.text} It could not be repaired ({why}).")


def _record(finding: Finding) -> dict[str, object]:
    return {
        "about": finding.about,
        "state": finding.state,
        "text": finding.text,
        "fixable": finding.repair is not None,
    }
