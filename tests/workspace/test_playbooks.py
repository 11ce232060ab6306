"""Playbooks as files: read, filled in, written, and refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.infra.paths import DataFolder
from app.workspace.errors import InvalidPlaybook, NotFound
from app.workspace.playbooks import (
    LARGEST,
    Parameter,
    Playbook,
    kept_steps,
    list_playbooks,
    load_playbook,
    read_playbook,
    remove_playbook,
    restore_playbook,
    save_playbook,
)

STEPS = (
    {
        "index": 1,
        "title": "Notes of {{version}}",
        "assignee": "writer",
        "input": "For {{ reader }} in {{version}}.",
    },
    {
        "index": 2,
        "title": "Check",
        "assignee": "coder",
        "input": "{{step_1.output_summary}} {{user_message}}",
    },
)
NOTES = Playbook("", "Release notes", STEPS, "What is new.", (Parameter("reader", "Who reads it?", "users"),))


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data").create()


def test_what_it_asks_for_is_in_the_order_of_its_text_and_what_a_plan_fills_in_is_not_asked() -> None:
    assert NOTES.parameters == (Parameter("version"), Parameter("reader", "Who reads it?", "users"))


def test_holes_are_filled_in_and_braces_of_a_value_are_text() -> None:
    first, second = NOTES.filled({"version": "1.2", "reader": "{{step_2.output_summary}}"})
    assert first["title"] == "Notes of 1.2"
    assert first["input"] == "For { {step_2.output_summary}} in 1.2."
    assert second == STEPS[1]


def test_it_is_kept_under_a_name_of_its_own_and_what_is_exported_is_imported_again(
    folder: DataFolder,
) -> None:
    first, second = save_playbook(folder, NOTES), save_playbook(folder, NOTES)
    assert [first.id, second.id] == ["release-notes", "release-notes-2"]
    assert load_playbook(folder, "release-notes") == first
    assert read_playbook(first.written(), first.id) == first
    assert [each.id for each in list_playbooks(folder)] == ["release-notes", "release-notes-2"]
    remove_playbook(folder, second.id)
    with pytest.raises(NotFound):
        load_playbook(folder, second.id)


@pytest.mark.parametrize("text", ["{", " " * (LARGEST + 1)])
def test_a_file_that_was_broken_by_hand_stays_in_the_list(folder: DataFolder, text: str) -> None:
    (folder.playbooks / "broken.json").write_text(text)
    assert [(each.id, each.steps) for each in list_playbooks(folder)] == [("broken", ())]


def test_what_was_removed_comes_back_unless_another_one_has_its_name(folder: DataFolder) -> None:
    kept = save_playbook(folder, NOTES)
    remove_playbook(folder, kept.id)
    assert list_playbooks(folder) == []
    restore_playbook(folder, kept.id)
    assert list_playbooks(folder) == [kept]
    remove_playbook(folder, kept.id)
    save_playbook(folder, NOTES)
    with pytest.raises(NotFound):
        restore_playbook(folder, kept.id)


@pytest.mark.parametrize("id", ["../secrets", "a/b", "", "UPPER", "a.json"])
def test_an_id_is_no_path(folder: DataFolder, id: str) -> None:
    with pytest.raises(NotFound):
        load_playbook(folder, id)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "cannot be read as JSON"),
        ("[]", "JSON object"),
        ('{"name": "x"}', "steps"),
        ('{"steps": [{}]}', '"name"'),
        ('{"name": "x", "steps": []}', "at least one step"),
        ('{"name": "x", "steps": [1]}', "is an object"),
        ('{"name": "x", "steps": [{}], "description": 1}', "is a text"),
        ('{"name": "x", "steps": [{}], "parameters": {}}', "is a list"),
        ('{"name": "x", "steps": [{}], "parameters": [{"name": "a b"}]}', 'each with a "name"'),
        ('{"name": "x", "steps": [{}], "parameters": [{"name": "a", "label": 1}]}', "as texts"),
        ('{"name": "x", "steps": [{}], "parameters": [{"name": "a", "more": ""}]}', "as texts"),
    ],
)
def test_what_is_none_is_refused_with_what_is_missing(text: str, why: str) -> None:
    with pytest.raises(InvalidPlaybook, match=why):
        read_playbook(text)


def test_of_a_plan_only_what_it_was_given_is_kept() -> None:
    done = {**STEPS[1], "status": "done", "output_summary": "x", "fields": [], "wait_for": [1], "attempt": 2}
    assert kept_steps([done]) == ({**STEPS[1], "wait_for": [1], "fields": []},)
