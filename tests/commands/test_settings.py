"""``plancia settings``: list, get, set."""

from __future__ import annotations

import pytest

from app.infra.settings import SETTINGS
from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM


def test_every_setting_is_listed_with_its_value(seat: Seat) -> None:
    lines = seat("settings", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["setting", *SETTINGS]
    assert ["composer.enter", "steer"] in [line.split()[:2] for line in lines]


def test_the_list_as_json_is_values_by_key(seat: Seat) -> None:
    values = seat("settings", "list", "--json").json
    assert values == {key: setting.default for key, setting in SETTINGS.items()}


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("memory.enabled", "on", "true"),
        ("compaction.threshold", "0.5", "0.5"),
        ("composer.enter", "QUEUE", "queue"),
        ("model.default", "fake/fake-model", "fake/fake-model"),
        ("model.default", "", ""),
    ],
)
def test_what_is_set_is_what_is_got(seat: Seat, key: str, typed: str, value: str) -> None:
    ran = seat("settings", "set", key, typed)
    assert (ran.code, ran.out) == (0, f"{key} = {value}\n")
    assert seat("settings", "get", key).out == f"{value}\n"


def test_what_a_setting_does_not_take_is_refused(seat: Seat) -> None:
    ran = seat("settings", "set", "composer.enter", "shout")
    assert (ran.code, ran.err) == (2, 'composer.enter takes steer or queue, not "shout".\n')


@pytest.mark.parametrize(
    ("name", "why"),
    [("nowhere", "is not there. Make it first"), ("notes.md", "is a file"), ("../here", "is no whole path")],
)
def test_a_folder_that_cannot_be_worked_in_is_refused(seat: Seat, name: str, why: str) -> None:
    (seat.workspace / "notes.md").write_text("milk")
    typed = name if name.startswith("..") else str(seat.workspace / name)
    ran = seat("settings", "set", "workspace.default", typed)
    assert (ran.code, why in ran.err) == (2, True)
    assert seat("settings", "get", "workspace.default").out == "\n"


def test_a_folder_that_is_there_is_taken_and_nothing_brings_back_the_usual_one(seat: Seat) -> None:
    for typed in (str(seat.workspace), ""):
        assert seat("settings", "set", "workspace.default", typed).code == 0
        assert seat("settings", "get", "workspace.default").out == f"{typed}\n"


def test_a_model_for_summaries_that_nobody_offers_is_refused(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    ran = seat("settings", "set", "model.auxiliary", "fake/fake-mode")
    assert ran.code == 2
    assert '"fake/fake-mode" cannot be asked for summaries. The model source "fake" does not offer' in ran.err
    assert "Did you mean fake-model?" in ran.err
    for name in ("fake/fake-model", ""):
        assert seat("settings", "set", "model.auxiliary", name).code == 0
        assert seat("settings", "get", "model.auxiliary").out == f"{name}\n"


def test_an_unknown_setting_names_the_nearest(seat: Seat) -> None:
    ran = seat("settings", "get", "composer.entre")
    assert (ran.code, ran.err) == (2, 'There is no setting "composer.entre". Did you mean composer.enter?\n')


@pytest.mark.parametrize(
    ("key", "typed", "why"),
    [
        ("image.model", "nobody/gpt-image-1", "cannot be asked for pictures. There is no model source"),
        ("image.model", "demo/tour", "draws no pictures"),
        ("web.search", "altavista", "web.search takes duckduckgo or brave or tavily or searxng"),
        ("web.searxng_url", "ftp://127.0.0.1", "takes an address like http://127.0.0.1:8888"),
    ],
)
def test_a_service_that_cannot_be_asked_is_refused(seat: Seat, key: str, typed: str, why: str) -> None:
    ran = seat("settings", "set", key, typed)
    assert (ran.code, why in ran.err) == (2, True)
    assert seat("settings", "set", "web.searxng_url", "http://127.0.0.1:8888").code == 0
