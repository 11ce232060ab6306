"""What the settings say of models and keys: figures, abilities, rests and tests in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.engine.provider import AuthCheck
from app.providers.catalogue import ModelFacts
from app.providers.cooldown import Rest
from app.providers.routing import KeyStanding
from app.providers.sources import SourceConfig
from app.web.model_words import (
    asleep,
    facts_in_words,
    key_in_words,
    margin_of,
    rest_view,
    result_of,
    shortest_rest,
)

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def rest(seconds: float) -> Rest:
    return Rest(
        "rate_limit", "lab limits it. Wait a little.", NOW + timedelta(seconds=seconds), seconds, seconds
    )


def key(seconds: float | None = None) -> KeyStanding:
    return KeyStanding("k", rest(seconds) if seconds else None, None)


@pytest.mark.parametrize(
    ("facts", "assumed", "words"),
    [
        (ModelFacts(200_000, images=True, tools=True), False, "Tools, pictures, 200k tokens."),
        (ModelFacts(40_000, reasoning=True, images=False), False, "Reasoning, 40k tokens."),
        (ModelFacts(), True, "33k tokens assumed."),
        (ModelFacts(8_000, price_in=0.0, price_out=0.0), False, "8.0k tokens. Costs nothing."),
        (ModelFacts(8_000, price_in=0.0), False, "8.0k tokens."),
    ],
)
def test_what_a_model_can(facts: ModelFacts, assumed: bool, words: str) -> None:
    assert facts_in_words(facts, assumed=assumed) == words


@pytest.mark.parametrize(
    ("source", "names", "words", "margin"),
    [
        (
            SourceConfig("lab", "openai", keys=("provider/lab/1", "x")),
            ("provider/lab/1", "x"),
            "2 keys take turns",
            "2 keys",
        ),
        (SourceConfig("lab", "openai", keys=("provider/lab/1",)), ("provider/lab/1",), "own key", "1 key"),
        (
            SourceConfig("openai", "openai", keys=("OPENAI_API_KEY",), origin="environment"),
            ("OPENAI_API_KEY",),
            "key from OPENAI_API_KEY",
            "env",
        ),
        (SourceConfig("ollama", "ollama"), (), "this computer", "local"),
        (SourceConfig("mine", "openai", "http://localhost:8000/v1"), (), "this computer", "local"),
        (SourceConfig("far", "ollama", "http://192.168.1.4:11434"), (), "", "no key"),
    ],
)
def test_what_a_model_is_asked_with(
    source: SourceConfig, names: tuple[str, ...], words: str, margin: str
) -> None:
    assert (key_in_words(source, names), margin_of(source, names)) == (words, margin)


def test_a_rest_is_told_with_its_end_and_what_happened_alone() -> None:
    view = rest_view(rest(552), NOW)
    assert (view.left, view.sentence, view.wrong) == ("9:12", "lab limits it.", False)
    assert view.until == NOW + timedelta(seconds=552)


def test_a_model_rests_when_all_of_its_keys_do() -> None:
    assert shortest_rest([key(9), key(5)]) == rest(5)
    assert shortest_rest([key(9), key()]) is None
    assert shortest_rest([key()]) is None
    assert [asleep([key(9), key()]), asleep([key(9), key(1), key()])] == [
        "1 of 2 keys rests",
        "2 of 3 keys rest",
    ]
    assert [asleep([key(9)]), asleep([key()])] == ["", ""]


def test_a_test_says_what_it_found_and_whether_the_model_is_known_there() -> None:
    fine = AuthCheck(True, "lab answers.", ("big",), latency_ms=412)
    assert (result_of(fine, "big").sentence, result_of(fine).took) == ("lab answers.", "0.4 s")
    assert result_of(fine, "big", "other").sentence.startswith(
        'lab answers. The server does not list "other". It lists big'
    )
    refused = result_of(AuthCheck(False, "lab did not accept the key", latency_ms=3), "big")
    assert (refused.ok, refused.sentence, refused.took) == (False, "lab did not accept the key.", "")
