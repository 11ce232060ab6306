"""write_file and edit_file: nothing is changed unseen, and what is not edited stays byte for byte."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.tools import ToolOutput
from app.hands.ledger import ReadLedger
from app.hands.toolbox import file_tools
from app.infra.redaction import Redactor
from tests.case_tables import load_jsonl
from tests.hands.places import SECRET, Hands, Machine, write

pytestmark = pytest.mark.anyio

ROWS = load_jsonl("edit_cases.jsonl")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
def hands(machine: Machine) -> Hands:
    return Hands.on(machine.gate())


def content_before(row: dict[str, Any]) -> bytes:
    if "before_b64" in row:
        return base64.b64decode(row["before_b64"])
    rule = row["generate"]
    numbers = range(rule["start"], rule["start"] + rule["count"])
    return "".join(rule["line"].format(i=number) for number in numbers).encode()


def is_as_expected(expected: dict[str, Any], output: ToolOutput, after: bytes) -> bool:
    if "error" in expected and output.error not in expected["error"]:
        return False
    if "error" not in expected and output.error:
        return False
    if "match" in expected and ("relaxed" in output.text) != (expected["match"] == "relaxed"):
        return False
    if "count" in expected and f": {expected['count']:,} replacement" not in output.text:
        return False
    if "after_b64" in expected and after != base64.b64decode(expected["after_b64"]):
        return False
    return "after_sha256" not in expected or hashlib.sha256(after).hexdigest() == expected["after_sha256"]


async def bring_about(state: str, hands: Hands, path: Path) -> None:
    """What happened between the reading and the edit."""
    name = path.name
    if state == "only lines 1-1 were read":
        await hands.call("read_file", path=name, range={"unit": "line", "start": 1, "end": 1})
        return
    await hands.call("read_file", path=name)
    match state:
        case "read, then only the time stamp changed":
            os.utime(path, (1, 1))
        case "this run edited the file itself before":
            assert not (await hands.call("edit_file", path=name, old_string="b", new_string="B")).error
            assert not (await hands.call("edit_file", path=name, old_string="B", new_string="b")).error
        case "another writer changed the file after it was read":
            path.write_bytes(path.read_bytes() + b"other\n")
        case "" | "expected_hash is another one":
            pass
        case _:
            raise AssertionError(state)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])
async def test_an_edit_does_what_the_table_says(row: dict[str, Any], machine: Machine, hands: Hands) -> None:
    path = write(machine.workspace / "case.txt", content_before(row))
    await bring_about(row.get("state", ""), hands, path)
    arguments = {key: row[key] for key in ("old_string", "new_string", "replace_all") if key in row}
    if "expected_hash" in row.get("state", ""):
        arguments["expected_hash"] = "sha256:" + "0" * 64
    before = path.read_bytes()
    output = await hands.call("edit_file", path="case.txt", **arguments)
    after = path.read_bytes()
    expected = row["expect"]
    if "another writer" in row.get("state", ""):
        assert "other" in output.text, "the reply carries the present state"
        expected = {"error": expected["error"]}
    if output.error:
        assert after == before
    assert any(is_as_expected(one, output, after) for one in expected.get("one_of", [expected])), output.text


async def test_a_new_file_is_written_exactly_with_the_folders_above_it(
    machine: Machine, hands: Hands
) -> None:
    output = await hands.call("write_file", path="notes/today.md", content="# Oggi\r\nè così")
    assert output.text == "Created notes/today.md (2 lines, 16 bytes)."
    assert (machine.workspace / "notes/today.md").read_bytes() == "# Oggi\r\nè così".encode()


async def test_an_existing_file_is_not_overwritten_unread(machine: Machine, hands: Hands) -> None:
    output = await hands.call("write_file", path="a.txt", content="new")
    assert output.error == "E_NOT_READ"
    assert "read_file" in output.text
    assert (machine.workspace / "a.txt").read_text() == "alpha\n"
    await hands.call("read_file", path="a.txt")
    assert (
        await hands.call("write_file", path="a.txt", content="new\n")
    ).text == "Wrote a.txt (1 line, 4 bytes)."


async def test_an_unread_file_is_not_edited(hands: Hands) -> None:
    assert (
        await hands.call("edit_file", path="a.txt", old_string="alpha", new_string="x")
    ).error == "E_NOT_READ"


async def test_a_file_that_holds_it_already_is_left_alone(machine: Machine, hands: Hands) -> None:
    stamp = (machine.workspace / "a.txt").stat()
    output = await hands.call("write_file", path="a.txt", content="alpha\n")
    assert output.text == "a.txt holds exactly that already. Nothing was changed."
    assert (machine.workspace / "a.txt").stat().st_ino == stamp.st_ino


async def test_a_file_changed_by_somebody_else_is_not_overwritten(machine: Machine, hands: Hands) -> None:
    await hands.call("read_file", path="a.txt")
    write(machine.workspace / "a.txt", "by the user\n")
    for _ in range(2):
        output = await hands.call("write_file", path="a.txt", content="new")
        assert output.error == "E_STALE"
        assert "by the user" in output.text
    assert (machine.workspace / "a.txt").read_text() == "by the user\n"


async def test_of_two_runs_that_read_the_same_the_later_writer_is_told(machine: Machine) -> None:
    one, other = Hands.on(machine.gate()), Hands.on(machine.gate())
    for hands in (one, other):
        await hands.call("read_file", path="a.txt")
    first = await one.call("edit_file", path="a.txt", old_string="alpha", new_string="one")
    second = await other.call("edit_file", path="a.txt", old_string="alpha", new_string="other")
    assert first.error is None
    assert second.error == "E_STALE"
    assert "one" in second.text
    again = await other.call("edit_file", path="a.txt", old_string="one", new_string="one, other")
    assert again.error is None
    assert (machine.workspace / "a.txt").read_text() == "one, other\n"


async def test_of_many_that_write_at_once_one_wins_and_the_others_are_told(machine: Machine) -> None:
    workers = [Hands.on(machine.gate()) for _ in range(8)]
    outcomes: list[str | None] = []

    async def work(hands: Hands, number: int) -> None:
        output = await hands.call(
            "edit_file", path="a.txt", old_string="alpha", new_string=f"worker {number}"
        )
        outcomes.append(output.error)

    for hands in workers:
        await hands.call("read_file", path="a.txt")
    async with anyio.create_task_group() as group:
        for number, hands in enumerate(workers):
            group.start_soon(work, hands, number)
    assert sorted(outcomes, key=str) == ["E_STALE"] * 7 + [None]
    assert [path.name for path in machine.workspace.iterdir() if path.name.startswith(".")] == []


async def test_an_edit_after_a_stale_one_must_fit_what_was_shown(machine: Machine, hands: Hands) -> None:
    await hands.call("read_file", path="a.txt")
    write(machine.workspace / "a.txt", "gone\n")
    arguments = {"path": "a.txt", "old_string": "alpha", "new_string": "x"}
    assert (await hands.call("edit_file", **arguments)).error == "E_STALE"
    assert (await hands.call("edit_file", **arguments)).error == "E_NO_MATCH"


async def test_the_hash_that_was_shown_is_one_to_expect(hands: Hands) -> None:
    shown = (await hands.call("read_file", path="a.txt")).text.partition("hash ")[2][:16]
    output = await hands.call(
        "edit_file", path="a.txt", old_string="a", new_string="b", expected_hash=shown, replace_all=True
    )
    assert output.error is None
    stale = await hands.call("edit_file", path="a.txt", old_string="b", new_string="c", expected_hash=shown)
    assert stale.error == "E_STALE"


async def test_a_ledger_shared_by_two_sets_of_tools_counts_for_both(machine: Machine) -> None:
    ledger = ReadLedger()
    one, other = Hands.on(machine.gate(), ledger), Hands.on(machine.gate(), ledger)
    await one.call("read_file", path="a.txt")
    assert (
        await other.call("edit_file", path="./sub/../a.txt", old_string="alpha", new_string="x")
    ).error is None


@pytest.mark.parametrize(
    ("before", "content", "after", "said"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n", "CRLF line ends"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n", ""),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n", ""),
        ("\ufeffa".encode(), "è", "\ufeffè".encode(), "UTF-8 with BOM"),
        ("\ufeffa".encode("utf-16-le"), "è", "\ufeffè".encode("utf-16-le"), "UTF-16 with BOM"),
        ("perché".encode("cp1252"), "è €", "è €".encode("cp1252"), "Windows-1252"),
        ("perché".encode("cp1252"), "木", "木".encode(), "is UTF-8 now"),
    ],
)
async def test_a_rewritten_file_keeps_what_its_writer_cannot_see(
    machine: Machine, hands: Hands, before: bytes, content: str, after: bytes, said: str
) -> None:
    path = write(machine.workspace / "old.txt", before)
    await hands.call("read_file", path="old.txt")
    output = await hands.call("write_file", path="old.txt", content=content)
    assert path.read_bytes() == after
    assert said in output.text


async def test_half_a_character_is_refused(machine: Machine, hands: Hands) -> None:
    await hands.call("read_file", path="a.txt")
    assert (await hands.call("write_file", path="new.txt", content="x\ud83d")).error == "E_BAD_INPUT"
    output = await hands.call("edit_file", path="a.txt", old_string="alpha", new_string="x\udc80")
    assert output.error == "E_BAD_INPUT"
    assert not (machine.workspace / "new.txt").exists()


async def test_a_file_of_secrets_can_be_made_and_not_changed(machine: Machine, hands: Hands) -> None:
    assert (await hands.call("write_file", path=".env", content="PORT=1\n")).error is None
    assert (await hands.call("write_file", path=".env", content="PORT=2\n")).error == "E_DENIED"
    write(machine.workspace / ".env", SECRET)
    output = await hands.call("edit_file", path=".env", old_string="x", new_string="y")
    assert output.error == "E_DENIED"
    assert SECRET not in output.text


async def test_a_file_too_large_to_be_compared_is_not_written(machine: Machine, hands: Hands) -> None:
    with (machine.workspace / "huge.log").open("wb") as file:
        file.truncate(20 * 1024 * 1024)
    assert (await hands.call("write_file", path="huge.log", content="x")).error == "E_TOO_LARGE"


KEY = "sk-planted-0123456789abcdef"


class TestMaskedKeys:
    @pytest.fixture
    def hands(self, machine: Machine) -> Hands:
        write(machine.workspace / "keys", f"API={KEY}\nMODE=dark\n")
        return Hands(file_tools(machine.gate(), ReadLedger(), redact=Redactor([KEY]).redact_known))

    async def test_a_key_that_was_shown_as_a_mask_is_not_written_over(
        self, machine: Machine, hands: Hands
    ) -> None:
        shown = (await hands.call("read_file", path="keys")).text.partition("\n")[2]
        assert shown == "API=[redacted]\nMODE=dark"
        whole = await hands.call("write_file", path="keys", content=shown.replace("dark", "light"))
        assert (whole.error, KEY in whole.text) == ("E_DENIED", False)
        assert "keys holds a key that you were shown as [redacted]" in whole.text
        assert (machine.workspace / "keys").read_text() == f"API={KEY}\nMODE=dark\n"

    async def test_what_leaves_the_key_where_it_is_changes_the_rest(
        self, machine: Machine, hands: Hands
    ) -> None:
        await hands.call("read_file", path="keys")
        await hands.call("edit_file", path="keys", old_string="dark", new_string="light # never [redacted]")
        assert (machine.workspace / "keys").read_text() == f"API={KEY}\nMODE=light # never [redacted]\n"

    async def test_a_key_may_be_taken_out(self, machine: Machine, hands: Hands) -> None:
        await hands.call("read_file", path="keys")
        assert (await hands.call("write_file", path="keys", content="MODE=dark\n")).error is None

    async def test_a_file_that_only_speaks_of_masks_is_written(self, machine: Machine, hands: Hands) -> None:
        done = await hands.call("write_file", path="notes", content="a key is shown as [redacted]\n")
        assert done.error is None
