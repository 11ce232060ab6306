"""The fake model server: what it answers, and that a test can steer it without waiting."""

from __future__ import annotations

import json
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


VERSION = {"anthropic-version": "2023-06-01", "x-api-key": "k"}


def ask_anthropic(client: httpx.Client, **fields: Any) -> httpx.Response:
    tool = {"name": "f", "description": "", "input_schema": {"type": "object"}}
    body = {"model": "m", "max_tokens": 5, "tools": [tool], "messages": [{"role": "user", "content": "Hi"}]}
    return client.post("messages", json={**body, **fields}, headers=VERSION)


def ask_ollama(client: httpx.Client, **fields: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **fields}
    return client.post(str(client.base_url.copy_with(path="/api/chat")), json=body)


RICH = say(
    "Let me ",
    "see.",
    reasoning=["Hm, ", "yes"],
    calls=[call("f", {"x": 1}, id="c", pieces=3)],
    usage={"input": 4, "output": 2},
)


def test_anthropics_events_come_in_their_order_and_the_same_whole(
    client: httpx.Client, llm_process: FakeLLM
) -> None:
    llm_process.script(RICH, RICH)
    streamed = ask_anthropic(client, stream=True)
    events = [json.loads(line[6:]) for line in streamed.text.splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events if event["type"] != "content_block_delta"] == [
        "message_start",
        "ping",
        *["content_block_start", "content_block_stop"] * 3,
        "message_delta",
        "message_stop",
    ]
    deltas = [event["delta"]["type"] for event in events if event["type"] == "content_block_delta"]
    assert deltas == [
        *["thinking_delta"] * 2,
        "signature_delta",
        *["text_delta"] * 2,
        *["input_json_delta"] * 4,
    ]
    message = ask_anthropic(client).json()
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["content"][2] == {"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("tool_use", 2)


def test_anthropics_thinking_that_was_changed_is_refused(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(say("So.", reasoning=["Hm"]))
    content = ask_anthropic(client).json()["content"]
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}]
    asked = [*history, {"role": "user", "content": "And?"}]
    assert ask_anthropic(client, messages=asked).status_code == 200
    content[0]["thinking"] += "!"
    refused = ask_anthropic(client, messages=asked)
    assert refused.status_code == 400
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert "signature" in refused.json()["error"]["message"]


def test_anthropics_version_is_asked_for_and_its_list_has_its_shape(
    client: httpx.Client, llm_process: FakeLLM
) -> None:
    assert client.post("messages", json={}).status_code == 400
    assert client.get("models", headers=VERSION).json()["data"][0]["type"] == "model"
    assert llm_process.requests()[1]["key"] == "k"


def test_ollama_streams_lines_and_its_calls_come_whole(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.script(RICH, RICH)
    streamed = ask_ollama(client)
    lines = [json.loads(line) for line in streamed.text.splitlines()]
    assert streamed.headers["content-type"] == "application/x-ndjson"
    assert [line["done"] for line in lines] == [False] * 5 + [True]
    assert [line["message"].get("thinking") for line in lines[:2]] == ["Hm, ", "yes"]
    (made,) = lines[4]["message"]["tool_calls"]
    assert made == {"id": "c", "function": {"index": 0, "name": "f", "arguments": {"x": 1}}}
    assert (lines[5]["done_reason"], lines[5]["prompt_eval_count"], lines[5]["eval_count"]) == ("stop", 4, 2)
    whole = ask_ollama(client, stream=False).json()
    assert (whole["message"]["content"], whole["message"]["tool_calls"]) == ("Let me see.", [made])


def test_each_dialect_refuses_and_fails_in_its_own_shape(client: httpx.Client, llm_process: FakeLLM) -> None:
    assert "max_tokens" in ask_anthropic(client, max_tokens=0).json()["error"]["message"]
    assert ask_ollama(client, messages=[]).json() == {"error": "messages must be a list that is not empty"}
    llm_process.script(*[fail(529, "Overloaded", type="overloaded_error")] * 2)
    assert ask_anthropic(client).json()["error"] == {"type": "overloaded_error", "message": "Overloaded"}
    assert ask_ollama(client).json() == {"error": "Overloaded"}


def test_an_error_stands_inside_each_stream_in_its_own_shape(
    client: httpx.Client, llm_process: FakeLLM
) -> None:
    broken = {"steps": [{"text": "a"}, {"error": {"message": "Overloaded", "type": "overloaded_error"}}]}
    llm_process.script(broken, broken)
    assert ask_anthropic(client, stream=True).text.splitlines()[-3].startswith("event: error")
    assert json.loads(ask_ollama(client).text.splitlines()[-1]) == {"error": "Overloaded"}


def test_without_a_script_each_dialect_repeats_what_was_said(client: httpx.Client) -> None:
    assert ask_anthropic(client).json()["content"] == [{"type": "text", "text": "You said: Hi."}]
    assert ask_ollama(client, stream=False).json()["message"]["content"] == "You said: Hi."
    tags = client.get(str(client.base_url.copy_with(path="/api/tags"))).json()
    assert [model["name"] for model in tags["models"]] == ["fake-model"]


STATES = {
    "sk-good": "good",
    "sk-bad": "bad",
    "sk-broke": "broke",
    "sk-limited": "limited",
    "sk-patient": "limited:7",
    "sk-expired": "expired",
}


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/v1/chat/completions", [200, 401, 429, 429, 429, 402, 401]),
        ("/v1/messages", [200, 401, 400, 429, 429, 403, 401]),
        ("/api/chat", [200, 401, 402, 429, 429, 403, 401]),
        ("/v1/models", [200, 401, 200, 200, 200, 402, 401]),
    ],
)
def test_each_key_has_the_state_that_it_was_given(
    client: httpx.Client, llm_process: FakeLLM, path: str, statuses: list[int]
) -> None:
    llm_process.knows(keys=STATES)
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    body |= {"max_tokens": 9} if path == "/v1/messages" else {}
    method = "GET" if path.endswith("models") else "POST"
    url = llm_process.url + path
    answers = [
        client.request(
            method,
            url,
            json=body if method == "POST" else None,
            headers={
                "authorization": f"Bearer {key}",
                **({"anthropic-version": "1"} if "messages" in path else {}),
            },
        )
        for key in (*STATES, "sk-unknown")
    ]
    assert [one.status_code for one in answers] == statuses
    if method == "POST":
        assert [one.headers.get("retry-after") for one in answers] == [
            None,
            None,
            None,
            "20",
            "7",
            None,
            None,
        ]


def test_the_state_of_a_key_can_be_told_anew(client: httpx.Client, llm_process: FakeLLM) -> None:
    llm_process.knows(keys={"k": "broke"})
    assert ask(client).status_code == 429
    llm_process.knows(keys={"k": "good"})
    assert ask(client).status_code == 200
