"""What belongs to one turn is looked for without reading the whole conversation."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql('DROP INDEX "messages_streaming"')
    database.sql('CREATE INDEX "messages_turn" ON "messages" ("turn", "position")')
