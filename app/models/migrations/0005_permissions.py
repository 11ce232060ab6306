"""How much a conversation may do without asking, and what the user allowed for good."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql("""ALTER TABLE "conversations" ADD COLUMN "access" TEXT NOT NULL DEFAULT 'standard'""")
    database.sql(
        """
        CREATE TABLE "rules" (
            "id" TEXT NOT NULL PRIMARY KEY,
            "text" TEXT NOT NULL,
            "workspace" TEXT NOT NULL,
            "created" TEXT NOT NULL,
            UNIQUE ("text", "workspace")
        )
        """
    )
