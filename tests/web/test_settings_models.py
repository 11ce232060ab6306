"""Sources of models on their page: added, tested, ordered, removed, and what is said where that does not go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.providers.sources import SourceConfig
from app.workspace.model_sources import list_sources
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail, page
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.pages import Open, open_page
from tests.web.readers import Reader, expect_same
from tests.web.tree import Element

pytestmark = pytest.mark.anyio

KEY = "sk-proj-0123456789abcdef"
HERE = "/settings/models"


class Models:
    def __init__(self, opened: Open, llm: FakeLLM) -> None:
        self.opened = opened
        self.llm = llm

    async def post(self, path: str = "", **fields: str) -> Got:
        got = await self.opened.browser.post(HERE + path, fields)
        assert KEY not in got.text + str(got.headers)
        return got

    async def add(self, **fields: str) -> Got:
        return await self.post(
            **{"kind": "openai", "name": "lab", "base_url": self.llm.base_url, "key": KEY, **fields}
        )

    async def rows(self) -> list[str]:
        """The listed sources, each as what stands in its row."""
        got = await self.opened.browser.get(HERE)
        assert KEY not in got.text
        return [_words(each) for each in _listed(LivePage.parsed(got.text))]

    @property
    def sources(self) -> tuple[SourceConfig, ...]:
        return list_sources(self.opened.bench.store)

    @property
    def names(self) -> list[str]:
        return [source.name for source in self.sources]

    @property
    def keys(self) -> list[str | None]:
        secrets = self.opened.bench.secrets
        return [secrets.get(name) for name in secrets.names()]


def _listed(page: Element) -> list[Element]:
    return [each for each in page.all("li") if each.id.startswith("source-")]


def _words(element: Element) -> str:
    return " ".join(element.text.split())


def field(got: Got, name: str) -> Element:
    page = LivePage.parsed(got.text)
    return next(
        each
        for each in page.walk()
        if each.attributes.get("name") == name and each.tag in ("input", "select")
    )


def note(got: Got, name: str) -> str:
    """What is said beside a field, which is marked as wrong."""
    page = LivePage.parsed(got.text)
    element = field(got, name)
    assert element.attributes.get("aria-invalid") == "true", f"nothing is wrong with {name}"
    found = page.find(element.attributes["aria-describedby"])
    assert found is not None
    return _words(found)


def state_of(got: Got) -> tuple[bool, str]:
    """What came of the Test button of the form."""
    form = next(each for each in LivePage.parsed(got.text).all("form") if each.attributes.get("aria-label"))
    (state,) = [each for each in form.walk() if each.attributes.get("role") == "status"]
    return "done" in state.attributes["class"].split(), _words(state)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Open]:
    async with open_page(tmp_path_factory.mktemp("models"), KEY_HERE=f" {KEY}\n", EMPTY=" ") as opened:
        yield opened


@pytest.fixture
async def models(opened: Open, llm: FakeLLM) -> AsyncIterator[Models]:
    """The settings of a Plancia without any source; each test leaves it so."""
    models = Models(opened, llm)
    yield models
    for name in models.names:
        await models.post(f"/{name}/remove")
    assert models.keys == []


async def test_without_a_source_the_page_says_what_answers(models: Models) -> None:
    got = await models.opened.browser.get(HERE)
    assert "The demo model answers until one is set up: it is a script, not an AI." in got.text
    assert models.opened.bench.secrets.where in LivePage.parsed(got.text).text


async def test_a_source_is_added_with_its_key_and_its_list_of_models(models: Models) -> None:
    models.llm.knows(models=["small", "embed-1", "big"], keys=[KEY])
    got = await models.add()
    assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
    landed = LivePage.parsed((await models.opened.browser.follow(got)).text)
    toast = landed.find("toast")
    assert toast is not None
    assert _words(toast).startswith("Saved.")
    (source,) = models.sources
    assert source.models == ("big", "small", "embed-1")
    assert models.keys == [KEY]
    assert not any(KEY.encode() in each.read_bytes() for each in _files(models.opened.bench.folder.root))
    (row,) = _listed(landed)
    assert _words(row.all("h3")[0]) == "labOpenAI-compatible address"
    assert [_words(each) for each in row.all("span")[-2:]] == [models.llm.base_url, "big, small, embed-1"]


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def test_open_pages_offer_the_new_model_and_lose_the_removed_one(models: Models) -> None:
    models.llm.knows(models=["big"])
    room = models.opened.conversation()
    reader = await Reader.loads(models.opened, room)
    await models.add()
    fresh = await expect_same(models.opened, room, reader)
    assert "lab/big" in fresh.element("model-picker").text
    await models.post("/lab/remove")
    fresh = await expect_same(models.opened, room, reader)
    assert "Demo model: scripted, not an AI" in fresh.element("model-picker").text


async def test_the_form_is_tested_before_anything_is_saved(models: Models) -> None:
    models.llm.knows(models=["big", "small"], keys=[KEY])
    assert state_of(await models.add(act="test")) == (True, "lab answers and lists 2 models.")
    assert (models.sources, models.keys) == ((), [])
    got = await models.add(act="test", key="sk-another-key-0000")
    assert state_of(got) == (
        False,
        "lab did not accept the key. Enter it again under Settings, Models.",
    )
    assert field(got, "base_url").attributes["value"] == models.llm.base_url
    assert field(got, "name").attributes["value"] == "lab"
    assert field(got, "key").attributes.get("value", "") == ""


async def test_a_server_that_does_not_answer_as_one_is_said_in_words(models: Models) -> None:
    assert "127.0.0.1:9" in state_of(await models.add(act="test", base_url="http://127.0.0.1:9/v1"))[1]
    models.llm.script(page(), path="/v1/models")
    ok, said = state_of(await models.add(act="test"))
    assert not ok
    assert said.startswith("A web page came back from 127.0.0.1")
    models.llm.script(fail(500, f"<b>broken</b> key {KEY}"), path="/v1/models")
    got = await models.add(act="test")
    assert not state_of(got)[0]
    assert "<b>broken" not in got.text


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1//"])
async def test_an_address_is_taken_with_and_without_its_end(models: Models, tail: str) -> None:
    models.llm.knows(models=["big"])
    assert state_of(await models.add(act="test", base_url=f" {models.llm.url}{tail} ")) == (
        True,
        "lab answers and lists 1 model.",
    )
    assert (await models.add(base_url=models.llm.url + tail)).status == 303
    assert {request["path"] for request in models.llm.requests()} <= {"/v1/models", "/models"}


@pytest.mark.parametrize("key", [f"  {KEY}  ", f'"{KEY}"', f"'{KEY}'", f"{KEY}\n"])
async def test_what_a_copy_put_around_a_key_is_left_out(models: Models, key: str) -> None:
    models.llm.knows(keys=[KEY])
    assert state_of(await models.add(act="test", key=key))[0]
    assert (await models.add(key=key)).status == 303
    assert models.keys == [KEY]


@pytest.mark.parametrize("key", ["two words", f"{KEY} {KEY}", "ключ", "a\tb", "“quoted”", '""'])
async def test_what_is_no_key_is_refused_without_repeating_it(models: Models, key: str) -> None:
    for act in ("test", "save"):
        got = await models.add(act=act, key=key)
        assert got.status == 422
        assert note(got, "key").startswith("This cannot be a key")
        assert key not in LivePage.parsed(got.text).text
    assert models.llm.requests() == []


async def test_the_key_of_a_variable_is_used_and_stored(models: Models) -> None:
    models.llm.knows(models=["big"], keys=[KEY])
    got = await models.add(act="test", key="", key_env="KEY_HERE")
    assert state_of(got)[0]
    assert field(got, "key_env").attributes["value"] == "KEY_HERE"
    assert (await models.add(key="", key_env="KEY_HERE")).status == 303
    assert models.keys == [KEY]


@pytest.mark.parametrize("name", ["NOT_SET", "EMPTY", KEY, "a b", "=", "x" * 5000])
async def test_a_variable_that_is_not_set_is_refused_and_what_was_typed_there_is_not_shown_again(
    models: Models, name: str
) -> None:
    for act in ("test", "save"):
        got = await models.add(act=act, key="", key_env=name)
        assert got.status == 422
        assert note(got, "key_env").startswith("No variable of this name is set")
        assert field(got, "key_env").attributes["value"] == ""
    assert models.sources == ()


async def test_plain_http_to_another_host_needs_a_word(models: Models) -> None:
    far = {"base_url": "http://models.example.com/v1", "models": "big"}
    for act in ("test", "save"):
        got = await models.add(act=act, **far)
        assert got.status == 422
        box = field(got, "plain_http_confirmed")
        assert "checked" not in box.attributes
        assert box.parent is not None
        assert "would send the key and every text unencrypted" in _words(box.parent)
    assert models.sources == ()
    got = await models.add(**far, name="Not A Name", plain_http_confirmed="yes")
    assert "checked" in field(got, "plain_http_confirmed").attributes
    assert (await models.add(**far, plain_http_confirmed="yes")).status == 303
    assert models.names == ["lab"]


async def test_https_and_this_machine_need_none(models: Models) -> None:
    assert (await models.add(base_url="https://models.example.com/v1", models="big")).status == 303
    assert "plain_http_confirmed" not in (await models.opened.browser.get(HERE)).text


@pytest.mark.parametrize(
    ("wrong", "name", "said"),
    [
        ({"name": ""}, "name", "cannot be the name of a model source"),
        ({"name": "Big Lab"}, "name", "small letters"),
        ({"name": "demo"}, "name", "built-in demo model"),
        ({"base_url": "127.0.0.1:8000"}, "base_url", "is not like https://host/v1"),
        ({"base_url": "ftp://host/v1"}, "base_url", "is not like https://host/v1"),
        ({"base_url": "https://me:secret@host/v1"}, "base_url", "holds a user or a password"),
        ({"base_url": ""}, "base_url", "needs an address"),
        ({"models": "two words"}, "models", "cannot be the name of a model"),
    ],
)
async def test_what_is_wrong_stands_beside_its_field(
    models: Models, wrong: dict[str, str], name: str, said: str
) -> None:
    kind = {"kind": "gateway"} if wrong == {"base_url": ""} else {}
    for act in ("test", "save"):
        got = await models.add(act=act, **{"models": "big", **wrong, **kind})
        assert got.status == 422
        assert said in note(got, name)
        assert field(got, name).attributes["value"] == wrong[name]
    assert (models.sources, models.keys) == ((), [])


async def test_a_kind_that_nobody_knows_is_said_in_words(models: Models) -> None:
    got = await models.add(kind="<b>magic</b>")
    assert got.status == 422
    assert "There is no kind" in LivePage.parsed(got.text).text


async def test_a_name_is_taken_once_and_its_key_stays(models: Models) -> None:
    await models.add(models="big")
    got = await models.add(models="other", key="sk-other-0123456789")
    assert got.status == 422
    assert note(got, "name").startswith('There is a model source "lab" already.')
    assert models.keys == [KEY]
    assert models.sources[0].models == ("big",)


async def test_a_source_whose_server_lists_nothing_wants_its_models_named(models: Models) -> None:
    models.llm.knows(models=[])
    got = await models.add()
    assert note(got, "models") == "lab lists no models. To save it all the same, name its models here."
    assert (await models.add(models=" one , two,one,, ")).status == 303
    assert models.sources[0].models == ("one", "two")


async def test_sources_are_asked_in_the_order_they_are_put_in(models: Models) -> None:
    for name in ("a", "b", "c"):
        await models.add(name=name, models="m")
    assert models.names == ["a", "b", "c"]
    await models.post("/c/up")
    await models.post("/a/down")
    assert models.names == ["c", "a", "b"]
    for path in ("/c/up", "/b/down"):
        assert (await models.post(path)).header("location") == HERE
    assert models.names == ["c", "a", "b"]
    page = LivePage.parsed((await models.opened.browser.get(HERE)).text)
    acts = [
        [each.attributes["action"].rpartition("/")[2] for each in row.all("form")] for row in _listed(page)
    ]
    assert acts == [["test", "down", "remove"], ["test", "up", "down", "remove"], ["test", "up", "remove"]]


async def test_a_removed_source_takes_its_key_along(models: Models) -> None:
    await models.add(models="big")
    await models.add(name="other", models="big", key="sk-other-0123456789")
    assert (await models.post("/lab/remove")).header("location") == HERE
    assert models.names == ["other"]
    assert models.keys == ["sk-other-0123456789"]


async def test_a_saved_source_is_tested_in_its_place(models: Models) -> None:
    models.llm.knows(models=["big"], keys=[KEY])
    await models.add()
    got = await models.post("/lab/test")
    assert "lab answers and lists 1 model." in LivePage.parsed(got.text).text
    models.llm.knows(keys=["another"])
    (row,) = _listed(LivePage.parsed((await models.post("/lab/test")).text))
    assert "lab did not accept the key." in _words(row)


@pytest.mark.parametrize(
    "path", ["/nobody/test", "/nobody/up", "/nobody/down", "/nobody/remove", "/lab/explode", "/%00/test"]
)
async def test_a_source_or_an_act_that_is_not_there_is_said_in_words(models: Models, path: str) -> None:
    await models.add(models="big")
    got = await models.post(path)
    assert got.status == 404
    assert "To the conversations" in got.text
    assert models.names == ["lab"]


async def test_sources_of_the_environment_are_shown_tested_and_not_removable(
    tmp_path: Path, llm: FakeLLM
) -> None:
    llm.knows(models=["gpt-x"], keys=[KEY])
    async with open_page(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=llm.base_url) as opened:
        models = Models(opened, llm)
        await models.add(models="big")
        rows = _listed(LivePage.parsed((await opened.browser.get(HERE)).text))
        assert [row.all("h3")[0].children[0] for row in rows] == ["lab", "openai"]
        assert [[form.attributes["action"] for form in row.all("form")] for row in rows] == [
            [f"{HERE}/lab/test", f"{HERE}/lab/remove"],
            [f"{HERE}/openai/test"],
        ]
        assert "openai answers" in LivePage.parsed((await models.post("/openai/test")).text).text
        for act in ("up", "down", "remove"):
            assert (await models.post(f"/openai/{act}")).status == 404


async def test_a_key_of_the_environment_is_named_not_shown(tmp_path: Path, llm: FakeLLM) -> None:
    async with open_page(tmp_path, OPENAI_API_KEY=KEY) as opened:
        (row,) = await Models(opened, llm).rows()
        assert "key from OPENAI_API_KEY" in row


async def test_keys_that_cannot_be_read_are_said_and_the_form_takes_them_again(
    tmp_path: Path, llm: FakeLLM
) -> None:
    async with open_page(tmp_path) as opened:
        models, secrets = Models(opened, llm), opened.bench.folder.secrets
        await models.add(models="big")
        secrets.write_text("rubbish")
        got = await opened.browser.get(HERE)
        assert got.status == 200
        assert "secrets.json is damaged, so stored keys cannot be read." in got.text
        assert "is damaged" in LivePage.parsed((await models.post("/lab/test")).text).text
        assert (await models.add(name="other", models="big")).status == 303
        assert models.keys == [KEY]
        assert secrets.with_name("secrets.json.damaged-1").read_text() == "rubbish"


async def test_what_is_found_on_this_computer_is_looked_for_when_asked(models: Models) -> None:
    assert "Look for them" in (await models.opened.browser.get(HERE)).text
    got = await models.post("/find")
    assert got.status == 200
    assert "Look again" in got.text
