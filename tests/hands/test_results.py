"""read_result and search_result: a stored result is paged through, and only by its own conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.engine.arguments import refuse_arguments
from app.engine.large_results import fit, most_for
from app.engine.tokens import estimate_tokens
from app.engine.tools import MOST_TOKENS, ToolContext, ToolOutput
from app.hands.results import StoredResults, result_tools
from app.infra.ids import new_id

pytestmark = pytest.mark.anyio

LOG = "".join(f"{number:05} all quiet\n" for number in range(20_000))


@pytest.fixture
def results(tmp_path: Path) -> StoredResults:
    return StoredResults(tmp_path / "results" / "conv_1", new_id)


async def ask(
    results: StoredResults, name: str, most_tokens: int = MOST_TOKENS, **arguments: Any
) -> ToolOutput:
    """As a run does: the arguments are checked, and what is too large is shortened."""
    tool = result_tools(results)[name]
    context = ToolContext("c1", lambda *_: None, most_tokens)
    output = refuse_arguments(tool, arguments) or await tool.execute(arguments, context)
    return await fit(output, results, most_tokens)


@pytest.mark.parametrize("window", [2_048, 4_096, 16_384, 32_768, 200_000])
async def test_reading_on_page_by_page_gives_the_whole_in_any_window(
    results: StoredResults, window: int
) -> None:
    ref, read, start = await results.keep(LOG[:100_000]), "", 0
    while start < 100_000:
        output = await ask(results, "read_result", most_for(window), ref=ref, start=start)
        assert output.error is None
        assert estimate_tokens(output.text) <= most_for(window)
        page = output.text.split("\n", 1)[1].rsplit("\n[Cut", 1)[0]
        assert LOG[start:].startswith(page)
        start += len(page)
        read += page
        if start < 100_000:
            assert output.text.endswith(f"\n[Cut: go on with start {start}.]")
    assert read == LOG[:100_000]
    assert len(list(results.folder.iterdir())) == 1


async def test_a_range_is_read_exactly(results: StoredResults) -> None:
    ref = await results.keep("0123456789")
    output = await ask(results, "read_result", ref=ref, start=2, end=5)
    assert output.text == f"[{ref}: characters 2-5 of 10]\n234"


@pytest.mark.parametrize(("start", "end"), [(10, 12), (5, 5), (7, 3)])
async def test_a_range_that_holds_nothing_is_refused(results: StoredResults, start: int, end: int) -> None:
    ref = await results.keep("0123456789")
    output = await ask(results, "read_result", ref=ref, start=start, end=end)
    assert output.error == "E_BAD_INPUT"


async def test_a_place_that_was_found_can_be_read_from_where_it_begins(results: StoredResults) -> None:
    ref = await results.keep(LOG + "the ERROR is here\n" + LOG)
    found = (await ask(results, "search_result", ref=ref, pattern="the error")).text.split("\n")[1]
    place = int(found.split(":")[0])
    output = await ask(results, "read_result", ref=ref, start=place, end=place + 9)
    assert output.text.endswith("\nthe ERROR")


async def test_what_looks_like_an_expression_is_a_text(results: StoredResults) -> None:
    ref = await results.keep("price (a|b)* 3.5")
    assert (await ask(results, "search_result", ref=ref, pattern="(a|b)*")).text.count("\n") == 1
    assert "is not in" in (await ask(results, "search_result", ref=ref, pattern="3x5")).text


async def test_many_places_are_cut_off_in_words(results: StoredResults) -> None:
    ref = await results.keep(LOG)
    text = (await ask(results, "search_result", ref=ref, pattern="quiet")).text
    assert text.endswith("[There are more. The first 50 are shown: look for a longer text.]")


@pytest.mark.parametrize("window", [1_024, 4_096, 16_384])
async def test_what_was_found_fits_in_any_window_and_is_not_stored_again(
    results: StoredResults, window: int
) -> None:
    ref = await results.keep("".join(f"{number} 中文 {'ßx' * 300} " for number in range(500)))
    output = await ask(results, "search_result", most_for(window), ref=ref, pattern="SSX" * 300)
    assert output.text.startswith(f"[{ref}: where 'SSXSSX")
    assert "There are more. The first " in output.text
    assert estimate_tokens(output.text) <= most_for(window)
    assert len(list(results.folder.iterdir())) == 1


async def test_a_pattern_longer_than_any_place_worth_finding_is_refused(results: StoredResults) -> None:
    ref = await results.keep(LOG)
    assert (await ask(results, "search_result", ref=ref, pattern="a" * 1_001)).error == "E_ARGUMENTS"


@pytest.mark.parametrize(
    "ref", ["res_0", "../conv_2/res_1", "res_../../x", "", "res_" + "a" * 500, "/etc/passwd"]
)
async def test_a_reference_of_another_conversation_or_of_nobody_is_not_found(
    results: StoredResults, ref: str
) -> None:
    other = StoredResults(results.folder.parent / "conv_2", lambda prefix: f"{prefix}_1")
    await other.keep("secret")
    for name, more in (("read_result", {}), ("search_result", {"pattern": "secret"})):
        output = await ask(results, name, ref=ref, **more)
        assert output.error == "E_NOT_FOUND"
        assert "secret" not in output.text.replace("'", "")[:20]


async def test_results_are_private_to_the_user(results: StoredResults) -> None:
    await results.keep("x")
    (file,) = results.folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert results.folder.stat().st_mode & 0o777 == 0o700
