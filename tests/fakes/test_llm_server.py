"""The fake model server: what it answers, and that a test can steer it without waiting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, cut, fail, hold, insert, say


@pytest.fixture
def client(llm_process: FakeLLM) -> Iterator[httpx.Client]:
    llm_process.reset()
    with httpx.Client(base_url=llm_process.base_url, trust_env=False) as client:
        yield client


def ask(client: httpx.Client, text: str = "Hi", **fields: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **fields}
    return client.post(
        "chat/completions", json=body, headers={"authorization": fields.pop("key", "Bearer k")}
    )


def answer(response: httpx.Response) -> str:
    text: str = response.json()["choices"][0]["message"]["content"]
    return text


def test_without_a_script_it_repeats_what_was_said(client: httpx.Client) -> None:
    assert answer(ask(client, "Good morning")) == "You said: Good morning."


def test_answers_come_in_order_and_then_the_default(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(say("one"), say("two"))
    llm_process.always(say("ever"))
    assert [answer(ask(client)) for _ in range(4)] == ["one", "two", "ever", "ever"]


def test_the_narrowest_script_is_used_first(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(say("anybody"))
    llm_process.script(say("this model"), model="m")
    llm_process.script(say("this model with this key"), model="m", key="k")
    assert [answer(ask(client)) for _ in range(3)] == ["this model with this key", "this model", "anybody"]


def test_a_stream_is_events_and_the_same_whole(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(*[say("a", "b", calls=[call("f", {"x": 1}, id="c", pieces=3)])] * 2)
    lines = ask(client, stream=True).text.split("\n\n")
    whole = ask(client).json()["choices"][0]
    assert lines[-2:] == ["data: [DONE]", ""]
    assert whole["message"]["content"] == "ab"
    assert whole["message"]["tool_calls"] == [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    ]
    assert whole["finish_reason"] == "tool_calls"


def test_usage_is_streamed_only_where_it_was_asked_for(client: httpx.Client) -> None:
    assert "usage" not in ask(client, stream=True).text
    assert "usage" in ask(client, stream=True, stream_options={"include_usage": True}).text


def test_a_held_stream_goes_on_when_it_is_released(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(hold(say("a", "b"), 1))
    with client.stream(
        "POST",
        "chat/completions",
        json={"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]},
    ) as response:
        lines = response.iter_lines()
        assert '"a"' in next(lines)
        llm_process.wait_held()
        llm_process.release()
        assert any('"b"' in line for line in lines)
    assert llm_process.wait_ended(0)["ended"] == "done"


def test_a_release_before_the_hold_counts_as_well(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.release("early")
    llm_process.script(hold(say("a"), 0, "early"))
    assert answer(ask(client)) == "a"


def test_a_stream_that_a_reset_let_go_uses_up_no_later_release(
    client: httpx.Client, llm_process: FakeLLM
) -> None:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    llm_process.script(hold(say("a", "b"), 1))
    with client.stream("POST", "chat/completions", json=body) as response:
        llm_process.wait_held()
        llm_process.reset()
        assert '"b"' in response.read().decode()
    llm_process.script(hold(say("c"), 1))
    with client.stream("POST", "chat/completions", json=body) as response:
        llm_process.wait_held()
        llm_process.release()
        assert '"c"' in response.read().decode()


def test_a_client_that_leaves_is_seen(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(hold(say("a", "b"), 1))
    with client.stream(
        "POST",
        "chat/completions",
        json={"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]},
    ):
        llm_process.wait_held()
    assert llm_process.wait_ended(0)["ended"] == "left"


@pytest.mark.parametrize(("how", "error"), [("cut", httpx.RemoteProtocolError), ("reset", httpx.ReadError)])
def test_a_connection_can_be_cut_or_torn_down(
    how: str, error: type[Exception], client: httpx.Client, llm_process: FakeLLM
) -> None:
    llm_process.script(insert(cut(say("a", "b"), 1, how=how), 1, {"wait_ms": 20}))
    with pytest.raises(error):
        ask(client, stream=True)
    assert llm_process.wait_ended(0)["ended"] == how


def test_a_scripted_failure_has_its_status_headers_and_words(
    client: httpx.Client, llm_process: FakeLLM
) -> None:
    llm_process.script(fail(429, "slow down", code="rate_limit_exceeded", retry_after=7))
    response = ask(client)
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert response.json()["error"]["message"] == "slow down"


def test_a_malformed_request_is_refused_and_remembered(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(say("kept for a good request"))
    assert ask(client, "").status_code == 400
    assert llm_process.refusals() == ["messages[0].content must be text that is not empty"]
    assert answer(ask(client)) == "kept for a good request"


def test_only_known_keys_and_models_are_served(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.knows(models=["m"], keys=["k"])
    assert ask(client).status_code == 200
    assert ask(client, model="other").status_code == 404
    assert client.get("models").status_code == 401
    listed = client.get("models", headers={"authorization": "Bearer k"}).json()
    assert [one["id"] for one in listed["data"]] == ["m"]


def test_everything_that_came_in_is_kept_with_its_headers(client: httpx.Client, llm_process: FakeLLM) -> None:
    ask(client, "secret", temperature=0)
    (request,) = llm_process.requests(at_least=1)
    assert request["headers"]["authorization"] == "Bearer k"
    assert request["body"]["messages"] == [{"role": "user", "content": "secret"}]
    llm_process.reset()
    assert llm_process.requests() == []
