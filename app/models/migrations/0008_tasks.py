"""Who holds the floor of a conversation, and the tasks that members give each other."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql("""ALTER TABLE "conversations" ADD COLUMN "floor" TEXT NOT NULL DEFAULT 'commander'""")
    database.sql("""ALTER TABLE "turns" ADD COLUMN "task" TEXT""")
    database.sql(
        """
        CREATE TABLE "tasks" (
            "id" TEXT NOT NULL PRIMARY KEY,
            "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
            "revision" INTEGER NOT NULL,
            "kind" TEXT NOT NULL,
            "asker" TEXT NOT NULL,
            "member" TEXT NOT NULL,
            "job" TEXT NOT NULL,
            "given" TEXT NOT NULL,
            "call_id" TEXT NOT NULL,
            "turn" TEXT,
            "state" TEXT NOT NULL,
            "outcome" TEXT,
            "created" TEXT NOT NULL,
            "ended" TEXT
        )
        """
    )
    database.sql('CREATE INDEX "tasks_conversation" ON "tasks" ("conversation", "created")')
