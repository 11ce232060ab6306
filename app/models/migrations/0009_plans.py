"""The plans that a conversation works off."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql(
        """
        CREATE TABLE "plans" (
            "id" TEXT NOT NULL PRIMARY KEY,
            "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
            "revision" INTEGER NOT NULL,
            "title" TEXT NOT NULL,
            "setter" TEXT NOT NULL,
            "turn" TEXT,
            "state" TEXT NOT NULL,
            "content" TEXT NOT NULL,
            "created" TEXT NOT NULL,
            "begun" TEXT,
            "ended" TEXT
        )
        """
    )
    database.sql('CREATE INDEX "plans_conversation" ON "plans" ("conversation", "created")')
    database.sql('CREATE INDEX "tasks_given" ON "tasks" ("given", "created")')
