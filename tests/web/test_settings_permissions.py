"""Settings, permissions: the access of new conversations, and rules that are listed and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        assert "allowed for every member in <bdi>/home/me/work</bdi>" in page
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
