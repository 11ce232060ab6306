"""The socket of the page: which addresses are near, which link reaches it, why it cannot be had."""

from __future__ import annotations

import pytest

from app.commands.errors import CommandError, UsageError
from app.commands.sockets import PORT, PortTaken, chosen_port, is_loopback, listen, url_of


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "localhost", "::1"])
def test_what_only_this_machine_reaches_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "a..b"])
def test_everything_else_is_not(host: str) -> None:
    assert not is_loopback(host)


def test_port_0_takes_a_free_one() -> None:
    with listen("127.0.0.1", 0) as one, listen("127.0.0.1", 0) as other:
        assert len({0, one.getsockname()[1], other.getsockname()[1]}) == 3


def test_a_port_is_taken_once_somebody_waits_there() -> None:
    with listen("127.0.0.1", 0) as one, pytest.raises(PortTaken):
        listen("127.0.0.1", one.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8484"),
        ("192.168.1.2", "http://192.168.1.2:8484"),
        ("0.0.0.0", "http://127.0.0.1:8484"),
        ("::1", "http://[::1]:8484"),
        ("::", "http://[::1]:8484"),
    ],
)
def test_the_link_is_one_that_this_machine_can_open(host: str, url: str) -> None:
    assert url_of(host, 8484) == url


@pytest.mark.parametrize("host", ["192.0.2.1", "a..b", "x" * 300])
def test_an_address_that_is_not_ours_is_refused_in_words(host: str) -> None:
    with pytest.raises(CommandError, match="Use --host"):
        listen(host, 0)


def test_the_port_is_what_was_typed_else_the_variable_else_the_usual_one() -> None:
    assert chosen_port(0, {"PLANCIA_PORT": "9"}) == 0
    assert chosen_port(None, {"PLANCIA_PORT": "9"}) == 9
    assert chosen_port(None, {"PLANCIA_PORT": ""}) == PORT
    assert chosen_port(None, {}) == PORT


@pytest.mark.parametrize("value", ["abc", "-1", "65536", "80.5"])
def test_a_variable_that_is_no_port_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=r"^PLANCIA_PORT: a port is a whole number from 0 to 65535"):
        chosen_port(None, {"PLANCIA_PORT": value})
