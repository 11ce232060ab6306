"""What a member is given for a turn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.engine.provider import CallFragment, ModelRequest
from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.errors import FolderMissing
from app.workspace import conversations, sessions
from app.workspace.settings import set_setting
from tests.group_chat.rooms import house

pytestmark = pytest.mark.anyio


async def test_commander_has_its_tools_and_hears_where_it_works(tmp_path: Path) -> None:
    model = ScriptedModel(say("ok"))
    async with house(tmp_path, model) as at:
        await at.say("hello")
        request = model.requests[0]
        assert [tool.name for tool in request.tools] == [
            "read_file",
            "list_files",
            "stat_file",
            "search_files",
            "grep_files",
            "write_file",
            "edit_file",
            "delete_file",
            "bash",
            "job_read",
            "job_write",
            "job_stop",
            "web_fetch",
            "web_search",
            "read_result",
            "search_result",
            "run_worker",
            "dispatch_to",
            "hand_off_to",
            "set_plan",
            "ask_user",
            "save_agent",
        ]
        assert str(at.workspace) in request.system


async def test_the_conventions_of_the_workspace_are_host_facts_of_every_call(tmp_path: Path) -> None:
    model = ScriptedModel([call("list_files", path=".")], say("ok"), say("again"))
    async with house(tmp_path, model) as at:
        (at.workspace / "AGENTS.md").write_text("Write {{ dates }} as 2026-11-30.\n")
        await at.say("hello")
        assert all(
            '<instructions path="AGENTS.md">\nWrite {{ dates }} as 2026-11-30.\n</instructions>'
            in request.system
            for request in model.requests
        )
        (at.workspace / "AGENTS.md").unlink()
        await at.say("and now?")
        assert "<instructions" not in model.requests[-1].system


async def test_a_large_result_is_kept_with_its_conversation_and_can_be_read_on(tmp_path: Path) -> None:
    def read_on(request: ModelRequest) -> list[CallFragment]:
        result = request.messages[-1].results[0].text
        ref = re.search(r"res_\w+", result)
        assert ref is not None, result
        return [call("search_result", ref=ref[0], pattern="needle")]

    lines = "".join(f"{number} {'hay' * 100}\n" for number in range(40))
    model = ScriptedModel(
        [call("grep_files", pattern="ha", max_results=1000)], read_on, say("There."), window=16_000
    )
    async with house(tmp_path, model) as at:
        for name in range(8):
            (at.workspace / f"{name}.txt").write_text(f"{lines}haystack with a needle\n{lines}")
        await at.say("look for it")
        assert "needle" in model.requests[2].messages[-1].results[0].text
        assert [file.parent.name for file in at.folder.results.rglob("res_*")] == [at.room.id]


async def test_the_setting_says_from_where_a_history_is_compacted(tmp_path: Path) -> None:
    model = ScriptedModel(say("one"), say("## Goal\nnothing"), say("two"), window=16_000)
    async with house(tmp_path, model) as at:
        set_setting(at.store, "compaction.threshold", "0.5")
        await at.say("tide " * 5_000)
        await at.say("and now?")
        assert ("notice", "done", "compaction") in at.shape()
        assert model.requests[2].messages[0].summary is not None


async def test_a_model_that_was_chosen_for_summaries_writes_them_and_no_answer(tmp_path: Path) -> None:
    model = ScriptedModel(say("one"), say("## Goal\nnothing"), say("two"), window=16_000)
    async with house(tmp_path, model) as at:
        set_setting(at.store, "compaction.threshold", "0.5")
        set_setting(at.store, "model.auxiliary", "scripted/helper")
        await at.say("tide " * 5_000)
        await at.say("and now?")
        assert [request.model for request in model.requests] == ["model", "scripted/helper", "model"]
        assert sessions.session_of(at.store, at.room.id, "commander").model == "scripted/model"


async def test_the_conversations_model_is_the_one_that_is_asked(tmp_path: Path) -> None:
    model = ScriptedModel(say("ok"))
    async with house(tmp_path, model) as at:
        conversations.choose_model(at.store, at.room.id, "scripted/special")
        await at.say("hello")
        assert model.requests[0].model == "scripted/special"


async def test_the_data_folder_is_closed_to_tools_even_inside_the_workspace(tmp_path: Path) -> None:
    secret = f"{tmp_path / 'data'}/plancia.sqlite3"
    model = ScriptedModel([call("read_file", path=secret)], say("I may not."))
    async with house(tmp_path, model) as at:
        conversations.choose_workspace(at.store, at.room.id, str(tmp_path))
        await at.say("read your database")
        result = model.requests[1].messages[-1].results[0]
        assert result.status == "error"


async def test_a_file_read_in_one_turn_has_to_be_read_again_in_the_next(tmp_path: Path) -> None:
    model = ScriptedModel(
        [call("read_file", path="a.txt")],
        say("read"),
        [call("write_file", path="a.txt", content="new")],
        say("refused"),
    )
    async with house(tmp_path, model) as at:
        (at.workspace / "a.txt").write_text("old")
        await at.say("read it")
        await at.say("change it")
        assert (at.workspace / "a.txt").read_text() == "old"


async def test_a_missing_folder_is_said_in_words(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as at:
        row = conversations.choose_workspace(at.store, at.room.id, str(tmp_path / "gone"))
        with pytest.raises(FolderMissing, match="gone"):
            await at.members.prepare("commander", row)


async def test_a_turn_leaves_its_tokens_with_the_session(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("four words of text"))) as at:
        await at.say("hello")
        row = sessions.session_of(at.store, at.room.id, "commander")
        assert row.size > 0
        assert row.output_tokens > 0
        assert row.model == "scripted/model"
