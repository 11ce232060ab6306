"""Results that no window should have to hold: kept whole, shown by both ends, never cut inside a character."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.large_results import (
    MemoryResults,
    beginning,
    between_characters,
    ending,
    find_shortened,
    fit,
)
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.engine.tokens import estimate_tokens
from app.engine.tools import MOST_TOKENS, ToolContext, ToolOutput
from tests.engine.test_runner import Tool, agent, harness

pytestmark = pytest.mark.anyio

LARGE = "".join(f"line {number} of the log, nothing special\n" for number in range(20_000))
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


class FullDisk:
    async def keep(self, text: str) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_a_large_result_is_stored_whole_and_shown_by_both_ends_and_a_reference() -> None:
    store = MemoryResults()
    shown = (await fit(ToolOutput(LARGE), store)).text
    ((ref, text),) = store.texts.items()
    assert text == LARGE
    assert estimate_tokens(shown) < MOST_TOKENS
    assert shown.startswith("line 0 of")
    assert shown.endswith("line 19999 of the log, nothing special\n")
    assert f'read_result("{ref}", start, end)' in shown
    assert f'search_result("{ref}", pattern)' in shown


async def test_the_gap_is_counted_exactly() -> None:
    shown = (await fit(ToolOutput(LARGE), MemoryResults())).text
    head, note, tail = shown.split("\n\n")
    assert f"{len(LARGE) - len(head) - len(tail):,} characters are left out" in note


async def test_a_shortened_result_is_told_from_a_whole_one() -> None:
    store = MemoryResults()
    parts = find_shortened((await fit(ToolOutput(LARGE), store)).text)
    assert parts is not None
    left_out = int(parts.left_out.replace(",", ""))
    assert parts.head + LARGE[len(parts.head) :][:left_out] + parts.tail == LARGE
    assert parts.ref in store.texts
    lost = find_shortened((await fit(ToolOutput(LARGE), FullDisk())).text)
    assert lost is not None
    assert lost.ref is None
    for whole in ("", "x " * 100, "[… 9 characters are left out here. …]", "a\n\n[… some characters …]\n\nb"):
        assert find_shortened(whole) is None


async def test_what_is_stored_already_is_shortened_and_not_stored_again() -> None:
    store = MemoryResults()
    parts = find_shortened((await fit(ToolOutput(LARGE, is_kept=True), store)).text)
    assert parts is not None
    assert (parts.ref, store.texts) == (None, {})


async def test_a_result_that_fits_is_not_touched() -> None:
    output = ToolOutput("x " * 10_000)
    assert await fit(output, MemoryResults()) is output


async def test_an_error_stays_an_error_when_it_is_shortened() -> None:
    output = await fit(ToolOutput.failed("E_FAILED", LARGE, transient=True), MemoryResults())
    assert (output.error, output.transient) == ("E_FAILED", True)
    assert output.text.startswith("E_FAILED: line 0")


async def test_without_room_on_the_disk_the_ends_are_shown_and_the_loss_is_said() -> None:
    shown = (await fit(ToolOutput(LARGE), FullDisk())).text
    assert "The rest is lost: it could not be stored (No space left on device)." in shown
    assert shown.startswith("line 0")


async def test_half_characters_are_scrubbed_on_the_way_in() -> None:
    assert (await fit(ToolOutput("ok \ud83d"), MemoryResults())).text == "ok \ufffd"


async def test_a_smaller_window_gets_a_smaller_piece() -> None:
    shown = (await fit(ToolOutput(LARGE), MemoryResults(), most=1_000)).text
    assert estimate_tokens(shown) < 1_000


async def test_whatever_tool_it_comes_from_the_model_sees_the_short_form() -> None:
    session, model = MemorySession("s"), ScriptedModel([call("look", "c1")], say("Seen."))
    tool, given = Tool("look", output=ToolOutput(LARGE)), harness(model)
    async for _ in run(agent(tool), session, [UserInput("hello", "u1")], given):
        pass
    (result,) = session.messages[2].results
    assert "are left out here" in result.text
    assert result.status == "ok"
    assert isinstance(given.results, MemoryResults)
    assert list(given.results.texts.values()) == [LARGE]


class Measuring(Tool):
    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput(f"{context.most_tokens} tokens")


@pytest.mark.parametrize(("window", "most"), [(8_192, 2_048), (1_000_000, MOST_TOKENS)])
async def test_a_tool_is_told_how_much_of_it_is_shown(window: int, most: int) -> None:
    session, model = MemorySession("s"), ScriptedModel([call("look", "c1")], say("Seen."), window=window)
    async for _ in run(agent(Measuring("look")), session, [UserInput("hello", "u1")], harness(model)):
        pass
    (result,) = session.messages[2].results
    assert result.text == f"{most} tokens"


@given(st.text(max_size=300).map(lambda text: text * 20), st.integers(0, 400))
def test_both_ends_are_ends_and_hold_no_more_than_asked(text: str, tokens: int) -> None:
    head, tail = beginning(text, tokens), ending(text, tokens)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert estimate_tokens(head) <= tokens
    assert estimate_tokens(tail) <= tokens


@pytest.mark.parametrize(
    "character",
    [
        FAMILY,
        "e\u0301",
        "\U0001f44d\U0001f3fd",
        "\U0001f1ee\U0001f1f9",
        "\u2764\ufe0f",
        "\r\n",
        "\u0915\u094d",
    ],
)
def test_a_character_is_never_split(character: str) -> None:
    text = f"a{character}b"
    for cut in range(2, 1 + len(character)):
        assert between_characters(text, cut) == 1


def test_two_flags_side_by_side_are_two_characters() -> None:
    flags = "\U0001f1ee\U0001f1f9\U0001f1eb\U0001f1f7"
    assert [between_characters(flags, cut) for cut in range(5)] == [0, 0, 2, 2, 4]


def test_a_chain_of_signs_without_end_does_not_hold_up_the_cut() -> None:
    text = "a" + "\u0301" * 100_000
    assert between_characters(text, 50_000) == 50_000
