"""A rule of the user says which tool and words it is about, whether it allows, asks or denies, and what it covers."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql(
        """
        CREATE TABLE "rules_of_tools" (
            "id" TEXT NOT NULL PRIMARY KEY,
            "workspace" TEXT NOT NULL,
            "answer" TEXT NOT NULL,
            "tool" TEXT NOT NULL,
            "words" TEXT NOT NULL,
            "exact" INTEGER NOT NULL,
            "categories" TEXT NOT NULL,
            "created" TEXT NOT NULL,
            UNIQUE ("workspace", "answer", "tool", "words", "exact", "categories")
        )
        """
    )
    database.sql(
        """
        INSERT INTO "rules_of_tools"
        SELECT "id", "workspace", 'allow', substr("text", 1, instr("text", ': ') - 1),
            json_array(substr("text", instr("text", ': ') + 2)), 1, '["changes"]', "created"
        FROM "rules" WHERE instr("text", ': ') > 1
        """
    )
    database.sql('DROP TABLE "rules"')
    database.sql('ALTER TABLE "rules_of_tools" RENAME TO "rules"')
