"""``plancia provider add``: keys that are never shown, and what is said of the server and of the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands.provider_add import learn
from app.infra.secrets import SecretStore
from app.providers.sources import SourceConfig
from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, fail

KEY, OTHER = "sk-proj-0123456789abcdef", "sk-proj-fedcba9876543210"


def words(llm: FakeLLM, name: str = "mine", kind: str = "openai") -> tuple[str, ...]:
    return ("provider", "add", name, "--kind", kind, "--base-url", llm.base_url)


def stored(seat: Seat) -> list[str | None]:
    store = SecretStore(seat.folder.secrets)
    return [store.get(name) for name in store.names()]


def test_a_key_is_read_from_its_variable_and_stored_encrypted(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["K"] = f"  {KEY}\n"
    llm.knows(keys=[KEY])
    ran = seat(*words(llm), "--key-env", "K")
    assert ran.code == 0
    assert "Added mine." in ran.out
    assert "mine answers" in ran.out
    assert stored(seat) == [KEY]
    assert KEY not in ran.out + ran.err
    assert not any(KEY.encode() in path.read_bytes() for path in _files(seat.folder.root))
    del seat.environment["K"]
    assert seat("provider", "test", "mine").code == 0


def test_several_keys_make_one_pool(seat: Seat, llm: FakeLLM) -> None:
    seat.environment |= {"K1": KEY, "K2": OTHER}
    assert seat(*words(llm), "--key-env", "K1", "--key-env", "K2").code == 0
    assert sorted(map(str, stored(seat))) == sorted([KEY, OTHER])
    assert seat("provider", "list").out.splitlines()[1].endswith("2 stored")


def test_where_the_key_is_kept_is_said_honestly(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["K"] = KEY
    assert SecretStore(seat.folder.secrets).where in seat(*words(llm), "--key-env", "K").out


def test_a_key_is_asked_for_where_somebody_sits(seat: Seat, llm: FakeLLM) -> None:
    ran = seat(*words(llm), hidden=KEY, watched=True)
    assert ran.code == 0
    assert stored(seat) == [KEY]
    assert KEY not in ran.out + ran.err


def test_a_server_without_a_key_is_added_with_enter(seat: Seat, llm: FakeLLM) -> None:
    assert seat(*words(llm), hidden="", watched=True).code == 0
    assert stored(seat) == []


def test_a_typed_key_is_not_shown_on_a_real_terminal(seat: Seat, llm: FakeLLM) -> None:
    code, shown = seat.at_terminal(*words(llm), until=b": ", keys=KEY.encode() + b"\n")
    assert code == 0
    assert KEY.encode() not in shown
    assert stored(seat) == [KEY]


@pytest.mark.parametrize("value", [None, "", "   "])
def test_a_variable_that_is_not_set_is_named(seat: Seat, llm: FakeLLM, value: str | None) -> None:
    if value is not None:
        seat.environment["K"] = value
    ran = seat(*words(llm), "--key-env", "K")
    assert ran.code == 2
    assert ran.err.startswith("The variable K is not set.")
    assert seat("provider", "list", "--json").json == []


def test_a_key_given_for_a_name_is_not_repeated(seat: Seat, llm: FakeLLM) -> None:
    ran = seat(*words(llm), "--key-env", KEY)
    assert ran.code == 2
    assert KEY not in ran.out + ran.err


def test_what_is_no_key_is_refused_without_repeating_it(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["K"] = "two words\nand lines"
    ran = seat(*words(llm), "--key-env", "K")
    assert ran.code == 2
    assert "two words" not in ran.err
    assert seat("provider", "list", "--json").json == []


def test_a_name_in_use_keeps_its_key(seat: Seat, llm: FakeLLM) -> None:
    seat.environment |= {"K1": KEY, "K2": OTHER}
    assert seat(*words(llm), "--key-env", "K1").code == 0
    ran = seat(*words(llm), "--key-env", "K2")
    assert ran.code == 2
    assert "already" in ran.err
    assert stored(seat) == [KEY]


def test_a_server_that_refuses_is_added_all_the_same(seat: Seat, llm: FakeLLM) -> None:
    llm.script(fail(401, "Incorrect API key provided.", code="invalid_api_key"), path="/models")
    ran = seat(*words(llm))
    assert ran.code == 0
    assert "It is added, but its test failed: " in ran.out
    assert [each["name"] for each in seat("provider", "list", "--json").json] == ["mine"]


def test_a_server_that_is_not_there_is_added_all_the_same(seat: Seat) -> None:
    ran = seat("provider", "add", "mine", "--kind", "openai", "--base-url", "http://127.0.0.1:9/v1")
    assert ran.code == 0
    assert "It is added, but its test failed: " in ran.out


def test_what_is_waited_for_is_said_beforehand(seat: Seat, llm: FakeLLM) -> None:
    said = f"Asking mine at {llm.base_url} what it offers, for up to 10 s."
    assert said in seat(*words(llm), hidden="", watched=True).err
    assert said in seat("provider", "test", "mine", watched=True).err
    assert seat("provider", "test", "mine").err == ""


def test_a_missing_key_is_said_without_asking_anybody(seat: Seat) -> None:
    ran = seat("provider", "add", "ant", "--kind", "anthropic")
    assert "its test failed: Anthropic has no key yet." in ran.out
    assert ran.err == ""


def test_an_address_is_needed_where_the_name_tells_none(seat: Seat) -> None:
    seat.environment["K"] = KEY
    ran = seat("provider", "add", "work", "--kind", "openai", "--key-env", "K")
    assert (ran.code, stored(seat)) == (2, [])
    assert 'Where "work" is cannot be told from its name' in ran.err


def test_an_address_that_is_none_is_refused(seat: Seat) -> None:
    ran = seat("provider", "add", "mine", "--kind", "openai", "--base-url", "nonsense")
    assert ran.code == 2
    assert "https://host/v1" in ran.err


def test_plain_http_over_the_internet_is_refused_where_nobody_can_be_asked(seat: Seat) -> None:
    ran = seat("provider", "add", "mine", "--kind", "openai", "--base-url", "http://models.example.com/v1")
    assert ran.code == 2
    assert "unencrypted" in ran.err


def test_plain_http_over_the_internet_needs_a_yes(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    far = ("provider", "add", "mine", "--kind", "openai", "--base-url", "http://models.invalid/v1")
    for answer in ("n\n", "\n", ""):
        assert seat(*far, typed=answer, watched=True).code == 2
    assert seat("provider", "list", "--json").json == []
    ran = seat(*far, typed="y\n", watched=True)
    assert ran.code == 0
    assert "[y/N]" in ran.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "own-model", "--context", "4096"), "own-model: 4,096 tokens, as you said."),
        (
            ("--model", "own-model"),
            "own-model: nothing is known about its window, so 32,768 tokens are assumed; --context sets it.",
        ),
        (("--model", "gpt-4o-mini"), "gpt-4o-mini: 128,000 tokens, as is known of its name."),
    ],
)
def test_the_window_is_said_with_who_says_it(
    seat: Seat, llm: FakeLLM, more: tuple[str, ...], said: str
) -> None:
    assert said in seat(*words(llm), *more).out.splitlines()


def models_list(*rows: tuple[str, int | None]) -> Answer:
    listed = [{"id": name} | ({"max_model_len": window} if window else {}) for name, window in rows]
    return {"body": {"object": "list", "data": listed}}


def test_the_window_that_the_server_names_is_kept(seat: Seat, llm: FakeLLM) -> None:
    listed = models_list(("own-model", 8192), ("other", 512))
    llm.script(listed, listed, path="/models")
    ran = seat(*words(llm), "--model", "own-model")
    assert "own-model: 8,192 tokens, as its server says." in ran.out.splitlines()
    assert seat("provider", "list", "--json").json[0]["context"] == 8192


def test_what_was_said_goes_before_what_the_server_says(seat: Seat, llm: FakeLLM) -> None:
    listed = models_list(("own-model", 8192))
    llm.script(listed, listed, path="/models")
    seat(*words(llm), "--model", "own-model", "--context", "4096")
    assert seat("provider", "list", "--json").json[0]["context"] == 4096


def test_without_a_named_model_the_server_s_own_are_taken(seat: Seat, llm: FakeLLM) -> None:
    llm.knows(models=["a-embed", "b-chat", "c-chat"])
    ran = seat(*words(llm))
    assert [line.partition(":")[0] for line in ran.out.splitlines()[2:]] == ["b-chat", "c-chat", "a-embed"]
    assert seat("provider", "list", "--json").json[0]["models"] == ["b-chat", "c-chat", "a-embed"]
    assert seat("run", "Hi").code == 0
    assert llm.bodies()[0]["model"] == "b-chat"


@pytest.mark.parametrize(
    ("windows", "kept"),
    [
        ({"a": 8192, "b": 8192}, 8192),
        ({"a": 8192, "b": 512}, None),
        ({"a": 8192}, None),
        ({}, None),
        ({"a": 8192, "b": 8192, "c": 512}, 8192),
    ],
)
def test_one_window_for_a_source_is_one_that_all_its_models_share(
    windows: dict[str, int], kept: int | None
) -> None:
    source = SourceConfig("mine", "openai", "http://127.0.0.1:9/v1", ("a", "b"))
    assert learn(source, ("a", "b", "c"), windows).context == kept


def test_a_known_host_keeps_its_list_open() -> None:
    source = SourceConfig("openai", "openai")
    assert learn(source, ("gpt-x", "gpt-y"), {"gpt-x": 8192}) == source


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]
