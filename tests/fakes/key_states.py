"""Keys of the fake server and what became of their accounts: each state is refused in the words of real providers.

``good``, ``bad`` (nobody knows it), ``broke`` (nothing left to pay with), ``limited`` or ``limited:SECONDS`` (too
much in too short a time), ``expired`` (the subscription has ended). A key that was not named is a bad one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.fakes.llm_script import Answer, fail

ASKED_TO_WAIT = 20
"""Seconds, where ``limited`` does not say how many."""

AT_THE_DOOR = ("bad", "expired")
"""States that refuse even the list of models; the others only meet who asks a model."""

OPENAI: dict[str, Answer] = {
    "bad": fail(
        401,
        "Incorrect API key provided: sk-…. You can find your API key at https://platform.openai.com/account/api-keys.",
        type="invalid_request_error",
        code="invalid_api_key",
    ),
    "broke": fail(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        type="insufficient_quota",
        code="insufficient_quota",
    ),
    "limited": fail(
        429,
        "Rate limit reached for m in organization org-EXAMPLE on requests per min (RPM): Limit 3, Used 3, Requested 1.",
        type="requests",
        code="rate_limit_exceeded",
    ),
    "expired": fail(402, "No active subscription. Choose a plan to continue.", code="subscription_inactive"),
}

ANTHROPIC: dict[str, Answer] = {
    "bad": fail(401, "invalid x-api-key", type="authentication_error"),
    "broke": fail(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
        "purchase credits.",
        type="invalid_request_error",
    ),
    "limited": fail(
        429, "This request would exceed the rate limit for your organization.", type="rate_limit_error"
    ),
    "expired": fail(403, "Your subscription has expired. Renew to continue.", type="permission_error"),
}

OLLAMA: dict[str, Answer] = {
    "bad": fail(401, "unauthorized"),
    "broke": fail(402, "insufficient credits"),
    "limited": fail(429, "too many concurrent requests"),
    "expired": fail(403, "your subscription has ended, please renew to continue"),
}

GEMINI: dict[str, Answer] = {
    "bad": fail(400, "API key not valid. Please pass a valid API key."),
    "broke": fail(429, "You exceeded your current quota, please check your plan and billing details."),
    "limited": fail(429, "Too many requests per minute for this project. Please retry later."),
    "expired": fail(403, "Your subscription has expired. Renew to continue."),
}

WORDS = {"messages": ANTHROPIC, "native": OLLAMA, "tags": OLLAMA, "generate": GEMINI}
"""By what a request wants; everybody else speaks like OpenAI."""


def states_of(keys: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """A list names the good ones."""
    return dict(keys) if isinstance(keys, Mapping) else dict.fromkeys(keys, "good")


def refusal(
    states: Mapping[str, str], key: str | None, wants: str | None, *, asks_a_model: bool
) -> Answer | None:
    """None where the key is let in."""
    state, _, seconds = states.get(key or "", "bad").partition(":")
    if state == "good" or not (asks_a_model or state in AT_THE_DOOR):
        return None
    answer = WORDS.get(wants or "", OPENAI)[state]
    if state != "limited":
        return answer
    return {**answer, "headers": {**answer["headers"], "retry-after": seconds or str(ASKED_TO_WAIT)}}
