"""``plancia usage``: sums over the ledger, which has one row for each model call."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from app.commands.terminal import Terminal
from app.infra.paths import DataFolder
from app.workbench import open_cabinet
from app.workspace.usage import Grouping, UsageSum, total, totals

HEAD = ("calls", "input", "output", "cache read", "cache written", "cost")


class Options(argparse.Namespace):
    data_dir: Path | None
    by: Grouping
    json: bool


async def run(options: Options, terminal: Terminal) -> int:
    folder = DataFolder.at(options.data_dir, terminal.environment)
    async with open_cabinet(folder, environment=terminal.environment) as cabinet:
        sums = totals(cabinet.store, options.by)
        everything = total(cabinet.store)
    if options.json:
        terminal.say_json([_record(options.by, each) for each in sums])
    elif not sums:
        terminal.say("No model has been called yet.")
    else:
        _table(options.by, sums, everything, terminal)
    return 0


def _record(by: Grouping, each: UsageSum) -> dict[str, object]:
    """The key under the name of what was grouped by."""
    values = asdict(each)
    return {by: values.pop("key"), **values}


def _table(by: Grouping, sums: Sequence[UsageSum], everything: UsageSum, terminal: Terminal) -> None:
    rows = [(each.key or "–", *_cells(each)) for each in sums]
    terminal.say_table((by, *HEAD), [*rows, ("all", *_cells(everything))])
    if everything.estimated:
        terminal.tell(
            f"Counted here, as the servers reported no tokens: {everything.estimated} of {everything.calls} calls."
        )


def _cells(each: UsageSum) -> tuple[str, ...]:
    counts = (
        each.calls,
        each.input_tokens,
        each.output_tokens,
        each.cache_read_tokens,
        each.cache_write_tokens,
    )
    return (*(f"{count:,}" for count in counts), _cost(each))


def _cost(each: UsageSum) -> str:
    """What is known of it; a plus says that calls of unknown price come on top."""
    if each.unknown_costs == each.calls:
        return "unknown"
    return f"${each.cost:.4f}{'+' if each.unknown_costs else ''}"
