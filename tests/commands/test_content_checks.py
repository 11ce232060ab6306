"""What doctor finds inside the database: turns, transcripts, keys, models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.commands import content_checks
from app.infra.paths import DataFolder
from app.providers.sources import SourceConfig
from app.workbench import Cabinet, open_cabinet
from app.workspace import conversations, sessions, turns
from app.workspace.model_sources import add_source
from app.workspace.source_keys import add_source_with_keys

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cabinet(tmp_path: Path) -> AsyncIterator[Cabinet]:
    async with open_cabinet(
        DataFolder(tmp_path / "data"), environment={"K": "sk-of-the-environment"}
    ) as cabinet:
        yield cabinet


def begin_turn(cabinet: Cabinet) -> str:
    """A turn that nobody ends; returns the path of its transcript."""
    row = conversations.create_conversation(cabinet.store, workspace="")
    session = sessions.session_of(cabinet.store, row.id, "commander")
    turns.start_turn(cabinet.store, row.id, member="commander", session=session.id, trigger="msg")
    return session.path


async def test_a_turn_that_a_crash_cut_off_is_worth_a_note(cabinet: Cabinet) -> None:
    assert [each.state for each in content_checks.check_turns(cabinet, is_running=False)] == ["ok"]
    begin_turn(cabinet)
    assert [each.state for each in content_checks.check_turns(cabinet, is_running=False)] == ["note"]
    assert [each.state for each in content_checks.check_turns(cabinet, is_running=True)] == ["ok"]


async def test_a_transcript_that_was_never_written_is_no_trouble(cabinet: Cabinet) -> None:
    begin_turn(cabinet)
    assert [each.state for each in await content_checks.check_transcripts(cabinet)] == ["ok"]


async def test_lines_that_cannot_be_read_are_named(cabinet: Cabinet) -> None:
    path = begin_turn(cabinet)
    (cabinet.folder.root / path).write_text("{}\nno line\n")
    found = await content_checks.check_transcripts(cabinet)
    assert [each.state for each in found] == ["ok", "problem"]
    assert f"{path} has lines that cannot be read (1, 2)" in found[1].text


async def test_a_transcript_that_is_missing_is_a_problem(cabinet: Cabinet) -> None:
    path = begin_turn(cabinet)
    session = Path(path).stem
    sessions.note_session(cabinet.store, session, size=10, input_tokens=0, output_tokens=0)
    found = await content_checks.check_transcripts(cabinet)
    assert f"its transcript {path} is missing" in found[1].text


async def test_keys_that_can_be_had_are_fine_wherever_they_are(cabinet: Cabinet) -> None:
    source = SourceConfig("mine", "openai", "http://127.0.0.1:9/v1", keys=("K",))
    add_source_with_keys(cabinet.store, cabinet.secrets, source, ["sk-stored"])
    assert [each.state for each in content_checks.check_keys(cabinet)] == ["ok"]


async def test_a_key_that_is_gone_is_a_problem_and_no_model_answers(cabinet: Cabinet) -> None:
    url = "http://127.0.0.1:9/v1"
    add_source(cabinet.store, SourceConfig("mine", "openai", url, models=("m",), keys=("GONE",)))
    assert [each.state for each in content_checks.check_keys(cabinet)] == ["problem"]
    assert [each.state for each in content_checks.check_models(cabinet)] == ["problem"]
    add_source(cabinet.store, SourceConfig("next", "openai", url, models=("m",)))
    (found,) = content_checks.check_models(cabinet)
    assert (found.state, found.text.partition(":")[0]) == ("problem", "mine/m cannot be asked")


async def test_secrets_that_cannot_be_opened_are_a_problem(cabinet: Cabinet) -> None:
    source = SourceConfig("mine", "openai", "http://127.0.0.1:9/v1")
    add_source_with_keys(cabinet.store, cabinet.secrets, source, ["sk-stored"])
    cabinet.folder.secrets.write_text("{")
    assert [each.state for each in content_checks.check_keys(cabinet)] == ["problem"]


async def test_the_demo_alone_is_worth_a_note(cabinet: Cabinet) -> None:
    found = list(content_checks.check_models(cabinet))
    assert [each.state for each in found] == ["note"]
    assert "scripted, not an AI" in found[0].text
