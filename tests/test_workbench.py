"""One process on one data folder: what is opened, in which order it is closed, and what stands in the way."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.provider import ModelSource, ResolvedModel
from app.infra.errors import DataFolderError, FolderInUse
from app.infra.paths import DataFolder
from app.models.errors import DatabaseUnreadable
from app.workbench import Cabinet, open_cabinet, open_workbench
from app.workspace import conversations, sessions, turns
from app.workspace.folders import FolderUnusable, usable_folder
from app.workspace.purging import KEPT
from app.workspace.settings import set_setting
from app.workspace.store import Store
from tests.fakes.clock import FakeClock
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data")


async def test_a_second_workbench_on_the_folder_is_refused_and_a_cabinet_is_not(folder: DataFolder) -> None:
    async with open_workbench(folder, environment={}):
        with pytest.raises(FolderInUse):
            async with open_workbench(folder, environment={}):
                pass
        async with open_cabinet(folder, environment={}) as cabinet:
            set_setting(cabinet.store, "composer.enter", "queue")
    async with open_workbench(folder, environment={}):
        pass


async def test_what_stands_in_the_way_comes_out_as_itself(folder: DataFolder) -> None:
    folder.root.write_text("in the way")
    with pytest.raises(DataFolderError):
        async with open_workbench(folder, environment={}):
            pass
    folder.root.unlink()
    folder.create()
    folder.database.write_bytes(b"rubbish" * 1000)
    with pytest.raises(DatabaseUnreadable):
        async with open_workbench(folder, environment={}):
            pass
    folder.database.unlink()
    async with open_workbench(folder, environment={}):
        pass  # the lock was given back each time


async def test_an_error_inside_comes_out_as_itself_too(folder: DataFolder) -> None:
    with pytest.raises(KeyError):
        async with open_workbench(folder, environment={}):
            raise KeyError("mine")


async def test_leaving_stops_what_runs(folder: DataFolder, tmp_path: Path, llm: FakeLLM) -> None:
    llm.script(hold(say("Half of", " it"), after=1))
    environment = {
        "OPENAI_API_KEY": "sk-x",
        "OPENAI_BASE_URL": llm.base_url,
        "PLANCIA_MODEL": "openai/fake-model",
    }
    async with open_workbench(folder, environment=environment) as bench:
        row = conversations.create_conversation(bench.store, workspace=str(tmp_path))
        await bench.bus.room(row.id).post("Tell me", client_id="c1")
        await llm.until_held()
    async with open_cabinet(folder, environment={}) as cabinet:
        last = turns.find_last_turn(cabinet.store, row.id)
        assert last is not None
        assert last.state == "interrupted"
        assert turns.live_turns(cabinet.store) == []


async def test_a_cancellation_from_outside_stops_what_runs_as_well(
    folder: DataFolder, tmp_path: Path, llm: FakeLLM
) -> None:
    llm.script(hold(say("Half of", " it"), after=1))
    environment = {
        "OPENAI_API_KEY": "sk-x",
        "OPENAI_BASE_URL": llm.base_url,
        "PLANCIA_MODEL": "openai/fake-model",
    }
    with anyio.CancelScope() as scope:
        async with open_workbench(folder, environment=environment) as bench:
            row = conversations.create_conversation(bench.store, workspace=str(tmp_path))
            await bench.bus.room(row.id).post("Tell me", client_id="c1")
            await llm.until_held()
            scope.cancel()
            await anyio.sleep_forever()
    async with open_cabinet(folder, environment={}) as cabinet:
        assert turns.live_turns(cabinet.store) == []


async def test_turns_that_a_crash_cut_off_are_closed_at_the_next_start(folder: DataFolder) -> None:
    async with open_cabinet(folder, environment={}) as cabinet:
        row = conversations.create_conversation(cabinet.store, workspace="")
        session = sessions.session_of(cabinet.store, row.id, "commander")
        turns.start_turn(cabinet.store, row.id, member="commander", session=session.id, trigger="msg")
    async with open_workbench(folder, environment={}) as bench:
        assert bench.recovered == 1
        assert turns.live_turns(bench.store) == []
    async with open_workbench(folder, environment={}) as bench:
        assert bench.recovered == 0


async def test_a_start_purges_what_was_deleted_long_ago(folder: DataFolder) -> None:
    clock = FakeClock()
    async with open_cabinet(folder, environment={}, clock=clock) as cabinet:
        row = conversations.create_conversation(cabinet.store, workspace="")
        conversations.delete(cabinet.store, row.id)
    for days, there in ((1, True), (KEPT.days, False)):
        clock._passed += days * 86_400
        async with open_workbench(folder, environment={}, clock=clock) as bench:
            assert (conversations.find_conversation(bench.store, row.id) is not None) == there


async def test_a_watch_sees_every_call_before_it_is_made(folder: DataFolder, tmp_path: Path) -> None:
    class Closed:
        def resolve(self, name: str | None) -> ResolvedModel:
            raise ProviderError("local", "Closed today.")

    def watch(models: ModelSource, store: Store) -> ModelSource:
        return Closed()

    async with open_workbench(folder, environment={}, watch=watch) as bench:
        row = conversations.create_conversation(bench.store, workspace=str(tmp_path))
        room = bench.bus.room(row.id)
        await room.post("Hi", client_id="c1")
        await room.wait_quiet()
        last = turns.find_last_turn(bench.store, row.id)
        assert last is not None
        assert last.error == {"kind": "local", "message": "Closed today."}


async def test_the_folder_of_a_new_conversation(tmp_path: Path, folder: DataFolder) -> None:
    """What was named at start, else the variable, else the setting; asking makes nothing."""
    named, variable, setting = tmp_path / "named", tmp_path / "variable", tmp_path / "setting"

    async def chosen(environment: dict[str, str], asked: Path | None = None) -> Path:
        async with open_cabinet(folder, environment=environment) as cabinet:
            set_setting(cabinet.store, "workspace.default", str(setting))
            return cabinet.workspace(asked)

    assert await chosen({"PLANCIA_WORKSPACE": str(variable)}, named) == named
    assert await chosen({"PLANCIA_WORKSPACE": str(variable)}) == variable
    assert await chosen({}) == setting
    assert not any(path.exists() for path in (named, variable, setting))
    named.touch()
    with pytest.raises(FolderUnusable, match="that is a file"):
        await chosen({}, named)


async def test_the_model_of_the_environment_goes_before_the_setting(folder: DataFolder) -> None:
    keys = {"OPENAI_API_KEY": "sk-x"}

    async def chosen(cabinet: Cabinet) -> str:
        return cabinet.sources.resolve(None).label

    async with open_cabinet(folder, environment=keys) as cabinet:
        set_setting(cabinet.store, "model.default", "openai/from-setting")
        assert await chosen(cabinet) == "openai/from-setting"
    async with open_cabinet(folder, environment=keys | {"PLANCIA_MODEL": "openai/from-variable"}) as cabinet:
        assert await chosen(cabinet) == "openai/from-variable"


async def test_thinking_is_asked_for_where_the_setting_says_so(folder: DataFolder) -> None:
    async with open_cabinet(folder, environment={"OPENAI_API_KEY": "sk-x"}) as cabinet:
        assert cabinet.sources.resolve("openai/gpt-5-mini").reasoning == "off"
        set_setting(cabinet.store, "model.reasoning", "high")
        assert cabinet.sources.resolve("openai/gpt-5-mini").reasoning == "high"


def test_a_folder_that_cannot_be_worked_in_is_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path, why in ((file, "that is a file"), (tmp_path / "gone", "there is no such folder")):
        with pytest.raises(FolderUnusable, match=why):
            usable_folder(path)
    with pytest.raises(FolderUnusable, match="cannot be worked in"):
        usable_folder(file / "below", make=True)
    assert usable_folder(tmp_path / "made", make=True).is_dir()


@pytest.mark.parametrize("name", ["~nobody-of-this-name/work", "work\0shop", "w" * 5000])
def test_a_name_that_no_folder_can_have_is_refused_in_words(name: str) -> None:
    with pytest.raises(FolderUnusable, match="cannot be worked in"):
        usable_folder(Path(name), make=True)
