"""The fake gateway is as strict as a real one may be: what a careless client does is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from app.providers.oauth import challenge_of
from tests.fakes.gateway_client import FakeGateway

VERIFIER = "v" * 43
BACK = "http://127.0.0.1:7777/callback"


@pytest.fixture
def web(gateway: FakeGateway) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=gateway.url, trust_env=False) as client:
        yield client


def register(web: httpx.Client, **more: Any) -> str:
    about = {"redirect_uris": [BACK], "token_endpoint_auth_method": "none", **more}
    id: str = web.post("/oauth/register", json=about).json()["client_id"]
    return id


def authorize(web: httpx.Client, client: str, **change: str) -> httpx.Response:
    asked = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": BACK,
        "state": "s" * 20,
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        **change,
    }
    return web.get("/oauth/authorize", params=asked)


def code_of(web: httpx.Client, client: str) -> str:
    return dict(parse_qsl(urlsplit(authorize(web, client).headers["location"]).query))["code"]


def exchange(web: httpx.Client, client: str, code: str, /, **change: str) -> httpx.Response:
    form = {
        "grant_type": "authorization_code",
        "client_id": client,
        "code": code,
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
        **change,
    }
    return web.post("/oauth/token", data=form)


def renew(web: httpx.Client, client: str, token: str) -> httpx.Response:
    return web.post(
        "/oauth/token", data={"grant_type": "refresh_token", "client_id": client, "refresh_token": token}
    )


def models(web: httpx.Client, token: str) -> int:
    return web.get("/v1/models", headers={"authorization": f"Bearer {token}"}).status_code


def test_a_careful_client_is_let_in_and_may_renew(web: httpx.Client) -> None:
    client = register(web)
    first = exchange(web, client, code_of(web, client)).json()
    second = renew(web, client, first["refresh_token"]).json()
    assert models(web, second["access_token"]) == 200
    assert second["refresh_token"] != first["refresh_token"]


@pytest.mark.parametrize(
    "change",
    [
        {"redirect_uri": "http://127.0.0.1:7778/callback"},
        {"redirect_uri": "http://127.0.0.1:7777/other"},
        {"code_challenge_method": "plain"},
        {"code_challenge": "short"},
        {"state": "short"},
        {"response_type": "token"},
        {"client_id": "nobody"},
    ],
)
def test_a_careless_question_is_refused(web: httpx.Client, change: dict[str, str]) -> None:
    assert authorize(web, register(web), **change).status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        {"code_verifier": "w" * 43},
        {"redirect_uri": f"{BACK}/"},
        {"code": "guessed"},
        {"client_id": "known-client"},
    ],
)
def test_a_code_with_anything_wrong_is_worth_nothing(web: httpx.Client, change: dict[str, str]) -> None:
    client = register(web)
    refused = exchange(web, client, code_of(web, client), **change)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_a_code_that_is_used_twice_undoes_the_login(web: httpx.Client) -> None:
    client = register(web)
    code = code_of(web, client)
    token = exchange(web, client, code).json()["access_token"]
    assert exchange(web, client, code).status_code == 400
    assert models(web, token) == 401


def test_a_refresh_token_that_is_used_twice_undoes_the_login(web: httpx.Client) -> None:
    client = register(web)
    first = exchange(web, client, code_of(web, client)).json()
    second = renew(web, client, first["refresh_token"]).json()
    assert renew(web, client, first["refresh_token"]).json()["error"] == "invalid_grant"
    assert models(web, second["access_token"]) == 401
    assert renew(web, client, second["refresh_token"]).status_code == 400


def test_a_token_ends_when_it_was_said_to(web: httpx.Client, gateway: FakeGateway) -> None:
    client = register(web)
    token = exchange(web, client, code_of(web, client)).json()["access_token"]
    gateway.advance(3590)
    assert models(web, token) == 200
    gateway.advance(11)
    assert models(web, token) == 401


def test_who_asks_too_often_is_told_to_slow_down(web: httpx.Client, gateway: FakeGateway) -> None:
    device = web.post("/oauth/device", data={"client_id": "known-client"}).json()
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        "client_id": "known-client",
        "device_code": device["device_code"],
    }
    said = []
    for wait in (0, 5, 1, 5):
        gateway.advance(wait)
        said.append(web.post("/oauth/token", data=form).json()["error"])
    assert said == ["slow_down", "authorization_pending", "slow_down", "authorization_pending"]
