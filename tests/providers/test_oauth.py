"""OAuth as values: how a token ages, what a token endpoint's answers mean, what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.oauth import (
    Client,
    Denied,
    Grant,
    Tokens,
    challenge_of,
    over,
    read_grant,
    read_tokens,
    renewed,
    stand,
    write_grant,
)

GRANT = Grant(
    id="login_1",
    issuer="https://gate.example",
    token_endpoint="https://gate.example/token",
    client=Client("plancia"),
    issued=1000.0,
    access="at-secret",
    refresh="rt-secret",
    expires=4600.0,
)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (1000, "fresh"),
        (4299.9, "fresh"),
        (4300, "ageing"),
        (4599.9, "ageing"),
        (4600, "spent"),
        (9e9, "spent"),
    ],
)
def test_a_token_is_renewed_from_five_minutes_before_its_end(now: float, expected: str) -> None:
    assert stand(GRANT, now) == expected


@pytest.mark.parametrize(("now", "expected"), [(1149, "fresh"), (1150, "ageing"), (1300, "spent")])
def test_a_token_that_lives_five_minutes_is_used_for_half_of_them(now: float, expected: str) -> None:
    assert stand(replace(GRANT, expires=1300.0), now) == expected


@pytest.mark.parametrize(("now", "expected"), [(4300, "fresh"), (4599.9, "fresh"), (4600, "over")])
def test_a_token_that_nothing_renews_is_used_to_its_end(now: float, expected: str) -> None:
    assert stand(replace(GRANT, refresh=""), now) == expected


def test_a_token_without_an_end_is_used_until_it_is_refused() -> None:
    assert stand(replace(GRANT, expires=None, refresh=""), 9e9) == "fresh"


@pytest.mark.parametrize(("now", "expected"), [(941, "fresh"), (939, "ageing")])
def test_a_clock_that_was_set_back_is_not_believed_for_long(now: float, expected: str) -> None:
    assert stand(GRANT, now) == expected


@given(st.floats(0, 1e10))
def test_a_login_that_is_over_stays_so_whatever_the_clock_says(now: float) -> None:
    assert stand(over(GRANT), now) == "over"


def test_what_is_over_keeps_no_token_and_what_a_new_login_needs() -> None:
    ended = over(GRANT)
    assert "at-secret" not in write_grant(ended)
    assert "rt-secret" not in write_grant(ended)
    assert (ended.issuer, ended.client, ended.id) == (GRANT.issuer, GRANT.client, GRANT.id)


def test_a_renewal_counts_from_before_it_was_asked_for() -> None:
    new = renewed(GRANT, Tokens("at-2", "rt-2", 60.0), 5000.0)
    assert (new.access, new.refresh, new.issued, new.expires) == ("at-2", "rt-2", 5000.0, 5060.0)


def test_a_refresh_token_that_was_not_replaced_goes_on() -> None:
    assert renewed(GRANT, Tokens("at-2"), 5000.0).refresh == "rt-secret"


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (200, {"access_token": "a", "token_type": "Bearer"}, Tokens("a")),
        (200, {"access_token": "a", "token_type": "bearer", "expires_in": "60"}, Tokens("a", "", 60.0)),
        (200, {"access_token": "a", "expires_in": 0, "refresh_token": "r"}, Tokens("a", "r")),
        (200, {"access_token": "a", "expires_in": True}, Tokens("a", "", 1.0)),
        (200, {"access_token": "a", "expires_in": "soon"}, Tokens("a")),
        (400, {"error": "invalid_grant", "error_description": "gone"}, Denied("invalid_grant", "gone")),
        (200, {"error": "authorization_pending"}, Denied("authorization_pending")),
        (401, {"error": "invalid_client"}, Denied("invalid_client")),
        (200, {"access_token": "a", "token_type": "mac"}, None),
        (200, {"access_token": "two words"}, None),
        (200, {"access_token": "a\nb"}, None),
        (200, {"access_token": ["a"]}, None),
        (200, {}, None),
        (400, {"error": {"message": "of an API, not of OAuth"}}, None),
        (500, {"error": "invalid_grant"}, None),
        (503, {}, None),
        (302, {"access_token": "a"}, None),
    ],
)
def test_an_answer_is_tokens_or_a_refusal_or_trouble(
    status: int, answer: dict[str, Any], expected: Tokens | Denied | None
) -> None:
    assert read_tokens(status, answer) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("invalid_grant", True),
        ("invalid_client", True),
        ("unauthorized_client", True),
        ("temporarily_unavailable", False),
        ("invalid_request", False),
        ("slow_down", False),
    ],
)
def test_only_some_refusals_end_a_login(code: str, expected: bool) -> None:
    assert Denied(code).ends_login is expected


def test_a_login_is_kept_whole() -> None:
    grant = replace(GRANT, client=Client("c", "s", "client_secret_basic"), scope="models", registered=True)
    assert read_grant(write_grant(grant)) == grant


@pytest.mark.parametrize("text", ["", "sk-a-key", "{}", "[]", '{"id": 1}', '{"id": "x", "access": null}'])
def test_what_is_no_login_is_told_from_one(text: str) -> None:
    assert read_grant(text) is None


def test_no_secret_stands_in_what_is_printed_of_a_login() -> None:
    shown = repr(replace(GRANT, client=Client("c", "client-secret")))
    assert "secret" not in shown.replace("client_secret", "")
    assert "at-" not in repr(Tokens("at-1", "rt-1"))


def test_a_challenge_is_that_of_the_standard() -> None:
    """The example of RFC 7636, appendix B."""
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert challenge_of(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (Client("a b"), ({"client_id": "a b"}, {})),
        (Client("a", "s", "client_secret_post"), ({"client_id": "a", "client_secret": "s"}, {})),
        (Client("a:", "s", "client_secret_basic"), ({}, {"authorization": "Basic YSUzQTpz"})),
    ],
)
def test_a_client_says_who_it_is_as_it_was_registered(client: Client, expected: Any) -> None:
    assert client.identify() == expected
