"""Settings, web: an engine is chosen with what it needs, its key is never shown, and a test says what is wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.tools import ToolOutput
from app.hands.search_engines import Brave, DuckDuckGo, SearchEngine, SearXNG, Tavily
from app.web.settings_web import result_of
from app.workspace.settings import get_setting, reset_setting
from app.workspace.web_search import forget_key
from tests.fakes.web_server import Serve, page, serving
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.model_settings import field, note, words
from tests.web.pages import Open, open_page

pytestmark = pytest.mark.anyio

HERE = "/settings/web"
KEY = "BSA-0123456789abcdef"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Open]:
    folder = tmp_path_factory.mktemp("web")
    async with open_page(folder, TAVILY_API_KEY="tvly-of-the-environment") as opened:
        yield opened


@pytest.fixture
async def opened(shared: Open) -> Open:
    for key in ("web.search", "web.searxng_url"):
        reset_setting(shared.bench.store, key)
    for engine in ("brave", "tavily"):
        forget_key(shared.bench.secrets, engine)
    return shared


async def post(opened: Open, path: str = "", **fields: str) -> Got:
    got = await opened.browser.post(
        HERE + path, {name.replace("__", "."): text for name, text in fields.items()}
    )
    assert KEY not in got.text + str(got.headers)
    return got


async def shown(opened: Open) -> str:
    got = await opened.browser.get(HERE)
    assert got.status == 200
    assert KEY not in got.text
    assert "tvly-of-the-environment" not in got.text
    return words(LivePage.parsed(got.text))


def chosen(opened: Open) -> tuple[str, str]:
    store = opened.bench.store
    return str(get_setting(store, "web.search")), str(get_setting(store, "web.searxng_url"))


async def test_an_engine_is_chosen_with_its_key_which_is_never_shown_again(opened: Open) -> None:
    got = await post(opened, web__search="brave", key__brave=f'"{KEY}"')
    assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
    assert chosen(opened)[0] == "brave"
    assert opened.bench.secrets.get("web/brave") == KEY
    assert "One is stored, encrypted. Empty keeps it." in await shown(opened)


async def test_an_empty_field_keeps_the_key_and_a_tick_forgets_it(opened: Open) -> None:
    await post(opened, web__search="brave", key__brave=KEY)
    await post(opened, web__search="brave", key__brave="")
    assert opened.bench.secrets.get("web/brave") == KEY
    refused = await post(opened, web__search="brave", forget__brave="yes")
    assert (refused.status, opened.bench.secrets.get("web/brave")) == (422, KEY)
    await post(opened, web__search="duckduckgo", forget__brave="yes")
    assert opened.bench.secrets.get("web/brave") is None


async def test_an_engine_without_what_it_needs_is_not_chosen(opened: Open) -> None:
    got = await post(opened, web__search="brave")
    assert got.status == 422
    assert note(got, "key.brave") == "Brave needs a key. Enter it, or choose another engine."
    got = await post(opened, web__search="searxng", web__searxng_url=" ")
    assert got.status == 422
    assert "needs the address of a server" in note(got, "web.searxng_url")
    assert chosen(opened) == ("duckduckgo", "")


async def test_a_key_of_the_environment_is_enough_and_said(opened: Open) -> None:
    assert "TAVILY_API_KEY holds one." in await shown(opened)
    assert (await post(opened, web__search="tavily")).status == 303
    assert chosen(opened)[0] == "tavily"


@pytest.mark.parametrize("key", ["two words", "schlüssel", "x" * 4_001])
async def test_what_cannot_be_a_key_is_said_and_nothing_is_stored(key: str, opened: Open) -> None:
    got = await post(opened, web__search="brave", key__brave=key, web__searxng_url="http://127.0.0.1:8888")
    assert got.status == 422
    assert "This cannot be a key" in note(got, "key.brave")
    assert field(got, "web.searxng_url").attributes["value"] == "http://127.0.0.1:8888"
    assert field(got, "key.brave").attributes.get("value") is None
    assert chosen(opened) == ("duckduckgo", "")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:8888", "ftp://a.example", "http://", "http://me:pw@a.example", "javascript:alert(1)"],
)
async def test_an_address_that_is_none_is_refused_in_words(address: str, opened: Open) -> None:
    got = await post(opened, web__search="duckduckgo", web__searxng_url=address)
    assert got.status == 422
    assert "takes an address like http://127.0.0.1:8888" in note(got, "web.searxng_url")
    assert chosen(opened) == ("duckduckgo", "")


async def test_an_engine_that_is_none_is_refused(opened: Open) -> None:
    assert (await post(opened, web__search="<b>")).status == 422
    assert chosen(opened)[0] == "duckduckgo"


async def outcome(opened: Open, serve: Serve) -> tuple[bool, str]:
    """What the Test button says of a SearXNG server that answers like this."""
    async with serving({"/search": serve}) as website:
        await post(opened, web__search="searxng", web__searxng_url=f"http://127.0.0.1:{website.port}")
        got = await post(opened, "/test")
    assert got.status == 200
    (said,) = [each for each in LivePage.parsed(got.text).walk() if each.attributes.get("role") == "status"
               and "outcome" in each.attributes.get("class", "")]  # fmt: skip
    state = next(each for each in said.all("p") if "busy" not in each.attributes["class"].split())
    return "done" in state.attributes["class"].split(), words(state)


def answered(*results: dict[str, str]) -> Serve:
    return page(json.dumps({"results": list(results)}), "application/json")


async def test_a_test_asks_the_engine_that_is_saved(opened: Open) -> None:
    hit = {"title": "Rain", "url": "https://a.example/", "content": "Tomorrow."}
    assert await outcome(opened, answered(hit)) == (True, "SearXNG answers.")


async def test_a_test_says_in_words_what_is_wrong_and_what_to_do(opened: Open) -> None:
    ok, empty = await outcome(opened, answered())
    assert (ok, empty) == (True, "SearXNG answers, but found nothing for “weather”.")
    ok, forbidden = await outcome(opened, page("no", status=403))
    assert not ok
    assert "gives no JSON. " in forbidden
    assert "has to list json" in forbidden
    ok, broken = await outcome(opened, page("<h1>hello</h1>", status=200))
    assert not ok
    assert "answered in a form that is not understood here" in broken
    assert broken.endswith("Check its address, and that the server runs.")


async def test_a_test_of_what_lacks_a_key_says_so(opened: Open) -> None:
    await post(opened, web__search="brave", key__brave=KEY)
    forget_key(opened.bench.secrets, "brave")
    got = words(LivePage.parsed((await post(opened, "/test")).text))
    assert "Brave cannot search: its key is not set. Enter it above, or choose another engine." in got


@pytest.mark.parametrize(
    ("engine", "output", "said"),
    [
        (
            DuckDuckGo(),
            ToolOutput.failed("E_DENIED", "DuckDuckGo did not answer: it asks. Fetch a page.", transient=True),
            "DuckDuckGo did not answer: it asks. Try again later, or choose another engine.",
        ),
        (
            Tavily(KEY),
            ToolOutput.failed("E_DENIED", "Tavily does not take its key (HTTP 401 Unauthorized). Ask the user."),
            "Tavily does not take its key (HTTP 401 Unauthorized). Enter its key again.",
        ),
        (
            Brave(KEY),
            ToolOutput.failed("E_FAILED", "Brave takes no more searches now (HTTP 429). Try again.", transient=True),
            "Brave takes no more searches now (HTTP 429). Try again later; check the network if it goes on.",
        ),
        (
            SearXNG("http://localhost:1"),
            ToolOutput.failed("E_FAILED", "localhost did not answer (refused). Try.", transient=True),
            "localhost did not answer (refused). Check its address, and that the server runs.",
        ),
    ],
)  # fmt: skip
def test_what_a_member_would_be_told_is_told_to_the_user_with_what_he_can_do(
    engine: SearchEngine, output: ToolOutput, said: str
) -> None:
    assert result_of(engine, output).sentence == said


async def test_without_a_data_folder_of_keys_that_can_be_read_the_page_still_stands(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        (opened.bench.folder.secrets).write_text("damaged")
        assert (await opened.browser.get(HERE)).status == 200
        refused = await opened.browser.post(HERE, {"web.search": "brave"})
        assert refused.status == 422
