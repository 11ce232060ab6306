"""Agents as files of the data folder, beside and in place of those that ship."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.infra.paths import DataFolder
from app.models.errors import StorageError
from app.prompts.team import TEAM, find_shipped
from app.workspace.agent_files import AgentFile
from app.workspace.agents import (
    LARGEST,
    add_text,
    find_agent,
    list_agents,
    load_agent,
    remove_agent,
    restore_agent,
    save_agent,
    set_disabled,
)
from app.workspace.errors import AgentChanged, InvalidAgent, NotFound

CLERK = AgentFile("harbour-clerk", "Harbour clerk", "Knows the berths.", color="a8", prompt="Keep the books.")


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data").create()


def put(folder: DataFolder, name: str, text: str | bytes) -> Path:
    path = folder.agents / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def files(folder: DataFolder) -> list[str]:
    return sorted(path.name for path in folder.agents.iterdir())


def test_the_team_is_there_from_the_beginning_and_no_file_is(folder: DataFolder) -> None:
    assert [agent.id for agent in list_agents(folder)] == list(TEAM)
    assert all(agent.is_ready and agent.is_shipped and not agent.is_stored for agent in list_agents(folder))
    assert files(folder) == []


def test_the_team_is_there_without_a_folder_too(tmp_path: Path) -> None:
    assert [agent.id for agent in list_agents(DataFolder(tmp_path / "none"))] == list(TEAM)


def test_what_is_saved_is_a_file_and_is_found(folder: DataFolder) -> None:
    saved = save_agent(folder, CLERK)
    assert replace(saved, version="", is_stored=False) == CLERK
    assert (folder.agents / "harbour-clerk.md").read_text() == (
        "---\nname: Harbour clerk\ndescription: Knows the berths.\ncolor: umber\n---\n\nKeep the books.\n"
    )
    assert (folder.agents / "harbour-clerk.md").stat().st_mode & 0o777 == 0o600
    assert [agent.id for agent in list_agents(folder)] == [*TEAM, "harbour-clerk"]
    assert find_agent(folder, "harbour-clerk") == saved


def test_a_file_that_is_changed_by_hand_counts_at_once(folder: DataFolder) -> None:
    path = put(folder, "own.md", "One.")
    assert load_agent(folder, "own").prompt == "One."
    os.utime(path, ns=(1, 1))
    path.write_text("Two.")
    assert load_agent(folder, "own").prompt == "Two."
    path.unlink()
    assert find_agent(folder, "own") is None


def test_a_file_takes_the_place_of_the_one_that_ships_until_it_is_removed(folder: DataFolder) -> None:
    put(folder, "coder.md", "---\nname: My coder\n---\nCode in Pascal.")
    mine = load_agent(folder, "coder")
    assert (mine.name, mine.prompt, mine.is_shipped, mine.is_stored) == (
        "My coder",
        "Code in Pascal.",
        True,
        True,
    )
    assert remove_agent(folder, "coder").name == "My coder"
    assert load_agent(folder, "coder").name == "Coder"
    assert restore_agent(folder, "coder").name == "My coder"


def test_one_that_ships_is_switched_off_and_stays_as_it_ships(folder: DataFolder) -> None:
    off = set_disabled(folder, "tutor", disabled=True)
    assert (off.is_ready, off.is_stored) == (False, False)
    assert off.prompt in (find_shipped("tutor") or "")
    assert set_disabled(folder, "tutor", disabled=False).is_ready
    assert files(folder) == []


def test_one_of_the_user_is_switched_off_in_its_file(folder: DataFolder) -> None:
    saved = save_agent(folder, CLERK)
    assert set_disabled(folder, CLERK.id, disabled=True).disabled
    assert set_disabled(folder, CLERK.id, disabled=False) == saved


def test_a_change_of_one_that_ships_is_a_file_and_none_is_kept_that_says_the_same(folder: DataFolder) -> None:
    shipped = load_agent(folder, "writer")
    changed = save_agent(folder, replace(shipped, color="a2"), seen=shipped.version)
    assert (changed.color, changed.is_stored) == ("a2", True)
    assert (folder.agents / "writer.md").read_text() == (find_shipped("writer") or "").replace(
        "olive", "blue"
    )
    back = save_agent(folder, replace(changed, color=shipped.color), seen=changed.version)
    assert back == shipped
    assert files(folder) == []


def test_one_that_ships_and_is_switched_off_can_be_changed_and_stays_off(folder: DataFolder) -> None:
    off = set_disabled(folder, "writer", disabled=True)
    changed = save_agent(folder, replace(off, color="a2"), seen=off.version)
    assert (changed.disabled, changed.is_stored) == (True, True)


def test_a_change_is_not_written_over_another_one(folder: DataFolder) -> None:
    saved = save_agent(folder, CLERK)
    put(folder, "harbour-clerk.md", "---\nname: Harbour clerk\n---\nOther books.")
    with pytest.raises(AgentChanged, match="changed meanwhile"):
        save_agent(folder, replace(saved, color="a1"), seen=saved.version)
    assert load_agent(folder, CLERK.id).prompt == "Other books."
    remove_agent(folder, CLERK.id)
    with pytest.raises(AgentChanged, match="removed meanwhile"):
        save_agent(folder, saved, seen=saved.version)
    save_agent(folder, CLERK)
    with pytest.raises(InvalidAgent, match="again"):
        restore_agent(folder, CLERK.id)


@pytest.mark.parametrize(
    ("change", "field", "why"),
    [
        ({"name": " "}, "name", "needs a name"),
        ({"name": "Commander"}, "name", "choose another name"),
        ({"name": "CODER"}, "name", "There is an agent called Coder already (coder)."),
        ({"id": "commander"}, "name", "No agent can be commander"),
        ({"id": "../x"}, "name", "is not called like an agent"),
        ({"description": "x" * 1_001}, "description", "at most 1,000 characters; this one has 1,001"),
        ({"prompt": " \n"}, "prompt", "needs instructions"),
        ({"prompt": "x" * LARGEST}, "prompt", "at most 128 KB"),
    ],
)
def test_what_cannot_be_says_in_which_field(
    folder: DataFolder, change: dict[str, str], field: str, why: str
) -> None:
    with pytest.raises(InvalidAgent) as refused:
        save_agent(folder, replace(CLERK, **change))  # type: ignore[arg-type]  # texts only
    assert (refused.value.field, why in str(refused.value)) == (field, True)
    assert files(folder) == []


def test_one_that_ships_cannot_be_removed(folder: DataFolder) -> None:
    with pytest.raises(InvalidAgent, match="ships with Plancia"):
        remove_agent(folder, "coder")
    for id in ("nobody", "../secrets", "commander"):
        for act in (load_agent, remove_agent, restore_agent):
            with pytest.raises(NotFound):
                act(folder, id)


def test_a_file_that_cannot_be_used_is_listed_with_the_reason_and_hides_no_other(folder: DataFolder) -> None:
    put(folder, "big.md", b"x" * (LARGEST + 1))
    put(folder, "latin.md", "Größe".encode("latin-1"))
    put(folder, "My Agent.md", "Go.")
    put(folder, "commander.md", "Go.")
    put(folder, "open.md", "---\nname: Open\n")
    put(folder, "good.md", "Go.")
    put(folder, "notes.txt", "Go.")
    put(folder, ".draft.md", "Go.")
    (folder.agents / "dir.md").mkdir()
    (folder.agents / "gone.md").symlink_to(folder.agents / "nowhere")
    os.mkfifo(folder.agents / "pipe.md")
    problems = {agent.id: agent.problem for agent in list_agents(folder) if not agent.is_shipped}
    assert problems.pop("good") == ""
    assert {id: problem.split(".")[0] for id, problem in problems.items()} == {
        "big": "Its file is larger than 256 KB",
        "latin": "Its file is no text in UTF-8",
        "My Agent": "The file My Agent",
        "commander": "No agent can be commander: everybody's conversations have one",
        "open": "It begins with --- and no second line of --- ends that part",
        "dir": "It is no file",
        "gone": "Its file is a link that leads nowhere",
        "pipe": "It is no file",
    }


def test_of_two_with_one_name_the_second_says_so(folder: DataFolder) -> None:
    put(folder, "other.md", "---\nname: coder\n---\nGo.")
    (other,) = [agent for agent in list_agents(folder) if agent.id == "other"]
    assert other.notes == ("coder has the same name: who writes @coder means that one.",)
    assert other.is_ready


def test_a_text_is_added_as_it_is_and_never_over_another(folder: DataFolder) -> None:
    assert add_text(folder, "one", "Go.\r\n").prompt == "Go."
    assert (folder.agents / "one.md").read_bytes() == b"Go.\r\n"
    for id in ("one", "coder"):
        with pytest.raises(InvalidAgent, match="already"):
            add_text(folder, id, "Stop.")


def test_a_file_of_which_nothing_can_be_read_is_not_written_over(folder: DataFolder) -> None:
    path = put(folder, "harbour-clerk.md", "Größe".encode("latin-1"))
    with pytest.raises(InvalidAgent, match="no text in UTF-8"):
        save_agent(folder, CLERK)
    with pytest.raises(InvalidAgent, match="right in an editor, or remove it"):
        set_disabled(folder, CLERK.id, disabled=True)
    assert path.read_bytes() == "Größe".encode("latin-1")
    remove_agent(folder, CLERK.id)
    assert save_agent(folder, CLERK).is_ready


def test_a_folder_that_is_gone_is_said(folder: DataFolder) -> None:
    folder.agents.rmdir()
    with pytest.raises(StorageError, match="could not be read or written"):
        save_agent(folder, CLERK)
