"""Static files: two scripts and a stylesheet, named by what is in them."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from app.infra.paths import asset_root
from app.web.assets import Assets
from tests.web.asgi import Got, ask

pytestmark = pytest.mark.anyio


async def get(assets: Assets, path: str, *headers: tuple[str, str]) -> Got:
    return await ask(Starlette(routes=[Route("/static/{name}", assets.respond)]), "GET", path, headers)


@pytest.fixture(scope="module")
def assets() -> Assets:
    return Assets(asset_root("static"))


async def test_a_bundle_is_sent_packed_where_the_browser_takes_it(assets: Assets) -> None:
    packed = await get(assets, assets.script.url, ("accept-encoding", "gzip, br"))
    plain = await get(assets, assets.script.url)
    assert packed.header("content-encoding") == "gzip"
    assert plain.header("content-encoding") is None
    assert gzip.decompress(packed.body) == plain.body == assets.script.body
    assert packed.header("vary") == plain.header("vary") == "Accept-Encoding"


async def test_a_bundle_may_be_kept_for_ever_and_says_what_it_is(assets: Assets) -> None:
    types = {
        assets.styles.url: "text/css; charset=utf-8",
        assets.script.url: "text/javascript; charset=utf-8",
    }
    for url, media_type in types.items():
        got = await get(assets, url)
        assert got.header("content-type") == media_type
        assert got.header("cache-control") == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    "name", ["plancia.css", "htmx.js", "..%2fbase.html", "%2e%2e%2f%2e%2e%2fpyproject.toml", "README.md"]
)
async def test_nothing_else_is_served(assets: Assets, name: str) -> None:
    assert (await get(assets, f"/static/{name}")).status == 404


async def test_a_changed_file_gets_another_address(assets: Assets, tmp_path: Path) -> None:
    shutil.copytree(asset_root("static"), tmp_path, dirs_exist_ok=True)
    assert Assets(tmp_path).styles.url == assets.styles.url
    with (tmp_path / "css" / "base.css").open("a", encoding="utf-8") as file:
        file.write("p { color: red; }\n")
    assert Assets(tmp_path).styles.url != assets.styles.url
    assert Assets(tmp_path).script.url == assets.script.url


def test_a_missing_file_is_noticed_at_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"tokens\.css"):
        Assets(tmp_path)
