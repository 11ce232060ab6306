"""Every known wording of a failure, and what must not be taken for one."""

from __future__ import annotations

import pytest

from app.engine.errors import ACCOUNT
from app.providers.classify import Symptom, classify
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


def rotation_word(symptom: Symptom) -> str:
    """What another key or host could change about it, as the table writes it."""
    kind = classify(symptom)
    if kind == "aborted":
        return "none"
    if kind in ACCOUNT:
        return f"account:{kind}"
    is_network = kind in ("timeout", "dropped", "unreachable") and bool(symptom.raised)
    return "network" if is_network else "same_everywhere"


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_failure_is_classified(row: dict[str, str]) -> None:
    assert runner_word(classify(symptom(row))) in row["runner"].split(" | ")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_failure_says_whether_another_account_or_host_could_help(row: dict[str, str]) -> None:
    assert rotation_word(symptom(row)) in row["rotation"].split(" | ")


MORE: list[tuple[int | None, str, str, str]] = [
    (
        429,
        "tokens/rate_limit_exceeded",
        "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000.",
        "overflow",
    ),
    (
        429,
        "RESOURCE_EXHAUSTED/GenerateRequestsPerMinutePerProjectPerModel",
        "You exceeded your current quota.",
        "rate_limit",
    ),
    (429, "", "Too many requests this week, come back on Monday; weekly limit reached", "balance"),
    (
        400,
        "",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "overflow",
    ),
    (
        400,
        "",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "overflow",
    ),
    (400, "", "prompt token count of 150000 exceeds the limit of 128000", "overflow"),
    (500, "", "Context size has been exceeded.", "overflow"),
    (400, "", "Das Guthaben ist aufgebraucht.", "balance"),
    (403, "", "Votre abonnement a expiré.", "subscription"),
    (
        400,
        "content_filter",
        "The response was filtered due to the prompt triggering the content management policy.",
        "policy",
    ),
    (400, "", "Invalid API key.", "auth"),
    (400, "", "The API key has expired.", "auth"),
    (404, "not_found_error", "model: claude-example-9", "unknown_model"),
    (None, "invalid_request_error", "bad request", "invalid"),
    (None, "", "something happened", "server"),
    # Look-alikes: the same words about something else.
    (
        400,
        "",
        "'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens.",
        "invalid",
    ),
    (400, "", "Invalid input: name too long", "invalid"),
    (400, "", "Invalid input: number of stop sequences exceeds 4", "invalid"),
    (
        400,
        "",
        "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64",
        "invalid",
    ),
    (400, "", "messages.0.content.1.image.source: image exceeds 5 MB maximum: 6000000 bytes", "invalid"),
    (400, "", "metadata key limit exceeded: at most 16 keys", "invalid"),
    (400, "", "Extra inputs are not permitted: billing", "invalid"),
    (400, "", "Unknown parameter: 'quota_exceeded'", "invalid"),
    (400, "", "Invalid key in object: metadata.foo", "invalid"),
    (400, "", "Parameter 'x' is flagged as deprecated", "invalid"),
    (400, "", "subscription_id has expired", "invalid"),
    (403, "", "This key may not change the rate limit settings", "auth"),
    (500, "", "Internal error: request exceeded internal time limit", "server"),
    (503, "", "No capacity for model x, which was not found on any node", "overloaded"),
    (502, "", "insufficient balance of healthy nodes", "server"),
]


@pytest.mark.parametrize(("status", "code", "message", "kind"), MORE)
def test_other_wordings_and_their_look_alikes(status: int | None, code: str, message: str, kind: str) -> None:
    assert classify(Symptom(status, code, message)) == kind


@pytest.mark.parametrize(
    ("raised", "message", "kind"),
    [
        (
            "InternalServerError",
            "Connection error. <- ConnectError <- [Errno 111] Connection refused",
            "unreachable",
        ),
        ("BadRequestError", "Invalid certificate in field 'tls'", "invalid"),
        ("RateLimitError", "You exceeded your current quota", "balance"),
        ("ConnectError", "[Errno -2] Name or service not known", "unreachable"),
        ("TimeoutError", "", "timeout"),
    ],
)
def test_exceptions_are_read_by_class_and_by_what_the_system_said(
    raised: str, message: str, kind: str
) -> None:
    assert classify(Symptom(raised=raised, message=message)) == kind
