"""A message that waits keeps what it has beside its text: the files that go with it."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql("""ALTER TABLE "queued_messages" ADD COLUMN "data" TEXT NOT NULL DEFAULT '{}'""")
