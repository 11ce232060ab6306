"""Lists of models as real servers lay them out."""

from __future__ import annotations

from typing import Any

import pytest

from app.providers.model_list import read_model_names, read_windows, unlisted


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ({"object": "list", "data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}, ("a", "b")),
        ({"models": [{"name": "llama3:8b", "model": "llama3:8b"}]}, ("llama3:8b",)),
        ([{"id": "a"}, "b", {"id": 7}, None, {}], ("a", "b")),
        ({"data": "no list"}, ()),
        ("<html>", ()),
        (None, ()),
    ],
)
def test_names_are_found_in_every_layout(answer: Any, names: tuple[str, ...]) -> None:
    assert read_model_names(answer) == names


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"id": "m", "context_length": 131072}, 131072),
        ({"id": "m", "max_model_len": 8192}, 8192),
        ({"id": "m", "meta": {"n_ctx": 4096, "n_ctx_train": 131072}}, 4096),
        ({"id": "m", "max_context_length": 32768, "loaded_context_length": 4096}, 4096),
        ({"id": "m", "max_input_tokens": 200000, "max_tokens": 64000}, 200000),
    ],
)
def test_the_window_is_what_the_server_really_holds(entry: dict[str, Any], window: int) -> None:
    assert read_windows({"data": [entry]}) == {"m": window}


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "m"},
        {"id": "m", "context_length": "131072"},
        {"id": "m", "context_length": None},
        {"id": "m", "context_length": True},
        {"id": "m", "context_length": 0},
        {"id": "m", "meta": {"n_ctx_train": 131072}},
        {"id": "m", "meta": [4096]},
        {"context_length": 131072},
        "m",
    ],
)
def test_what_is_no_window_says_nothing(entry: Any) -> None:
    assert read_windows([entry]) == {}


@pytest.mark.parametrize(
    ("model", "listed", "said"),
    [
        ("gpt-5-mni", ["gpt-5-mini", "whisper"], "Did you mean gpt-5-mini?"),
        ("zzz", list("abcdefgh"), "It lists a, b, c, d, e and 3 more."),
        ("zzz", ["a", "b"], "It lists a, b."),
        ("gpt-4o", ["openai/gpt-4o"], "Did you mean openai/gpt-4o?"),
        ("x", ["y" * 1_000], f"It lists {'y' * 80}."),
    ],
)
def test_a_model_that_is_not_listed_is_named_with_those_it_may_be(
    model: str, listed: list[str], said: str
) -> None:
    (sentence,) = unlisted([model], listed)
    assert sentence.startswith(f'The server does not list "{model}". {said} Where its calls fail, correct')


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("big", ["big"]),
        ("qwen3", ["qwen3:latest"]),
        ("gemini-2.5-pro", ["models/gemini-2.5-pro"]),
        ("whatever", []),
    ],
)
def test_what_is_listed_in_any_form_and_a_server_without_a_list_are_passed_over(
    model: str, listed: list[str]
) -> None:
    assert list(unlisted([model], listed)) == []
