"""The form of a model source: what is typed into it is tried out, kept, and never lost; a key is never shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.workspace.model_sources import change_source
from tests.fakes.llm_script import fail, page
from tests.web.live_page import LivePage
from tests.web.model_settings import HERE, KEY, Models, field, note, state_of, words
from tests.web.pages import HTMX

pytestmark = pytest.mark.anyio


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
        assert "would send the key and every text unencrypted" in words(box.parent)
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
        ({"base_url": "", "name": "openai.example"}, "base_url", "needs an address"),
        ({"models": "two words"}, "models", "cannot be the name of a model"),
    ],
)
async def test_what_is_wrong_stands_beside_its_field(
    models: Models, wrong: dict[str, str], name: str, said: str
) -> None:
    for act in ("test", "save"):
        got = await models.add(act=act, **{"models": "big", **wrong})
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


async def test_a_refusal_of_the_server_stands_beside_the_field_that_it_is_about(models: Models) -> None:
    models.llm.knows(keys=[KEY])
    got = await models.add(key="")
    assert note(got, "key").startswith("lab wants a key, and none is set.")
    got = await models.add(base_url="http://127.0.0.1:9/v1")
    assert note(got, "base_url").startswith("Nothing answers at 127.0.0.1:9.")
    assert note(got, "base_url").endswith("To save it all the same, name its models.")
    assert models.sources == ()


async def test_a_missing_key_is_said_before_anybody_is_asked(models: Models) -> None:
    for fields in ({"name": "ant", "kind": "anthropic"}, {"name": "deepinfra", "kind": "litellm"}):
        got = await models.add(act="test", base_url="", key="", models="big", **fields)
        assert "has no key yet." in state_of(got)[1]
    assert models.llm.requests() == []


class TestWithScript:
    async def test_the_form_alone_comes_back_and_has_no_say_in_the_key(self, models: Models) -> None:
        models.llm.knows(models=["big"], keys=[KEY])
        for fields in ({"act": "test"}, {"name": "No Name"}):
            got = await models.add(HTMX, **fields)
            assert (got.status, "<html" in got.text) == (200, False)
            assert "value" not in field(got, "key").attributes
            assert 'name="held"' not in got.text

    async def test_what_is_saved_leads_on(self, models: Models) -> None:
        got = await models.add(HTMX, models="big")
        assert (got.status, got.header("hx-redirect")) == (204, f"{HERE}?saved")


class TestWithoutScript:
    async def test_a_key_that_was_tested_is_the_one_that_is_saved(self, models: Models) -> None:
        models.llm.knows(models=["big"], keys=[KEY])
        got = await models.add(act="test")
        assert state_of(got)[0]
        held = field(got, "held").attributes["value"]
        assert "The key that you typed waits for ten minutes: leave this empty to use it." in got.text
        again = await models.add(act="test", key="", held=held)
        assert state_of(again)[0]
        assert field(again, "held").attributes["value"] == held
        assert (await models.add(key="", held=held)).status == 303
        assert models.keys == [KEY]

    async def test_a_key_outlives_what_else_was_wrong(self, models: Models) -> None:
        got = await models.add(name="No Name", models="big")
        assert got.status == 422
        assert (
            await models.add(models="big", key="", held=field(got, "held").attributes["value"])
        ).status == 303
        assert models.keys == [KEY]

    async def test_a_key_that_is_typed_anew_goes_before(self, models: Models) -> None:
        got = await models.add(act="test", key="sk-the-first-one-0000")
        await models.add(models="big", held=field(got, "held").attributes["value"])
        assert models.keys == [KEY]

    async def test_a_key_that_waited_for_too_long_is_asked_for_again(self, models: Models) -> None:
        got = await models.add(models="big", key="", held="held_of_yesterday")
        assert note(got, "key") == "The key that you typed is not kept any longer. Type it again."
        assert models.sources == ()


class TestAStoredSource:
    @pytest.fixture(autouse=True)
    async def lab(self, models: Models) -> None:
        models.llm.knows(models=["big", "small"], keys=[KEY])
        assert (await models.add(models="big, small")).status == 303

    async def test_it_is_shown_as_it_is_but_for_its_key(self, models: Models) -> None:
        got = await models.opened.browser.get(f"{HERE}/lab/edit")
        assert field(got, "base_url").attributes["value"] == models.llm.base_url
        assert field(got, "models").attributes["value"] == "big, small"
        assert "value" not in field(got, "key").attributes
        assert "Leave it empty to keep the stored key." in LivePage.parsed(got.text).text
        assert KEY not in got.text

    async def test_its_key_stays_where_it_is_left_empty(self, models: Models) -> None:
        got = await models.edit(models="small, big")
        assert (got.status, got.header("location")) == (303, f"{HERE}?saved")
        assert (models.sources[0].models, models.keys) == (("small", "big"), [KEY])

    async def test_its_place_and_what_only_the_terminal_sets_stay(self, models: Models) -> None:
        await models.add(name="other", models="big")
        store = models.opened.bench.store
        change_source(store, replace(models.sources[0], context=4096, price_in=1.0, price_out=2.0))
        await models.edit(models="small")
        (source, _) = models.sources
        assert (source.name, source.context, source.price_out) == ("lab", 4096, 2.0)

    async def test_a_new_key_takes_the_place_of_the_stored_one(self, models: Models) -> None:
        models.llm.knows(keys=["sk-a-new-key-0123"])
        assert state_of(await models.edit(act="test"))[1].startswith("lab did not accept the key.")
        got = await models.edit(act="test", key="sk-a-new-key-0123")
        assert state_of(got)[0]
        assert models.keys == [KEY]
        held = field(got, "held").attributes["value"]
        assert (await models.edit(held=held)).status == 303
        assert models.keys == ["sk-a-new-key-0123"]

    async def test_its_key_does_not_go_to_another_address(self, models: Models) -> None:
        other = models.llm.base_url.replace("127.0.0.1", "localhost")
        asked = len(models.llm.requests())
        for act in ("test", "save"):
            got = await models.edit(act=act, base_url=other, models="")
            assert got.status == 422
            assert note(got, "key").startswith("The stored key was given for another address")
        got = await models.edit(kind="anthropic", base_url="")
        assert note(got, "key").startswith("The stored key was given for another address")
        assert len(models.llm.requests()) == asked
        assert models.sources[0].base_url == models.llm.base_url
        assert (await models.edit(base_url=other, key=KEY)).status == 303
        assert (models.sources[0].base_url, models.keys) == (other, [KEY])

    async def test_another_path_of_the_same_host_keeps_it(self, models: Models) -> None:
        assert (await models.edit(base_url=models.llm.url)).status == 303
        assert (models.sources[0].base_url, models.keys) == (models.llm.url, [KEY])

    async def test_its_key_is_forgotten_where_that_is_said(self, models: Models) -> None:
        other = models.llm.base_url.replace("127.0.0.1", "localhost")
        assert (await models.edit(base_url=other, forget_key="yes")).status == 303
        assert (models.sources[0].keys, models.keys) == ((), [])
        assert "forget_key" not in (await models.opened.browser.get(f"{HERE}/lab/edit")).text

    async def test_its_name_stays(self, models: Models) -> None:
        fields = {"name": "other", "kind": "openai", "base_url": models.llm.base_url, "models": "big"}
        assert (await models.post("/lab/edit", **fields)).status == 303
        assert models.names == ["lab"]

    async def test_what_is_wrong_stands_in_its_own_form(self, models: Models) -> None:
        for headers in ((), (HTMX,)):
            got = await models.edit("lab", *headers, base_url="nonsense")
            assert got.status == (200 if headers else 422)
            form = next(each for each in LivePage.parsed(got.text).all("form") if each.id == "source-form")
            assert form.attributes["action"] == f"{HERE}/lab/edit"
            assert "is not like https://host/v1" in note(got, "base_url")

    async def test_one_that_is_not_there_is_said_in_words(self, models: Models) -> None:
        assert (await models.opened.browser.get(f"{HERE}/nobody/edit")).status == 404
        assert (await models.post("/nobody/edit", kind="openai")).status == 404
