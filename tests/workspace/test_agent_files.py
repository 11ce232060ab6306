"""An agent's file: what it says is read, what is changed is written, all else stays as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.prompts.team import TEAM, find_shipped
from app.workspace.agent_files import (
    HUES,
    AgentFile,
    id_for,
    is_id,
    name_trouble,
    parse_agent,
    same_name,
    write_agent,
)
from app.workspace.agent_tools import ALL_TOOLS, less

OWN = """\
---
# the clerk of the harbour
name: Harbour clerk
description: "Knows the berths: all of them."
model: lab/small
tools: [read_file, memory]
skills: [monthly-report]
interactive: true
color: umber
x-team: {floor: 2}
---

Keep the books.
"""

CLAUDE = """\
---
name: code-reviewer
description: Use this agent when: code was written. Examples: <example>user: "done"</example>
tools: Read, Grep, Task
disallowedTools: Grep
model: sonnet
color: cyan
permissionMode: bypassPermissions
hooks:
  PreToolUse:
    - matcher: "Bash"
---
You review.
"""

OPENCODE = """\
---
description: Reviews without changing
mode: subagent
model: anthropic/some-model#high
permission:
  edit: deny
  bash: ask
tools:
  write: false
disable: true
---
You review.
"""


def test_everything_that_a_file_says_is_read() -> None:
    assert replace(parse_agent("harbour-clerk", OWN), version="") == AgentFile(
        id="harbour-clerk",
        name="Harbour clerk",
        description="Knows the berths: all of them.",
        model="lab/small",
        tools=("read_file", "memory"),
        skills=("monthly-report",),
        interactive=True,
        color="a8",
        prompt="Keep the books.",
        notes=("Kept in the file and not used here: x-team.",),
    )


def test_a_file_of_claude_code_is_read_and_what_does_not_count_is_said() -> None:
    agent = parse_agent("code-reviewer", CLAUDE)
    assert (agent.name, agent.model, agent.color, agent.problem) == ("code-reviewer", None, "a2", "")
    assert agent.description.startswith("Use this agent when: code was written.")
    assert agent.tools == ("read_file", "stat_file")
    assert agent.notes == (
        "The model “sonnet” names no provider, so the model of the conversation answers.",
        "Tools that are not known here are left out: Task.",
        "What it may do is also said by permissionMode, which does not count here: choose its tools.",
        "Kept in the file and not used here: hooks.",
    )


def test_a_file_of_opencode_is_read_and_never_allows_what_it_denied() -> None:
    agent = parse_agent("plan-reviewer", OPENCODE)
    assert (agent.name, agent.model, agent.disabled) == ("Plan reviewer", "anthropic/some-model", True)
    assert agent.tools == less(ALL_TOOLS, ["write_file", "edit_file"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "It says nothing below its head"),
        ("---\nname: A\n---\n \n", "It says nothing below its head"),
        ("---\nname: A\nYou are A.\n", "no second line of --- ends that part"),
    ],
)
def test_what_cannot_work_says_why(text: str, problem: str) -> None:
    agent = parse_agent("a", text)
    assert problem in agent.problem
    assert not agent.is_ready


def test_a_name_that_cannot_be_is_replaced_by_that_of_the_file() -> None:
    agent = parse_agent("my-boss", "---\nname: Commander\n---\nObey.")
    assert (agent.name, agent.problem) == ("My boss", "")
    assert "Every conversation has its own Commander" in agent.notes[0]


def test_a_description_that_is_too_long_is_cut_and_said_so() -> None:
    agent = parse_agent("a", f"---\ndescription: {'x' * 1_001}\n---\nGo.")
    assert (len(agent.description), len(agent.notes)) == (1_000, 1)


def test_a_change_touches_its_line_alone() -> None:
    agent = parse_agent("harbour-clerk", OWN)
    assert write_agent(agent, OWN) == OWN
    changed = write_agent(replace(agent, color="a2", model=None, prompt="Keep them well."), OWN)
    expected = OWN.replace("color: umber", "color: blue").replace("model: lab/small\n", "")
    assert changed == expected.replace("Keep the books.", "Keep them well.")


def test_what_would_count_beside_a_choice_goes_with_it() -> None:
    agent = parse_agent("r", OPENCODE)
    text = write_agent(replace(agent, tools=None, disabled=False), OPENCODE)
    assert (parse_agent("r", text).tools, parse_agent("r", text).disabled) == (None, False)
    assert "mode: subagent" in text
    assert "permissionMode: bypass" in write_agent(replace(parse_agent("r", CLAUDE), tools=()), CLAUDE)


def test_a_head_that_did_not_end_can_be_put_right() -> None:
    broken = "---\nname: A\nYou are A."
    agent = parse_agent("a", broken)
    assert agent.prompt == broken
    mended = parse_agent("a", write_agent(replace(agent, prompt="You are A."), broken))
    assert (mended.problem, mended.prompt) == ("", "You are A.")


AGENTS = st.builds(
    AgentFile,
    id=st.just("one"),
    name=st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=60)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: not name_trouble(text)),
    description=st.text(st.characters(exclude_categories=["C"]), max_size=80).map(
        lambda text: " ".join(text.split())
    ),
    model=st.none() | st.just("lab/some-model:70b"),
    tools=st.none()
    | st.sets(st.sampled_from(ALL_TOOLS)).map(lambda names: tuple(t for t in ALL_TOOLS if t in names)),
    skills=st.sets(st.sampled_from(["a", "b c", "d"])).map(lambda names: tuple(sorted(names))),
    interactive=st.booleans(),
    color=st.sampled_from(list(HUES)),
    prompt=st.text(min_size=1).map(lambda text: text.replace("\r", "").strip()).filter(bool),
    disabled=st.booleans(),
)


@given(AGENTS, AGENTS)
def test_any_agent_is_read_as_it_was_written_also_over_another(one: AgentFile, other: AgentFile) -> None:
    text = write_agent(one)
    assert replace(parse_agent("one", text), version="", problem="") == one
    assert replace(parse_agent("one", write_agent(other, text)), version="", problem="") == other
    assert write_agent(one, text) == text


@given(st.text(max_size=300))
def test_any_text_is_some_agent(text: str) -> None:
    agent = parse_agent("any", f"---\n{text}\n---\nGo.")
    assert write_agent(agent, f"---\n{text}\n---\nGo.") == f"---\n{text}\n---\nGo."


@pytest.mark.parametrize("id", TEAM)
def test_the_team_that_ships_is_ready_and_needs_no_remark(id: str) -> None:
    agent = parse_agent(id, find_shipped(id) or "")
    assert (agent.is_ready, agent.notes, agent.name) == (True, (), id.capitalize())
    assert agent.interactive == (id == "tutor")
    assert agent.tools
    assert agent.description


def test_the_team_has_colours_of_its_own() -> None:
    assert len({parse_agent(id, find_shipped(id) or "").color for id in TEAM}) == len(TEAM)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Harbour clerk", "harbour-clerk"),
        ("Größe & Maß (2)", "grosse-mass-2"),
        ("研究员", "agent"),
        ("Coder", "coder-2"),
        ("commander", "commander-2"),
        ("x" * 90, "x" * 56),
    ],
)
def test_an_id_says_the_name_and_is_nobody_elses(name: str, id: str) -> None:
    assert id_for(name, {"coder"}) == id
    assert is_id(id)


@pytest.mark.parametrize(
    "text", ["", "Coder", "a--b", "-a", "a-", "a_b", "../a", "a/b", "a.md", "ä", "a" * 61, "a\n"]
)
def test_what_is_no_id(text: str) -> None:
    assert not is_id(text)


@pytest.mark.parametrize(
    "name", ["", "  ", "a@b", "two\nlines", "x" * 61, "User", "COMMANDER", "com mander", "ｙｏｕ", "a\u202eb"]
)
def test_a_name_that_nobody_can_have(name: str) -> None:
    assert name_trouble(name)


@pytest.mark.parametrize("name", ["Users", "Commander's aide", "研究员", "Dr. No (2)", "R2-D2"])
def test_a_name_that_only_looks_like_one(name: str) -> None:
    assert name_trouble(name) == ""


def test_names_are_equal_whatever_their_letters_and_spaces() -> None:
    assert same_name("Harbour  Clerk") == same_name("harbourclerk") != same_name("harbour-clerk")
