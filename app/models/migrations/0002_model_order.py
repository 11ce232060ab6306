"""The order of models, across sources."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql(
        """
        CREATE TABLE "model_order" (
            "label" TEXT NOT NULL PRIMARY KEY,
            "source" TEXT NOT NULL REFERENCES "model_sources" ("name") ON DELETE CASCADE,
            "position" INTEGER NOT NULL
        )
        """
    )
