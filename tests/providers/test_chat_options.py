"""The optional parts of a chat request: named as the server names them, and left out where it knows them not."""

from __future__ import annotations

from typing import Any

import pytest

from app.providers.chat_options import NO_THINKING, ChatOptions, cache_key
from app.providers.classify import Symptom
from app.providers.dialects import DEFAULT, Dialect
from app.providers.errors import SpokenElsewhere
from tests.providers.answers import ask


def applied(options: ChatOptions, body: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    request = ask(**fields)
    given = {"model": request.model, "messages": [{"role": "user", "content": "Hello"}], **(body or {})}
    return options.apply(given, request)


def refused(words: str, status: int = 400) -> Symptom:
    return Symptom(status, message=words)


def test_usage_is_asked_for_until_a_server_knows_no_such_option() -> None:
    options = ChatOptions(DEFAULT)
    sent = applied(options)
    assert sent["stream_options"] == {"include_usage": True}
    assert options.give_way(sent, refused("Unknown parameter: 'include_usage'"))
    again = applied(options)
    assert "stream_options" not in again
    assert not options.give_way(again, refused("Unknown parameter: 'stream_options'"))


def test_what_one_model_refuses_another_may_take() -> None:
    options = ChatOptions(DEFAULT)
    assert options.give_way(applied(options), refused("stream_options is not supported"))
    assert "stream_options" in applied(options, {"model": "other"}, model="other")


def test_an_option_that_was_not_sent_is_not_what_was_refused() -> None:
    options = ChatOptions(DEFAULT)
    assert not options.give_way(applied(options), refused("tool_choice is not supported"))


@pytest.mark.parametrize("status", [401, 402, 403, 429, 500, 503])
def test_a_refusal_of_another_kind_is_about_no_option(status: int) -> None:
    options = ChatOptions(DEFAULT)
    assert not options.give_way(applied(options), refused("stream_options", status))


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_cap_is_sent_under_the_name_that_the_server_asks_for(name: str) -> None:
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[name]
    options = ChatOptions(Dialect(limit_field=name))
    sent = applied(options, {"max_tokens": 7})
    assert sent[name] == 7
    assert options.give_way(sent, refused(f"Unsupported parameter: '{name}'. Use '{other}' instead."))
    again = applied(options, {"max_tokens": 7})
    assert (again.get(other), name in again) == (7, False)


def test_the_session_is_the_cache_key_where_the_server_has_one() -> None:
    options = ChatOptions(Dialect(cache_field="prompt_cache_key"))
    assert applied(options, session_id="ses_1")["prompt_cache_key"] == "ses_1"
    assert "prompt_cache_key" not in applied(options)
    assert "prompt_cache_key" not in applied(ChatOptions(DEFAULT), session_id="ses_1")


def test_a_long_session_id_is_hashed_to_the_same_key_every_time() -> None:
    long = "s" * 100
    assert cache_key(long, 64) == cache_key(long, 64) != cache_key(long + "x", 64)
    assert len(cache_key(long, 64)) == 64
    assert cache_key("short", 64) == "short"


def test_a_server_that_wants_thinking_in_each_answer_gets_a_stand_in_once_it_says_so() -> None:
    options = ChatOptions(DEFAULT)
    history = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    sent = applied(options, history)
    assert options.give_way(sent, refused("reasoning_content in the thinking mode must be passed back"))
    messages = applied(options, history)["messages"]
    assert messages[1]["reasoning_content"] == NO_THINKING
    assert "reasoning_content" not in messages[0]


def test_a_server_that_names_the_other_api_is_spoken_to_there() -> None:
    options = ChatOptions(DEFAULT)
    with pytest.raises(SpokenElsewhere):
        options.give_way(applied(options), refused("This model is only supported in v1/responses", 404))
