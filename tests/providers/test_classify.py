"""Every known wording of a failure, and what must not be taken for one."""

from __future__ import annotations

import pytest

from app.providers.classify import Symptom, classify, rotation
from tests.case_tables import load_tsv

ROWS = [
    row for row in load_tsv("error_classes.tsv") if row["where"] in ("http", "stream", "body200", "exception")
]


def symptom(row: dict[str, str]) -> Symptom:
    if row["where"] == "exception":
        return Symptom(raised=row["code"].rpartition(".")[2], message=row["message"])
    status = int(row["status"]) if row["where"] == "http" else None
    return Symptom(status, row["code"], row["message"])


def runner_word(found: str) -> str:
    """The kind as the table writes it."""
    retried = ("rate_limit", "timeout", "dropped", "server", "overloaded")
    if found in ("overflow", "aborted"):
        return found
    return (
        f"retry:{found}" if found in retried else f"final:{'invalid' if found == 'unknown_model' else found}"
    )


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_failure_is_classified(row: dict[str, str]) -> None:
    assert runner_word(classify(symptom(row))) in row["runner"].split(" | ")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_failure_says_whether_another_account_or_host_could_help(row: dict[str, str]) -> None:
    assert rotation(symptom(row)) in row["rotation"].split(" | ")
