"""``plancia provider add --login`` and ``plancia provider login``: led to a gateway and back."""

from __future__ import annotations

import re
import signal
import socket
from contextlib import closing

import pytest

from app.infra.secrets import SecretStore
from app.providers.oauth import Grant, read_grant
from tests.commands.seat import Ran, Seat
from tests.fakes.browser import BROWSER
from tests.fakes.gateway_client import FakeGateway

SCREEN = {"DISPLAY": ":0", "BROWSER": BROWSER}


@pytest.fixture(autouse=True)
def quick(gateway: FakeGateway) -> None:
    """Codes may be asked for at once, and whoever has them has entered them."""
    gateway.rule(interval=0.01, obliging=True)


def add(seat: Seat, gateway: FakeGateway, *more: str) -> Ran:
    return seat("provider", "add", "gate", "--kind", "gateway", "--base-url", gateway.base_url, *more)


def kept(seat: Seat) -> Grant:
    grant = read_grant(SecretStore(seat.folder.secrets).get("login/gate") or "")
    assert grant is not None
    return grant


def test_a_gateway_is_added_with_a_login_by_code(seat: Seat, gateway: FakeGateway) -> None:
    ran = add(seat, gateway, "--device")
    assert ran.code == 0, ran.err
    said = re.search(r"Open (\S+) in any browser and enter the code (\S+) within 15 minutes\.", ran.out)
    assert said is not None
    assert said[1] == f"{gateway.url}/oauth/activate"
    assert f"With the code filled in: {said[1]}?user_code={said[2]}" in ran.out
    assert "Logged in to gate." in ran.out
    assert "gate answers and lists 1 model." in ran.out
    assert seat("provider", "list").out.splitlines()[1].split()[-1] == "login"
    answer = seat("run", "Hello", "--model", "gate/fake-model")
    assert answer.code == 0, answer.err
    assert "You said: Hello" in answer.out


def test_a_gateway_is_added_with_a_login_by_browser(seat: Seat, gateway: FakeGateway) -> None:
    words = ("provider", "add", "gate", "--kind", "gateway", "--base-url", gateway.base_url, "--login")
    ran = seat.wait(seat.start(*words, **SCREEN))
    assert ran.code == 0, ran.err
    assert f"{gateway.url}/oauth/authorize?" in ran.out
    assert "Logged in to gate." in ran.out
    assert [one["grant_type"] for one in gateway.asked()] == ["authorization_code"]


def test_without_a_screen_a_login_is_by_code_where_that_is_offered(seat: Seat, gateway: FakeGateway) -> None:
    ran = add(seat, gateway, "--login")
    assert ran.code == 0, ran.err
    assert "enter the code" in ran.out


def test_a_browser_that_does_not_open_is_said_and_the_address_waited_for(
    seat: Seat, gateway: FakeGateway
) -> None:
    gateway.rule(device=False)
    words = ("provider", "add", "gate", "--kind", "gateway", "--base-url", gateway.base_url, "--login")
    process = seat.start(*words)
    assert process.stdout is not None
    assert process.stderr is not None
    while not (line := process.stdout.readline().decode()).startswith("http"):
        assert line
    assert process.stderr.readline().decode().startswith("No browser could be opened here.")
    browser = seat_browser(line.strip())
    ran = seat.wait(process)
    assert (browser, ran.code) == (200, 0)
    assert "Logged in to gate." in ran.out


def seat_browser(url: str) -> int:
    import httpx

    return httpx.get(url, follow_redirects=True, trust_env=False).status_code


def test_a_login_that_was_declined_leaves_the_source_and_says_what_to_do(
    seat: Seat, gateway: FakeGateway
) -> None:
    gateway.rule(browser_says="access_denied")
    words = ("provider", "add", "gate", "--kind", "gateway", "--base-url", gateway.base_url, "--login")
    ran = seat.wait(seat.start(*words, **SCREEN))
    assert ran.code == 1
    assert ran.err.startswith(
        "It is added, but nobody is logged in to it. The login at gate was declined there."
    )
    assert seat("provider", "list", "--json").json[0]["keys"] == []
    again = seat("provider", "login", "gate", "--device")
    assert again.code == 0, again.err
    assert "gate answers and lists 1 model." in again.out


def test_a_login_again_takes_the_place_of_the_one_before(seat: Seat, gateway: FakeGateway) -> None:
    add(seat, gateway, "--device", "--client-id", "known-client", "--scope", "models")
    first = kept(seat)
    gateway.end()
    refused = seat("provider", "test", "gate")
    assert refused.code == 1
    assert "Log in again: `plancia provider login gate`" in refused.err
    assert seat("provider", "login", "gate", "--device").code == 0
    second = kept(seat)
    assert second.id != first.id
    assert (second.client.id, second.scope) == ("known-client", "models")
    assert seat("provider", "test", "gate").code == 0


def test_a_login_takes_the_place_of_a_key(seat: Seat, gateway: FakeGateway) -> None:
    seat.environment["K"] = "sk-a-key-0123456789"
    add(seat, gateway, "--key-env", "K")
    assert seat("provider", "login", "gate", "--device").code == 0
    assert SecretStore(seat.folder.secrets).names() == ("login/gate",)


def test_a_source_that_is_removed_takes_its_login_along(seat: Seat, gateway: FakeGateway) -> None:
    add(seat, gateway, "--device")
    assert seat("provider", "remove", "gate").code == 0
    assert SecretStore(seat.folder.secrets).names() == ()


def test_a_port_that_is_taken_is_said(seat: Seat, gateway: FakeGateway) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        gateway.rule(device=False)
        ran = add(seat, gateway, "--login", "--redirect-port", port)
    assert ran.code == 1
    assert f"port {port}, which another program uses" in ran.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--device", "--issuer", "http://id.example"), "is not an https:// address"),
        (("--device", "--client-id", "nobody"), "does not know this client id"),
        (("--login", "--device"), "not allowed with"),
        (("--issuer", "https://id.example"), "add --login"),
        (("--login", "--key-env", "K"), "either a key or a login"),
        (("--login", "--redirect-port", "70000"), "a port is a whole number"),
    ],
)
def test_what_cannot_be_is_said(seat: Seat, gateway: FakeGateway, more: tuple[str, ...], said: str) -> None:
    ran = add(seat, gateway, *more)
    assert ran.code in (1, 2)
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_another_issuer_than_the_one_that_was_asked_is_refused(seat: Seat, gateway: FakeGateway) -> None:
    gateway.rule(issuer="https://other.example")
    ran = add(seat, gateway, "--device")
    assert ran.code == 1
    assert "says that it is another one, https://other.example" in ran.err


def test_only_gateways_are_logged_in_to(seat: Seat, gateway: FakeGateway) -> None:
    ran = seat("provider", "add", "x", "--kind", "openai", "--base-url", gateway.base_url, "--login")
    assert ran.code == 2
    assert seat("provider", "add", "x", "--kind", "openai", "--base-url", gateway.base_url).code == 0
    ran = seat("provider", "login", "x")
    assert ran.code == 2
    assert "of the kind openai, which takes a key" in ran.err
    assert seat("provider", "login", "nobody").code == 2


class TestAProcessThatIsKilled:
    """In the middle of a renewal, by SIGKILL."""

    @pytest.fixture(autouse=True)
    def logged_in(self, seat: Seat, gateway: FakeGateway) -> None:
        assert add(seat, gateway, "--device").code == 0
        gateway.expire()

    def kill_at(self, seat: Seat, gateway: FakeGateway, hold: str) -> None:
        process = seat.start("provider", "test", "gate")
        gateway.wait_held(hold)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        gateway.rule(hold=None)
        gateway.release(hold)

    def test_before_the_gateway_renews_loses_nothing(self, seat: Seat, gateway: FakeGateway) -> None:
        gateway.rule(hold="before")
        self.kill_at(seat, gateway, "token")
        assert seat("provider", "test", "gate").code == 0

    def test_before_the_new_token_is_used_loses_nothing(self, seat: Seat, gateway: FakeGateway) -> None:
        models = {"object": "list", "data": [{"id": "fake-model", "object": "model"}]}
        gateway.script({"status": 200, "body": models, "before": [{"hold": "models"}]}, path="/models")
        self.kill_at(seat, gateway, "models")
        assert gateway.renewals() == 1
        assert seat("provider", "test", "gate").code == 0
        assert gateway.renewals() == 1

    def test_before_the_new_token_arrives_is_told_to_log_in(self, seat: Seat, gateway: FakeGateway) -> None:
        """The gateway has given it away already; only it could give it again."""
        gateway.rule(hold="after")
        self.kill_at(seat, gateway, "token")
        ran = seat("provider", "test", "gate")
        assert ran.code == 1
        assert "Log in again" in ran.err
        assert seat("provider", "login", "gate", "--device").code == 0
