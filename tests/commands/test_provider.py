"""``plancia provider``: sources of models, their keys, their order, their test."""

from __future__ import annotations

from app.infra.locks import FolderLock
from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail

KEY = "sk-proj-0123456789abcdef"


def add(seat: Seat, llm: FakeLLM, name: str, *more: str) -> None:
    ran = seat("provider", "add", name, "--kind", "openai", "--base-url", llm.base_url, *more)
    assert ran.code == 0, ran.err


def test_the_list_shows_what_there_is_and_never_a_key(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["K"] = KEY
    add(seat, llm, "first", "--key-env", "K", "--model", "m1", "--model", "m2")
    add(seat, llm, "second")
    lines = seat("provider", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "first", "second"]
    assert "m1, m2" in lines[1]
    assert "stored" in lines[1]
    assert KEY not in seat("provider", "list").out + seat("provider", "list", "--json").out


def test_the_list_as_json_has_every_field(seat: Seat, llm: FakeLLM) -> None:
    figures = ("--context", "4096", "--max-output", "512", "--price-in", "0.5", "--price-out", "1.5")
    add(seat, llm, "first", "--model", "m", *figures)
    assert seat("provider", "list", "--json").json == [
        {
            "name": "first",
            "kind": "openai",
            "base_url": llm.base_url,
            "models": ["m"],
            "context": 4096,
            "max_output": 512,
            "price_in": 0.5,
            "price_out": 1.5,
            "keys": [],
            "origin": "configured",
        }
    ]


def test_keys_of_the_environment_are_listed_by_the_name_of_their_variable(seat: Seat) -> None:
    seat.environment["OPENAI_API_KEY"] = KEY
    line = seat("provider", "list").out.splitlines()[1]
    assert line.split() == ["openai", "openai", "–", "any", "OPENAI_API_KEY"]


def test_with_nothing_configured_the_list_says_who_answers(seat: Seat) -> None:
    assert "demo model answers" in seat("provider", "list").out
    assert seat("provider", "list", "--json").json == []


def test_the_order_is_changed_by_naming_the_preferred_ones(seat: Seat, llm: FakeLLM) -> None:
    add(seat, llm, "first", "--model", "a", "--model", "b")
    add(seat, llm, "second", "--model", "c")
    assert seat("provider", "order", "second/c", "first/b").code == 0
    found = [(each["name"], each["models"]) for each in seat("provider", "list", "--json").json]
    assert found == [("second", ["c"]), ("first", ["b", "a"])]


def test_the_order_shows_who_answers_and_who_takes_over(seat: Seat, llm: FakeLLM) -> None:
    assert "no model to put into an order" in seat("provider", "order").out
    add(seat, llm, "first", "--model", "a", "--model", "b")
    add(seat, llm, "second", "--model", "c")
    seat.environment["OPENAI_API_KEY"] = KEY
    shown = seat("provider", "order", "first/b", "second").out.splitlines()[1:]
    assert [line.split()[:2] for line in shown] == [
        ["1", "first/b"],
        ["2", "second/c"],
        ["3", "first/a"],
        ["4", "openai/gpt-6.1-sol"],
    ]
    seat.environment["PLANCIA_MODEL"] = "second/c"
    assert seat("provider", "order").out.splitlines()[0] == (
        "second/c is asked before all others: it was set as the default."
    )


def test_a_key_of_the_environment_has_a_place_that_can_be_changed(seat: Seat, llm: FakeLLM) -> None:
    add(seat, llm, "first", "--model", "a")
    seat.environment["OPENAI_API_KEY"] = KEY
    for words in (("openai",), ()):
        shown = seat("provider", "order", *words).out.splitlines()[1:]
        assert [line.split()[1] for line in shown] == ["openai/gpt-6.1-sol", "first/a"]
    del seat.environment["OPENAI_API_KEY"]
    assert [line.split()[1] for line in seat("provider", "order").out.splitlines()[1:]] == ["first/a"]


def test_of_models_that_a_server_only_lists_the_first_stands_in_the_order(seat: Seat, llm: FakeLLM) -> None:
    llm.knows(models=["m1", "m2", "m3"])
    add(seat, llm, "first")
    assert [line.split()[1] for line in seat("provider", "order").out.splitlines()[1:]] == ["first/m1"]


def test_an_order_with_a_model_nobody_has_changes_nothing(seat: Seat, llm: FakeLLM) -> None:
    add(seat, llm, "first", "--model", "a")
    ran = seat("provider", "order", "first/z")
    assert ran.code == 2
    assert '"first" does not list the model "z"' in ran.err


def test_a_source_that_answers_passes_its_test(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["K"] = KEY
    add(seat, llm, "first", "--key-env", "K", "--model", "fake-model")
    llm.knows(keys=[KEY])
    ran = seat("provider", "test", "first")
    assert (ran.code, ran.err) == (0, "")
    assert "first answers" in ran.out


def test_a_model_that_the_server_does_not_name_is_mentioned(seat: Seat, llm: FakeLLM) -> None:
    add(seat, llm, "first", "--model", "gone-model")
    ran = seat("provider", "test", "first")
    assert ran.code == 0
    assert ran.err.startswith('The server does not list "gone-model". Did you mean fake-model?')


def test_a_model_with_a_slip_in_its_name_is_told_when_it_is_added(seat: Seat, llm: FakeLLM) -> None:
    llm.knows(models=["mistral-large", "mistral-small", "embed"])
    words = ("--kind", "openai", "--base-url", llm.base_url, "--model", "mistral-smal", "--model", "embed")
    ran = seat("provider", "add", "lab", *words)
    assert ran.code == 0
    (line,) = ran.err.splitlines()
    assert line.startswith(
        'The server does not list "mistral-smal". Did you mean mistral-small or mistral-large?'
    )
    assert "correct the name under Settings, Models" in line


def test_a_source_that_refuses_fails_its_test_in_words(seat: Seat, llm: FakeLLM) -> None:
    add(seat, llm, "first", "--model", "fake-model")
    llm.script(fail(401, "Incorrect API key provided.", code="invalid_api_key"), path="/models")
    ran = seat("provider", "test", "first")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1


def test_a_key_of_the_environment_can_be_tested_too(seat: Seat, llm: FakeLLM) -> None:
    seat.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": llm.base_url}
    llm.knows(keys=[KEY])
    assert seat("provider", "test", "openai").code == 0


def test_a_test_of_a_source_nobody_added_says_so(seat: Seat) -> None:
    ran = seat("provider", "test", "nowhere")
    assert ran.code == 2
    assert 'There is no model source "nowhere".' in ran.err


def test_a_removed_source_takes_its_keys_with_it(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["K"] = KEY
    add(seat, llm, "first", "--key-env", "K")
    assert b"provider/first/" in seat.folder.secrets.read_bytes()
    assert seat("provider", "remove", "first").code == 0
    assert b"provider/first/" not in seat.folder.secrets.read_bytes()
    assert seat("provider", "list", "--json").json == []
    assert seat("provider", "remove", "first").code == 2


def test_everything_works_while_a_server_has_the_folder(seat: Seat, llm: FakeLLM) -> None:
    seat.folder.create()
    with FolderLock(seat.folder):
        add(seat, llm, "first", "--model", "m")
        assert seat("provider", "test", "first").code == 0
        assert seat("provider", "remove", "first").code == 0
