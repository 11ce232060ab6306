"""Names under which this machine may be called."""

from __future__ import annotations

import socket

import pytest

from app.infra.addresses import names_of


@pytest.mark.parametrize("host", ["127.0.0.1", "192.168.1.20", "plancia.lan"])
def test_a_host_of_its_own_is_called_by_that_alone(host: str) -> None:
    assert names_of(host) == (host,)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_on_all_addresses_is_called_by_the_names_of_this_machine(host: str) -> None:
    names = names_of(host)
    assert socket.gethostname().lower() in names
    assert host not in names
    assert len(set(names)) == len(names)
