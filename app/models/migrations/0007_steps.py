"""The steps that can be undone: one row for each call of a tool, and for each restore, that changed files."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql(
        """
        CREATE TABLE "steps" (
            "id" TEXT NOT NULL PRIMARY KEY,
            "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
            "turn" TEXT NOT NULL,
            "call_id" TEXT NOT NULL,
            "tool" TEXT NOT NULL,
            "undoes" TEXT,
            "before" TEXT NOT NULL,
            "after" TEXT,
            "tally" TEXT,
            "started" TEXT NOT NULL
        )
        """
    )
    database.sql("""CREATE INDEX "steps_of_conversation" ON "steps" ("conversation", "started")""")
    database.sql("""CREATE INDEX "steps_open" ON "steps" ("conversation") WHERE "after" IS NULL""")
