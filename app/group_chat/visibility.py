"""Who sees what: what a starting member has not heard yet."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.messages import Message
from app.engine.steering import UserInput
from app.workspace import messages
from app.workspace.store import Store


def unheard(store: Store, conversation: str, history: Sequence[Message]) -> list[UserInput]:
    """The user's messages that are in the chat but not in the member's session, oldest first.

    They share their ids, so a crash between the two loses none and repeats none.
    """
    heard = {message.id for message in history}
    return [
        UserInput(row.text, row.id) for row in messages.list_said(store, conversation) if row.id not in heard
    ]
