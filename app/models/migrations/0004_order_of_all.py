"""The order of models holds places of sources that come from the environment too: they stand in no table."""

from __future__ import annotations

from app.models.connection import Sqlite


def up(database: Sqlite) -> None:
    database.sql(
        """
        CREATE TABLE "model_order_of_all" (
            "label" TEXT NOT NULL PRIMARY KEY,
            "source" TEXT NOT NULL,
            "position" INTEGER NOT NULL
        )
        """
    )
    database.sql('INSERT INTO "model_order_of_all" SELECT "label", "source", "position" FROM "model_order"')
    database.sql('DROP TABLE "model_order"')
    database.sql('ALTER TABLE "model_order_of_all" RENAME TO "model_order"')
