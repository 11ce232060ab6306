"""Conversations with their messages, turns, sessions and queue; usage, model sources, settings."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    for statement in STATEMENTS:
        database.sql(statement)


STATEMENTS = (
    """
    CREATE TABLE "conversations" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "title" TEXT NOT NULL,
        "title_source" TEXT NOT NULL,
        "workspace" TEXT NOT NULL,
        "model" TEXT,
        "pinned" INTEGER NOT NULL,
        "archived" INTEGER NOT NULL,
        "deleted_at" TEXT,
        "created" TEXT NOT NULL,
        "updated" TEXT NOT NULL,
        "revision" INTEGER NOT NULL
    )
    """,
    """CREATE INDEX "conversations_by_time" ON "conversations" ("updated") WHERE "deleted_at" IS NULL""",
    """
    CREATE TABLE "turns" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
        "revision" INTEGER NOT NULL,
        "member" TEXT NOT NULL,
        "session" TEXT NOT NULL,
        "trigger" TEXT NOT NULL,
        "state" TEXT NOT NULL,
        "reason" TEXT,
        "error" TEXT,
        "model" TEXT,
        "started" TEXT NOT NULL,
        "ended" TEXT
    )
    """,
    """CREATE INDEX "turns_of_conversation" ON "turns" ("conversation", "started")""",
    """CREATE UNIQUE INDEX "one_live_turn_of_a_session" ON "turns" ("session") WHERE "state" = 'running'""",
    """
    CREATE TABLE "messages" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
        "position" INTEGER NOT NULL,
        "revision" INTEGER NOT NULL,
        "turn" TEXT,
        "member" TEXT NOT NULL,
        "kind" TEXT NOT NULL,
        "state" TEXT NOT NULL,
        "text" TEXT NOT NULL,
        "data" TEXT NOT NULL,
        "created" TEXT NOT NULL,
        "client_id" TEXT
    )
    """,
    """CREATE UNIQUE INDEX "messages_in_order" ON "messages" ("conversation", "position")""",
    """CREATE INDEX "messages_by_revision" ON "messages" ("conversation", "revision")""",
    """
    CREATE UNIQUE INDEX "messages_sent_once" ON "messages" ("conversation", "client_id")
    WHERE "client_id" IS NOT NULL
    """,
    """CREATE INDEX "messages_streaming" ON "messages" ("turn") WHERE "state" = 'streaming'""",
    """
    CREATE TABLE "sessions" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
        "member" TEXT NOT NULL,
        "model" TEXT,
        "path" TEXT NOT NULL,
        "size" INTEGER NOT NULL,
        "input_tokens" INTEGER NOT NULL,
        "output_tokens" INTEGER NOT NULL
    )
    """,
    """CREATE INDEX "sessions_of_member" ON "sessions" ("conversation", "member")""",
    """
    CREATE TABLE "queued_messages" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "conversation" TEXT NOT NULL REFERENCES "conversations" ("id") ON DELETE CASCADE,
        "client_id" TEXT NOT NULL,
        "text" TEXT NOT NULL,
        "kind" TEXT NOT NULL,
        "position" INTEGER NOT NULL,
        "created" TEXT NOT NULL
    )
    """,
    """CREATE UNIQUE INDEX "queued_once" ON "queued_messages" ("conversation", "client_id")""",
    """CREATE INDEX "queued_in_order" ON "queued_messages" ("conversation", "position")""",
    """
    CREATE TABLE "usage" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "time" TEXT NOT NULL,
        "conversation" TEXT,
        "member" TEXT NOT NULL,
        "turn" TEXT,
        "purpose" TEXT NOT NULL,
        "provider" TEXT NOT NULL,
        "model" TEXT NOT NULL,
        "input_tokens" INTEGER NOT NULL,
        "output_tokens" INTEGER NOT NULL,
        "cache_read_tokens" INTEGER NOT NULL,
        "cache_write_tokens" INTEGER NOT NULL,
        "cost" REAL,
        "estimated" INTEGER NOT NULL,
        "duration_ms" INTEGER NOT NULL,
        "first_token_ms" INTEGER,
        "outcome" TEXT NOT NULL
    )
    """,
    """CREATE INDEX "usage_by_time" ON "usage" ("time")""",
    """CREATE INDEX "usage_of_conversation" ON "usage" ("conversation")""",
    """
    CREATE TABLE "model_sources" (
        "name" TEXT NOT NULL PRIMARY KEY,
        "kind" TEXT NOT NULL,
        "base_url" TEXT,
        "models" TEXT NOT NULL,
        "context" INTEGER,
        "max_output" INTEGER,
        "price_in" REAL,
        "price_out" REAL,
        "keys" TEXT NOT NULL,
        "position" INTEGER NOT NULL
    )
    """,
    """CREATE TABLE "settings" ("key" TEXT NOT NULL PRIMARY KEY, "value" TEXT NOT NULL)""",
)
