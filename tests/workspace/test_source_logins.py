"""The login of a gateway among the sources: it takes the place of keys, and goes with its source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.infra.paths import DataFolder
from app.providers.oauth import Client, Grant
from app.providers.sources import SourceConfig, SourceKind
from app.workbench import Cabinet, open_cabinet
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.source_keys import add_source_with_keys, remove_source_with_keys
from app.workspace.source_logins import keep_login, load_gateway

pytestmark = pytest.mark.anyio

GRANT = Grant(
    "login_1", "https://gate.example", "https://gate.example/token", Client("c"), 0.0, "at-1", "rt-1"
)


@pytest.fixture
async def cabinet(tmp_path: Path) -> AsyncIterator[Cabinet]:
    async with open_cabinet(DataFolder(tmp_path / "data"), environment={}) as opened:
        yield opened


def add(cabinet: Cabinet, kind: SourceKind = "gateway", url: str = "https://gate.example/v1") -> None:
    source = SourceConfig("gate", kind, url, ("m",))
    add_source_with_keys(cabinet.store, cabinet.secrets, source, ["sk-old"], plain_http_confirmed=True)


async def keep(cabinet: Cabinet) -> SourceConfig:
    return await keep_login(cabinet.store, cabinet.secrets, cabinet.logins, "gate", GRANT)


@pytest.mark.parametrize("url", ["https://gate.example/v1", "http://gate.example/v1"])
async def test_a_login_takes_the_place_of_keys(cabinet: Cabinet, url: str) -> None:
    add(cabinet, url=url)
    changed = await keep(cabinet)
    assert changed == load_gateway(cabinet.store, "gate")
    assert (changed.keys, changed.base_url, changed.models) == (("login/gate",), url, ("m",))
    assert cabinet.secrets.names() == ("login/gate",)
    assert await cabinet.logins.find("gate") == GRANT


async def test_a_login_again_stays_the_one_secret(cabinet: Cabinet) -> None:
    add(cabinet)
    await keep(cabinet)
    assert (await keep(cabinet)).keys == ("login/gate",)
    assert cabinet.secrets.names() == ("login/gate",)


async def test_a_login_goes_with_its_source(cabinet: Cabinet) -> None:
    add(cabinet)
    await keep(cabinet)
    remove_source_with_keys(cabinet.store, cabinet.secrets, "gate")
    assert cabinet.secrets.names() == ()


async def test_nothing_is_kept_for_a_source_that_takes_keys_or_is_gone(cabinet: Cabinet) -> None:
    with pytest.raises(NotFound):
        await keep(cabinet)
    add(cabinet, "openai")
    with pytest.raises(InvalidSource, match="of the kind openai, which takes a key"):
        await keep(cabinet)
    assert not any(name.startswith("login/") for name in cabinet.secrets.names())
