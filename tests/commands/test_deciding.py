"""Approvals where there is no page: what the command line says, or who sits at the terminal."""

from __future__ import annotations

import pytest

from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say


@pytest.fixture
def cautious(seat: Seat, llm: FakeLLM) -> Seat:
    """Everything that changes something asks, and the model is about to write a file."""
    seat.with_model(llm)
    assert seat("settings", "set", "access.mode", "cautious").code == 0
    llm.script(say("", calls=[call("write_file", {"path": "a.md", "content": "line one\n"})]), say("Done."))
    return seat


@pytest.mark.parametrize(
    ("approve", "code", "written"), [("never", 3, False), ("always", 0, True), ("ask", 3, False)]
)
def test_without_a_terminal_the_command_line_decides(
    cautious: Seat, approve: str, code: int, written: bool
) -> None:
    ran = cautious("run", "Write it.", "--approve", approve)
    assert ran.code == code
    assert (cautious.workspace / "a.md").exists() is written
    assert ran.out.strip() == "Done."


def test_the_model_is_told_that_nobody_could_be_asked(cautious: Seat, llm: FakeLLM) -> None:
    cautious("run", "Write it.", "--approve", "never")
    told = str(llm.bodies()[-1]["messages"][-1])
    assert "E_DENIED" in told
    assert "Nobody could be asked" in told


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("o\n", True),
        ("yes\n", True),
        ("A\n", True),
        ("d\n", False),
        ("\n", False),
        ("", False),
        ("what\nno\n", False),
    ],
)
def test_at_a_terminal_the_question_is_shown_whole_and_answered(
    cautious: Seat, typed: str, written: bool
) -> None:
    ran = cautious("run", "Write it.", typed=typed, watched=True)
    assert ran.code == 0
    assert (cautious.workspace / "a.md").exists() is written
    assert "write_file needs your approval." in ran.err
    assert "It changes a file, and access is cautious." in ran.err
    assert "│ line one" in ran.err


def test_a_rule_made_at_the_terminal_holds_the_next_time(cautious: Seat, llm: FakeLLM) -> None:
    assert cautious("run", "Write it.", typed="always\n", watched=True).code == 0
    (cautious.workspace / "a.md").unlink()
    llm.script(say("", calls=[call("write_file", {"path": "a.md", "content": "x"})]), say("Again."))
    assert cautious("run", "Write it again.", "--approve", "never").code == 0
    assert (cautious.workspace / "a.md").exists()


def test_in_json_the_question_is_a_line_of_its_own(cautious: Seat) -> None:
    ran = cautious("run", "Write it.", "--approve", "never", "--json")
    (asked,) = [event for event in ran.events if event["type"] == "approval"]
    assert asked["kind"] == "change"
    assert asked["subject"]["payload"] == "line one\n"
    assert ran.events[-1]["type"] == "done"
    assert ran.code == 3


@pytest.mark.parametrize("keys", [b"o\n", b"\x03"], ids=["allowed", "Ctrl-C"])
def test_on_a_real_terminal_a_question_is_answered_or_given_up(cautious: Seat, keys: bytes) -> None:
    code, _ = cautious.at_terminal("run", "Write it.", until=b"[d]eny?", keys=keys)
    allowed = keys != b"\x03"
    assert code == (0 if allowed else 130)
    assert (cautious.workspace / "a.md").exists() is allowed
