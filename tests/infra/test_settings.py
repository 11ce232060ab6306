"""The catalogue of settings: what is taken, and what is said about the rest."""

from __future__ import annotations

import pytest

from app.infra.settings import SETTINGS, Setting, SettingError, Value, find_setting, fits, parse, written


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.key)
def test_every_default_is_a_value_of_its_setting(setting: Setting) -> None:
    assert fits(setting.default, setting)
    assert parse(setting.key, written(setting.default)) == setting.default


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.key)
def test_every_setting_says_in_a_sentence_what_it_does(setting: Setting) -> None:
    assert setting.help[0].isupper()
    assert setting.help.endswith(".")


def test_what_the_contract_promises() -> None:
    promised = {
        "access.mode": "standard",
        "memory.enabled": False,
        "evolution.enabled": False,
        "compaction.threshold": 0.8,
        "composer.enter": "steer",
    }
    assert {key: SETTINGS[key].default for key in promised} == promised
    assert SETTINGS["access.mode"].choices == ("cautious", "standard", "trusted")
    assert SETTINGS["composer.enter"].choices == ("steer", "queue")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("memory.enabled", "true", True),
        ("memory.enabled", " ON ", True),
        ("memory.enabled", "0", False),
        ("access.mode", "Trusted", "trusted"),
        ("compaction.threshold", "0.5", 0.5),
        ("compaction.threshold", " .75 ", 0.75),
        ("compaction.threshold", "0.123456789012", 0.123456789012),
        ("model.default", " openai/gpt-6 ", "openai/gpt-6"),
        ("model.default", "", ""),
        ("workspace.default", "/home/ada/Büro", "/home/ada/Büro"),
        ("budget.day", "", ""),
        ("budget.day", "$2.50", 2.5),
        ("budget.conversation", " 0.01 ", 0.01),
    ],
)
def test_text_becomes_a_value_and_back(key: str, text: str, value: Value) -> None:
    assert parse(key, text) == value
    assert fits(value, SETTINGS[key])


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("memory.enabled", "maybe", 'memory.enabled takes true or false, not "maybe".'),
        ("memory.enabled", "", "true or false"),
        ("access.mode", "yolo", 'access.mode takes cautious or standard or trusted, not "yolo".'),
        ("composer.enter", "send", "steer or queue"),
        ("compaction.threshold", "80", "a number from 0.1 to 0.95"),
        ("compaction.threshold", "80%", "a number from 0.1 to 0.95"),
        ("compaction.threshold", "nan", "a number from 0.1 to 0.95"),
        ("compaction.threshold", "inf", "a number from 0.1 to 0.95"),
        ("model.default", "a\nb", "one line"),
        ("workspace.default", "/tmp/\0", "one line"),
        ("budget.day", "0", "a number from 0.01 to 100000 or nothing"),
        ("budget.conversation", "a lot", "a number from 0.01 to 100000 or nothing"),
    ],
)
def test_a_refusal_names_what_is_taken(key: str, text: str, said: str) -> None:
    with pytest.raises(SettingError, match=said.replace(".", r"\.")):
        parse(key, text)


def test_an_unknown_setting_is_met_with_the_nearest_one() -> None:
    with pytest.raises(SettingError, match=r"Did you mean memory\.enabled\?"):
        find_setting("memory.enable")
    with pytest.raises(SettingError, match=r"There are: .*access\.mode"):
        find_setting("xyzzy")


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("yes please", "memory.enabled"),
        ("true", "memory.enabled"),
        (1, "memory.enabled"),
        (None, "memory.enabled"),
        ("paranoid", "access.mode"),
        (2.0, "compaction.threshold"),
        (True, "compaction.threshold"),
        (["steer"], "composer.enter"),
    ],
)
def test_what_is_no_value_any_more_does_not_fit(value: object, key: str) -> None:
    assert not fits(value, SETTINGS[key])
