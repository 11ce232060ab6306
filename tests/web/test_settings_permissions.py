"""Settings, permissions: the access of new conversations, and rules that are listed and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from markupsafe import escape

from app.hands.permissions.rules import Rule
from app.workspace import conversations, rules
from app.workspace.settings import get_setting
from tests.web.pages import open_page

pytestmark = pytest.mark.anyio

PUSH = Rule("allow", ("git", "push", "origin", "<b>"), exact=True, categories=frozenset({"publish"}))


async def test_the_access_of_new_conversations_is_chosen_and_old_ones_keep_theirs(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        before = opened.conversation()
        response = await opened.browser.post("/settings/permissions", {"access.mode": "cautious"})
        assert response.status == 303
        store = opened.bench.store
        assert get_setting(store, "access.mode") == "cautious"
        assert conversations.load_conversation(store, before.id).access == "standard"
        assert conversations.create_conversation(store, workspace="/w").access == "cautious"


async def test_a_word_that_is_no_access_is_refused_everywhere(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        room = opened.conversation()
        at = f"/conversations/{room.id}/access"
        assert (await opened.browser.post(at, {"access": "reckless"})).status == 400
        assert (await opened.browser.post(at, {})).status == 400
        assert conversations.load_conversation(opened.bench.store, room.id).access == "standard"


async def test_rules_are_listed_with_their_folder_and_taken_back(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        store = opened.bench.store
        assert "what has to ask asks each time" in (await opened.browser.get("/settings/permissions")).text
        rule = rules.add_rule(store, PUSH, "/home/me/work")
        rules.add_rule(store, PUSH, "/home/me/work")
        page = (await opened.browser.get("/settings/permissions")).text
        assert page.count("<code>git push origin &#39;&lt;b&gt;&#39;</code>") == 1
        assert "allowed, for every member in <bdi>/home/me/work</bdi>" in page
        revoke = f"/settings/permissions/{rule.id}/revoke"
        assert (await opened.browser.post(revoke, {})).status == 303
        assert rules.list_rules(store) == []
        assert (await opened.browser.post(revoke, {})).status == 404


async def test_a_decision_that_comes_too_late_says_so(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        room = opened.conversation()
        late = await opened.browser.post(
            f"/conversations/{room.id}/approvals/ask_1", {"decision": "allow_once"}
        )
        assert late.status == 409
        assert "This request has already ended, nothing was run." in late.text


async def test_a_form_that_is_answered_too_late_says_so_and_what_is_no_act_is_refused(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        form = f"/conversations/{opened.conversation().id}/forms/form_1"
        for action in ("send", "decline"):
            late = await opened.browser.post(form, {"action": action, "size": "7"})
            assert late.status == 409
            assert "This form has already ended, nothing was sent." in late.text
        for fields in ({}, {"action": "eat"}, {"action": ""}):
            assert (await opened.browser.post(form, fields)).status == 400


async def test_the_page_says_what_keeps_commands_in_their_place(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        badge = (await opened.bench.machine.confinement.get()).badge
        page = (await opened.browser.get("/settings/permissions")).text
        assert str(escape(badge.sentence)) in page
        chat = (await opened.browser.get(f"/conversations/{opened.conversation().id}")).text
        assert str(escape(badge.sentence)) in chat


@pytest.mark.parametrize(
    ("answer", "typed", "shown"),
    [
        ("deny", "rm", "rm …"),
        ("ask", "git commit", "git commit …"),
        ("allow", "npm run build", "npm run build …"),
    ],
)
async def test_a_rule_about_commands_is_written_by_hand(
    tmp_path: Path, answer: str, typed: str, shown: str
) -> None:
    async with open_page(tmp_path) as opened:
        sent = {"command": typed, "answer": answer}
        assert (await opened.browser.post("/settings/permissions/rules", sent)).status == 303
        assert f"<code>{escape(shown)}</code>" in (await opened.browser.get("/settings/permissions")).text


async def test_what_no_rule_can_allow_is_said_when_it_is_written(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        sent = {"command": "python3 -c", "answer": "allow"}
        refused = await opened.browser.post("/settings/permissions/rules", sent)
        assert refused.status == 422
        assert "No rule can allow this" in refused.text
        assert (
            await opened.browser.post("/settings/permissions/rules", {**sent, "answer": "deny"})
        ).status == 303


@pytest.mark.parametrize(
    ("typed", "why"),
    [("", "Write the beginning"), ("git 'push", "A quote is not closed"), ("ls | sh", "about one command")],
)
async def test_what_is_no_beginning_of_a_command_is_said_beside_it_and_kept(
    tmp_path: Path, typed: str, why: str
) -> None:
    async with open_page(tmp_path) as opened:
        sent = {"command": typed, "answer": "deny"}
        refused = await opened.browser.post("/settings/permissions/rules", sent)
        assert refused.status == 422
        assert why in refused.text
        assert f'value="{escape(typed)}"' in refused.text
        assert rules.list_rules(opened.bench.store) == []


async def test_a_folder_is_granted_for_reading_or_more_and_taken_back(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        port = tmp_path / "port"
        port.mkdir()
        for use in ("read", "write"):
            sent = {"folder": str(port), "use": use}
            assert (await opened.browser.post("/settings/permissions/folders", sent)).status == 303
        texts = [rule.text for rule in rules.rules_of(opened.bench.store, "/anywhere")]
        assert sorted(texts) == [f"read and write in {port}", f"read in {port}"]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "Write the whole path"),
        ("documents", "Write the whole path"),
        ("/not/there", "There is no folder /not/there"),
        ("~", "can be granted by nobody"),
        ("/", "can be granted by nobody"),
        ("/etc", "can be granted by nobody"),
        ("~/.ssh", "can be granted by nobody"),
    ],
)
async def test_what_can_never_be_granted_says_why(
    tmp_path: Path, typed: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    async with open_page(tmp_path) as opened:
        refused = await opened.browser.post("/settings/permissions/folders", {"folder": typed, "use": "read"})
        assert (refused.status, why in refused.text) == (422, True)
        assert rules.list_rules(opened.bench.store) == []


async def test_the_own_data_is_granted_to_nobody(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        for folder in (opened.bench.folder.root, opened.bench.folder.sessions, tmp_path):
            refused = await opened.browser.post(
                "/settings/permissions/folders", {"folder": str(folder), "use": "write"}
            )
            assert refused.status == 422
