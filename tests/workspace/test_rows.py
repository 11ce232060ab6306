"""Every row is a value whose fields are the columns of its table."""

from __future__ import annotations

from dataclasses import fields

import pytest

from app.models.tables import Conversation, Message, QueuedMessage, Session, Table, Turn, Usage
from app.workspace.rows import ConversationRow, MessageRow, QueuedRow, SessionRow, TurnRow, UsageRow


@pytest.mark.parametrize(
    ("table", "row"),
    [
        (Conversation, ConversationRow),
        (Message, MessageRow),
        (QueuedMessage, QueuedRow),
        (Session, SessionRow),
        (Turn, TurnRow),
        (Usage, UsageRow),
    ],
)
def test_a_row_has_the_columns_of_its_table(table: type[Table], row: type) -> None:
    assert [field.name for field in fields(row)] == [field.column_name for field in table._meta.sorted_fields]
