"""What litellm is asked for beside the history: thinking, until a model is known not to have it."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.provider import Effort
from app.providers.classify import Symptom
from app.providers.litellm_options import LiteLLMOptions
from tests.providers.answers import ask


def applied(options: LiteLLMOptions, reasoning: Effort = "low", model: str = "m") -> dict[str, Any]:
    return options.apply({"model": model}, ask(model=model, reasoning=reasoning))


@pytest.mark.parametrize(
    "words",
    [
        "mistral does not support parameters: ['reasoning_effort'], for model=m.",
        "`max_tokens` must be greater than `thinking.budget_tokens`",
        "This model does not support thinking.",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ],
)
def test_an_effort_that_is_refused_is_not_asked_of_that_model_again(words: str) -> None:
    options = LiteLLMOptions()
    assert options.give_way(applied(options), Symptom(400, message=words))
    assert applied(options) == {"model": "m"}
    assert applied(options, model="other") == {"model": "other", "reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (400, "messages: at least one message is required"),
        (429, "too many requests with reasoning_effort"),
        (401, "does not support thinking"),
    ],
)
def test_a_refusal_of_something_else_is_no_refusal_of_thinking(status: int, words: str) -> None:
    options = LiteLLMOptions()
    assert not options.give_way(applied(options), Symptom(status, message=words))
    assert applied(options)["reasoning_effort"] == "low"


def test_what_was_not_asked_for_was_not_refused() -> None:
    options = LiteLLMOptions()
    sent = applied(options, "off")
    assert sent == {"model": "m"}
    assert not options.give_way(sent, Symptom(400, message="reasoning_effort is unknown"))
