"""Agents of other programs are taken over, each with what of it counts; nothing is written over."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.infra.paths import DataFolder
from app.workspace.agent_imports import Imported, import_agents, import_data
from app.workspace.agents import LARGEST, list_agents, load_agent
from app.workspace.errors import InvalidAgent, NotFound
from tests.workspace.test_agent_files import CLAUDE, OPENCODE

CODEX = '''\
name = "pr_explorer"
description = "Reads before changes are made."
model = "gpt-some"
sandbox_mode = "read-only"
developer_instructions = """
Stay in exploration.
"""
'''


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data").create()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {
        ".claude/agents/code-reviewer.md": CLAUDE,
        ".claude/agents/README.md": "# About these agents",
        ".claude/agents/deep/down/low/too-deep.md": CLAUDE,
        ".opencode/agents/team/Plan Reviewer.md": OPENCODE,
        ".codex/agents/explorer.toml": CODEX,
        "docs/other.md": CLAUDE,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def own(folder: DataFolder) -> list[str]:
    return [agent.id for agent in list_agents(folder) if not agent.is_shipped]


def test_the_agents_of_a_project_are_found_where_programs_keep_them(
    folder: DataFolder, project: Path
) -> None:
    came = {each.source: each for each in import_agents(folder, project)}
    assert {source: each.id for source, each in came.items()} == {
        ".claude/agents/code-reviewer.md": "code-reviewer",
        ".claude/agents/README.md": "",
        ".opencode/agents/team/Plan Reviewer.md": "plan-reviewer",
        ".codex/agents/explorer.toml": "explorer",
    }
    assert "It is no agent" in came[".claude/agents/README.md"].notes[0]
    assert "The model “sonnet”" in came[".claude/agents/code-reviewer.md"].notes[0]
    assert sorted(own(folder)) == ["code-reviewer", "explorer", "plan-reviewer"]
    assert (folder.agents / "code-reviewer.md").read_text() == CLAUDE


def test_one_of_codex_that_only_reads_is_given_nothing_that_changes(
    folder: DataFolder, project: Path
) -> None:
    (came,) = import_agents(folder, project / ".codex/agents/explorer.toml")
    agent = load_agent(folder, came.id)
    assert (came.source, agent.name, agent.prompt) == ("explorer.toml", "pr_explorer", "Stay in exploration.")
    assert agent.description == "Reads before changes are made."
    assert "read_file" in (agent.tools or ())
    assert not {"write_file", "edit_file", "bash"} & set(agent.tools or ())
    assert "gpt-some" in came.notes[0]


def test_what_is_there_already_is_left_and_said(folder: DataFolder, project: Path) -> None:
    import_agents(folder, project / ".claude")
    again = import_agents(folder, project / ".claude/agents/code-reviewer.md")
    assert again == [
        Imported(
            "code-reviewer.md", notes=("There is an agent code-reviewer already, and it stays as it is.",)
        )
    ]
    assert not import_data(folder, "coder.md", CLAUDE.encode()).is_taken
    twin = import_data(folder, "second.md", CLAUDE.encode())
    assert "code-reviewer has the same name" in twin.notes[-1]


@pytest.mark.parametrize(
    ("source", "data", "why"),
    [
        ("a.md", b"No head.", "It is no agent"),
        ("a.md", b"---\ntitle: A page\n---\nText.", "It is no agent"),
        ("a.md", b"---\nname: A\n---\n", "It says nothing below its head"),
        ("a.md", b"---\nname: A\nText.", "no second line of ---"),
        ("a.md", b"---\nname: \xff\n---\nGo.", "It is no text in UTF-8."),
        ("a.md", b"---\nname: A\n---\n" + b"x" * LARGEST, "It is larger than 256 KB."),
        ("a.toml", b"name = [", "It is no valid TOML"),
        ("a.toml", b"name = 'A'", "no developer_instructions"),
        ("a.toml", b"a = " + b"[" * 100_000, "It is no valid TOML"),
    ],
)
def test_what_is_no_agent_is_left_with_the_reason(
    folder: DataFolder, source: str, data: bytes, why: str
) -> None:
    came = import_data(folder, source, data)
    assert (came.is_taken, why in came.notes[0]) == (False, True)
    assert own(folder) == []


def test_links_are_not_followed(folder: DataFolder, project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text(CLAUDE)
    link = project / ".claude/agents/link.md"
    link.symlink_to(tmp_path / "secret.md")
    came = {each.source: each.notes for each in import_agents(folder, project / ".claude/agents")}
    assert came["link.md"] == ("It is a link to another place.",)


def test_a_path_without_agents_is_an_error(folder: DataFolder, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not there"):
        import_agents(folder, tmp_path / "nowhere")
    (tmp_path / "bare").mkdir()
    with pytest.raises(InvalidAgent, match="There is no agent in"):
        import_agents(folder, tmp_path / "bare")
    with pytest.raises(InvalidAgent, match="cannot be read"):
        import_agents(folder, Path("~nobody-of-that-name/agents"))
