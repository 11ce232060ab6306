"""Sessions by name: one for each member of a conversation, and new ones for workers without a name."""

from __future__ import annotations

import pytest

from app.workspace.errors import NotFound
from app.workspace.sessions import list_sessions, load_session, new_session, session_of
from app.workspace.store import Store


def test_a_member_has_one_history_and_another_member_another(store: Store, chat: str) -> None:
    first = session_of(store, chat, "coder")
    assert session_of(store, chat, "coder") == first
    assert session_of(store, chat, "writer").path != first.path


def test_a_new_one_is_new_whatever_others_there_are(store: Store, chat: str) -> None:
    first, second = (new_session(store, chat, "worker") for _ in range(2))
    assert first.id != second.id
    assert len(list_sessions(store, chat)) == 2
    assert load_session(store, first.id) == first


def test_what_is_not_there_is_said(store: Store) -> None:
    with pytest.raises(NotFound):
        load_session(store, "ses_none")
    with pytest.raises(NotFound):
        new_session(store, "conv_none", "worker")
