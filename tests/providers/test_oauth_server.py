"""Where a gateway's logins are made, and what is not believed of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.engine.errors import ProviderError
from app.providers.oauth_questions import Questions, checked_address
from app.providers.oauth_server import LoginService, find_login_service
from tests.fakes.gateway_client import FakeGateway

pytestmark = pytest.mark.anyio


class Web(httpx.AsyncBaseTransport):
    """Pages of hosts that are not there: JSON by address, 404 for all else."""

    def __init__(self, pages: dict[str, Any]) -> None:
        self.pages = pages
        self.visited: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        self.visited.append(url)
        if url not in self.pages:
            return httpx.Response(404, json={"detail": "Not Found"})
        page = self.pages[url]
        return page if isinstance(page, httpx.Response) else httpx.Response(200, json=page)


def about(issuer: str, **more: Any) -> dict[str, Any]:
    return {"issuer": issuer, "token_endpoint": f"{issuer}/token", **more}


async def find(web: Web, base_url: str, issuer: str = "") -> LoginService:
    async with httpx.AsyncClient(transport=web) as client:
        return await find_login_service(Questions("gate", lambda: client), base_url, issuer)


GATE = "https://gate.example"
ISSUER = "https://id.example/realms/work"


@pytest.mark.parametrize(
    ("address", "issuer"),
    [
        (f"{GATE}/.well-known/oauth-authorization-server", GATE),
        (f"{GATE}/.well-known/openid-configuration", GATE),
        (f"{GATE}/.well-known/oauth-authorization-server/team", f"{GATE}/team"),
        (f"{GATE}/team/.well-known/openid-configuration", f"{GATE}/team"),
        (f"{GATE}/.well-known/openid-configuration/team", f"{GATE}/team"),
    ],
)
async def test_the_gateway_describes_itself(address: str, issuer: str) -> None:
    found = await find(Web({address: about(issuer)}), f"{GATE}/team/v1")
    assert (found.issuer, found.token) == (issuer, f"{issuer}/token")


@pytest.mark.parametrize("end", ["/v1", ""])
async def test_the_gateway_names_its_login_service(end: str) -> None:
    web = Web(
        {
            f"{GATE}/.well-known/oauth-protected-resource{end}": {
                "resource": f"{GATE}/v1",
                "authorization_servers": [ISSUER],
                "scopes_supported": ["models", "chat"],
            },
            "https://id.example/.well-known/oauth-authorization-server/realms/work": about(ISSUER),
        }
    )
    found = await find(web, f"{GATE}/v1")
    assert (found.issuer, found.resource, found.scope) == (ISSUER, f"{GATE}/v1", "models chat")


async def test_the_user_names_the_login_service() -> None:
    web = Web({f"{ISSUER}/.well-known/openid-configuration": about(ISSUER)})
    found = await find(web, f"{GATE}/v1", ISSUER)
    assert (found.issuer, found.resource) == (ISSUER, "")
    assert not any(url.startswith(GATE) for url in web.visited)


@pytest.mark.parametrize("named", [f"{ISSUER}/", ISSUER])
async def test_a_final_slash_makes_no_other_issuer(named: str) -> None:
    web = Web({f"{ISSUER}/.well-known/openid-configuration": {**about(ISSUER), "issuer": named}})
    assert (await find(web, GATE, ISSUER)).issuer == named


@pytest.mark.parametrize(
    "named", ["https://evil.example", "https://id.example", f"{ISSUER}x", "http://id.example/realms/work"]
)
async def test_a_service_that_bears_another_name_is_refused(named: str) -> None:
    web = Web({f"{ISSUER}/.well-known/openid-configuration": about(named)})
    with pytest.raises(ProviderError, match="says that it is another one"):
        await find(web, GATE, ISSUER)


async def test_a_gateway_that_names_itself_as_another_host_is_not_believed() -> None:
    resource = {"resource": "https://bank.example", "authorization_servers": [ISSUER]}
    web = Web(
        {
            f"{GATE}/.well-known/oauth-protected-resource": resource,
            f"{ISSUER}/.well-known/openid-configuration": about(ISSUER),
        }
    )
    with pytest.raises(ProviderError, match="says how to log in"):
        await find(web, GATE)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        httpx.Response(200, text="<html>Sign in</html>"),
        httpx.Response(200, json=["list"]),
        httpx.Response(200, json={"token_endpoint": f"{GATE}/token"}),
        httpx.Response(302, headers={"location": "https://elsewhere.example"}),
        httpx.Response(200, content=b"[" * 300_000),
        httpx.Response(200, content=b'{"issuer": "' + b"x" * 300_000 + b'"}'),
    ],
)
async def test_a_gateway_that_says_nothing_is_said(answer: httpx.Response | None) -> None:
    pages = {} if answer is None else {f"{GATE}/.well-known/oauth-authorization-server": answer}
    with pytest.raises(ProviderError, match="--issuer"):
        await find(Web(pages), f"{GATE}/v1")


@pytest.mark.parametrize(
    "field",
    ["token_endpoint", "authorization_endpoint", "device_authorization_endpoint", "registration_endpoint"],
)
@pytest.mark.parametrize(
    "address",
    [
        "http://gate.example/x",
        "http://127.0.0.1:80/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "-a calculator",
        "https://gate.example/$(id) x",
        "https://user:word@gate.example/x",
        "https://gate.example/x#part",
        "https:///x",
        "//gate.example/x",
        ["https://gate.example/x"],
        7,
    ],
)
async def test_no_secret_goes_to_an_unsafe_address(field: str, address: Any) -> None:
    web = Web({f"{GATE}/.well-known/openid-configuration": {**about(GATE), field: address}})
    with pytest.raises(ProviderError, match="cannot be used"):
        await find(web, GATE)


@pytest.mark.parametrize(
    "issuer",
    [
        "http://id.example",
        "http://127.0.0.1.evil.example",
        "ftp://id.example",
        "id.example",
        "https://id.example?x=y",
        "http://localhost.evil.example",
        "http://0x7f.1.example",
        "https://id.example\\@evil.example",
        "",
    ],
)
async def test_an_issuer_without_https_is_refused(issuer: str) -> None:
    web = Web({})
    with pytest.raises(ProviderError) as refused:
        await find(web, "http://gate.example/v1", issuer)
    assert refused.value.kind == "local"
    assert not any("id.example" in url or "evil" in url for url in web.visited)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:9/x", GATE])
def test_this_machine_may_be_plain(address: str) -> None:
    assert checked_address("gate", "It", address, near=True) == address


async def test_the_fake_is_found_as_a_real_one(gateway: FakeGateway, http_client: httpx.AsyncClient) -> None:
    questions = Questions("gate", lambda: http_client)
    found = await find_login_service(questions, gateway.base_url)
    assert found.issuer == gateway.url
    assert found.names_itself
    gateway.rule(resource=gateway.base_url)
    assert (await find_login_service(questions, gateway.base_url)).scope == "models"
    gateway.rule(describes="openid-configuration", resource=None)
    assert (await find_login_service(questions, gateway.base_url)).issuer == gateway.url


async def test_nobody_there_is_said_as_such(http_client: httpx.AsyncClient) -> None:
    with pytest.raises(ProviderError, match="Nothing answers at") as failed:
        await find_login_service(Questions("gate", lambda: http_client), "http://127.0.0.1:9/v1")
    assert failed.value.kind == "unreachable"
