"""Bodies that are written anew where a server refused them, and what is remembered of that."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.anthropic_writer import AnthropicWriter
from app.engine.chat_writer import ChatWriter
from app.engine.messages import Image, Message, Origin, Reasoning, Text
from app.engine.ollama_writer import OllamaWriter
from app.engine.outline import Writer
from app.engine.pictures import load_nothing
from app.engine.provider import ModelRequest
from app.providers.anthropic_options import AnthropicOptions
from app.providers.bodies import MOST_REVISIONS, Bodies, Body, Options
from app.providers.chat_options import ChatOptions
from app.providers.classify import Symptom
from app.providers.dialects import Dialect
from app.providers.ollama import OllamaOptions
from tests.fakes.pictures import png
from tests.providers.answers import NOON, ask, said

pytestmark = pytest.mark.anyio

THOUGHT = Message(
    "assistant",
    (Reasoning("Hm", data={"field": "reasoning"}), Text("So.")),
    "m2",
    NOON,
    Origin("lab", "fake-model", "http://lab"),
)
REFUSAL = Symptom(400, "invalid_request_error", "thinking in messages.1 is not as it was")


class NoOptions:
    """Asks for nothing beyond the history."""

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        return body

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        return False


class Shy(NoOptions):
    """Asks with an option, and does without it once it was refused."""

    dropped = False

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        return body if self.dropped else {**body, "extra": 1}

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        gives_way, self.dropped = "extra" in sent and "extra" in symptom.message, True
        return gives_way


async def draft_of(here: Bodies, request: ModelRequest) -> bytes:
    return (await here.draft(request)).body


def bodies(options: NoOptions | None = None) -> Bodies:
    return Bodies("lab", "http://lab", ChatWriter(("reasoning",)), options or NoOptions(), load_nothing)


def thinks(body: bytes) -> bool:
    return b"Hm" in body


def conversation(session: str | None = "s", model: str = "fake-model") -> ModelRequest:
    return ask(said("Hello"), THOUGHT, said("And?", 3), session_id=session, model=model)


async def test_a_body_is_json_that_asks_for_a_stream() -> None:
    assert json.loads(await draft_of(bodies(), ask()))["stream"] is True


async def test_what_a_session_had_to_do_without_stays_away_from_it_and_from_nobody_else() -> None:
    here = bodies()
    draft = await here.draft(conversation())
    assert thinks(draft.body)
    assert draft.revise(REFUSAL)
    assert (thinks(draft.body), draft.left_out) == (False, ["thinking"])
    later = await here.draft(conversation())
    assert (thinks(later.body), later.left_out) == (False, [])
    assert thinks(await draft_of(here, conversation("another")))


async def test_without_a_session_nothing_is_remembered() -> None:
    here = bodies()
    assert (await here.draft(conversation(None))).revise(REFUSAL)
    assert thinks(await draft_of(here, conversation(None)))


async def test_sessions_are_not_remembered_without_end() -> None:
    here = bodies()
    assert (await here.draft(conversation())).revise(REFUSAL)
    for number in range(20):
        await here.draft(conversation(f"s{number}"))
    assert thinks(await draft_of(here, conversation()))


async def test_a_model_that_cannot_see_is_told_of_pictures_and_one_that_can_is_shown_them() -> None:
    picture = Image(media_type="image/png", data=base64.b64encode(png()).decode())
    look = Message("user", (Text("Look"), picture), "m1", NOON)
    here = bodies()
    for sees in (True, False, True):
        body = await draft_of(here, replace(ask(look, session_id="s"), sees_pictures=sees))
        assert (b"image_url" in body, b"cannot be shown" in body) == (sees, not sees)


async def test_a_picture_is_loaded_once_and_never_on_the_loop() -> None:
    threads: list[int] = []

    def load(ref: str) -> tuple[str, bytes]:
        threads.append(threading.get_ident())
        return "image/png", png()

    here = Bodies("lab", "http://lab", ChatWriter(), NoOptions(), load)
    for _ in range(2):
        body = await draft_of(here, ask(Message("user", (Image("a"),), "m1", NOON), session_id="s"))
        assert b"image_url" in body
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_a_step_that_changes_nothing_is_passed_over() -> None:
    draft = await bodies().draft(ask(session_id="s"))
    assert draft.revise(Symptom(400, "", "Invalid value for 'content' in messages[0]"))
    assert draft.left_out == ["all_but_text"]
    assert not draft.revise(Symptom(400, "", "Invalid value for 'content' in messages[0]"))


async def test_an_option_gives_way_before_the_history_does() -> None:
    draft = await bodies(Shy()).draft(conversation())
    assert draft.revise(Symptom(400, "", "extra is unknown; so is thinking in messages.1"))
    assert ("extra" in json.loads(draft.body), thinks(draft.body), draft.left_out) == (False, True, [])


WORDS = (
    "input length and `max_tokens` exceed context limit: {} + 32000 > 200000",
    "max_tokens: 32000 > {}, which is the maximum",
    "cache_control: Extra inputs are not permitted",
    "Use max_completion_tokens in place of max_tokens",
    "stream_options, prompt_cache_key and tool_choice are not supported",
    "thinking in messages.{} is not as it was",
    "invalid messages",
)
COMPLAINTS = st.builds(
    lambda status, words, number: Symptom(status, "invalid_request_error", words.format(number)),
    st.sampled_from([400, 422, 500]),
    st.sampled_from(WORDS),
    st.integers(0, 200_000),
)


@pytest.mark.parametrize(
    ("writer", "options"),
    [
        (AnthropicWriter, AnthropicOptions),
        (ChatWriter, partial(ChatOptions, Dialect(cache_field="prompt_cache_key"))),
        (OllamaWriter, partial(OllamaOptions, 8_192)),
    ],
)
@given(complaints=st.lists(COMPLAINTS, min_size=30, max_size=30))
@settings(max_examples=60, deadline=None)
async def test_a_server_that_complains_without_end_is_not_asked_without_end(
    writer: Callable[[], Writer], options: Callable[[], Options], complaints: list[Symptom]
) -> None:
    draft = await Bodies("lab", "http://lab", writer(), options(), load_nothing).draft(conversation())
    seen = {draft.body}
    for symptom in complaints:
        if not draft.revise(symptom):
            break
        assert draft.body not in seen
        seen.add(draft.body)
    assert len(seen) <= MOST_REVISIONS + 1


@pytest.mark.parametrize(
    ("writer", "options", "words"),
    [
        (AnthropicWriter(), AnthropicOptions(), "max_tokens: 32000 > 8192, which is the maximum"),
        (AnthropicWriter(), AnthropicOptions(), "cache_control: Extra inputs are not permitted"),
        (ChatWriter(), ChatOptions(Dialect()), "stream_options is unknown"),
        (ChatWriter(), ChatOptions(Dialect()), "Use max_completion_tokens in place of max_tokens"),
    ],
)
async def test_conversations_that_are_refused_the_same_option_at_once_all_go_on(
    writer: Writer, options: Options, words: str
) -> None:
    here = Bodies("lab", "http://lab", writer, options, load_nothing)
    drafts = [
        await here.draft(replace(conversation(name), max_output_tokens=32_000)) for name in ("one", "two")
    ]
    assert all(draft.revise(Symptom(400, "", words)) for draft in drafts)


@pytest.mark.parametrize(
    "symptom",
    [
        Symptom(401, "", "thinking in messages.1"),
        Symptom(429, "", "thinking in messages.1"),
        Symptom(500, "", "thinking in messages.1"),
        Symptom(400, "insufficient_quota", "thinking in messages.1"),
        Symptom(400, "", "frame_rate must be a number"),
        Symptom(None, "", "thinking in messages.1"),
    ],
)
async def test_a_refusal_of_another_kind_is_no_reason_to_send_less(symptom: Symptom) -> None:
    draft = await bodies().draft(conversation())
    before = draft.body
    assert not draft.revise(symptom)
    assert draft.body == before
