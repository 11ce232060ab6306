"""What the user says of single models."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql(
        """
        CREATE TABLE "model_facts" (
            "source" TEXT NOT NULL,
            "model" TEXT NOT NULL,
            "context" INTEGER,
            "max_output" INTEGER,
            "price_in" REAL,
            "price_out" REAL,
            "images" INTEGER,
            "reasoning" INTEGER,
            "tools" INTEGER,
            PRIMARY KEY ("source", "model")
        )
        """
    )
